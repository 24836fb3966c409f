"""The ranking under every combination of rules."""

import itertools

import pytest
import synthetic

from harness.protocols.ddft.analysis.multiverse import multiverse, ranked
from harness.protocols.ddft.metrics.scoring import score_study
from harness.results import SubjectMetrics, Value


def subjects_of(made: synthetic.Made) -> list[SubjectMetrics]:
    return score_study("made", 1, made.cells, made.planned, made.rules).subjects


def test_every_combination_stands_there_once() -> None:
    """Three normalizations, two empty rules, two HOC rules, two thetas: 24 rows, all different."""
    found = multiverse(subjects_of(synthetic.study(3, 2)), synthetic.RULES)
    rules = [(r.normalization, r.empty_far_prime, r.hoc_rule, r.theta) for r in found.rows]
    wanted = itertools.product(
        ("clip", "max", "minmax"), ("undefined", "zero"), ("max", "onset"), (0.7, 0.8)
    )
    assert rules == list(wanted)


def test_a_theta_of_the_study_is_among_them() -> None:
    """The study's own rules are always one of the combinations."""
    rules = synthetic.RULES._replace(theta=0.75)
    found = multiverse(subjects_of(synthetic.study(3, 2, rules=rules)), rules)
    assert {row.theta for row in found.rows} == {0.7, 0.75, 0.8}
    assert found.same_ranking.value


@pytest.mark.parametrize("normalization", ["clip", "max", "minmax"])
@pytest.mark.parametrize("empty", ["undefined", "zero"])
@pytest.mark.parametrize("hoc", ["max", "onset"])
@pytest.mark.parametrize("theta", [0.7, 0.8])
def test_a_row_is_what_scoring_under_its_rules_gives(
    normalization: str, empty: str, hoc: str, theta: float
) -> None:
    """CI recomputed from the metrics equals CI scored from the cells under the same rules."""
    made = synthetic.study(5, 2)
    rules = made.rules._replace(
        normalization=normalization, empty_far_prime=empty, hoc_rule=hoc, theta=theta
    )
    scored = subjects_of(made._replace(rules=rules))
    row = next(
        row
        for row in multiverse(subjects_of(made), made.rules).rows
        if (row.normalization, row.empty_far_prime, row.hoc_rule, row.theta)
        == (normalization, empty, hoc, theta)
    )
    assert [place.ci for place in row.ranking] == [subject.ci for subject in scored]


def test_equal_subjects_share_the_better_rank() -> None:
    """Clipping makes ties: both are first, the next is third, an undefined CI has no rank."""
    values = [Value(1.0, 1), Value(1.0 + 1e-12, 1), Value(0.2, 1), Value(None, 0, "empty FAR'")]
    named = list(zip("abcd", values, strict=True))
    assert [place.rank for place in ranked(named)] == [1, 1, 3, None]


def test_shares_count_shared_first_places() -> None:
    """A subject's share is over all combinations; without any CI it is undefined."""
    made = synthetic.study(4, 2)
    cells = [c for c in made.cells if c.cell.subject != "subject-0" or c.cell.level < 1]
    found = multiverse(subjects_of(made._replace(cells=cells)), made.rules)
    assert found.first["subject-0"] == Value(None, 24, "no CI under any combination")
    for name in ("subject-1", "subject-2", "subject-3"):
        wins = sum(p.rank == 1 for row in found.rows for p in row.ranking if p.subject == name)
        assert found.first[name] == Value(wins / 24, 24)


def test_the_order_of_the_subjects_changes_nothing() -> None:
    """Rows and shares are in the order of names."""
    subjects = subjects_of(synthetic.study(5, 2))
    assert multiverse(subjects[::-1], synthetic.RULES) == multiverse(subjects, synthetic.RULES)


def test_without_any_ci_nothing_is_the_same() -> None:
    """Where the study's rules give no CI, no ranking equals theirs."""
    made = synthetic.study(2, 1)
    found = multiverse(subjects_of(made._replace(planned=99)), made.rules)
    assert found.same_ranking.value is None
    assert found.same_ranking.reason == "no subject has a CI under the study's own rules"
    assert multiverse([], made.rules).first == {}
