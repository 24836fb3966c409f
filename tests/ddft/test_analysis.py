"""The analysis of a study: in any order, with anything missing, and what it takes."""

import json
import math
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import synthetic

from harness.errors import UsageError
from harness.protocols.ddft.analysis import predictions
from harness.protocols.ddft.analysis.analyze import analyze
from harness.protocols.ddft.analysis.correlates import Correlate, family
from harness.protocols.ddft.analysis.profiles import degradation, failure_mode
from harness.protocols.ddft.analysis.resamples import Resamples
from harness.protocols.ddft.analysis.schema import Analysis, Facts
from harness.protocols.ddft.metrics.scoring import score_study
from harness.results import CellResult, Score, Turn, Value, canonical

REPO = [
    ("grok-4-fast", 0.459, 0.838, 314, 0),
    ("mistral-medium", 0.455, 0.825, 45, 0),
    ("gpt-oss-120b", 0.441, 0.856, 120, 1),
    ("phi-4", 0.437, 0.843, 14, 0),
    ("o4-mini", 0.420, 0.900, 14, 1),
    ("llama-4", 0.401, 0.890, 17, 0),
    ("o3", 0.389, 0.950, 25, 1),
    ("claude-haiku", 0.368, 0.965, 8, 1),
    ("gpt-5", 0.363, 0.983, 175, 1),
]
CI: dict[str, float | None] = {name: ci for name, ci, *_ in REPO}
SMALL = [(subjects, concepts) for subjects in (1, 2, 3, 4) for concepts in (1, 3)]


def nodes(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    yield where, value
    inner = dict(enumerate(value)) if isinstance(value, list) else value
    for key, part in inner.items() if isinstance(inner, dict) else ():
        yield from nodes(part, f"{where}.{key}")


def check_honest(analysis: Analysis) -> None:
    """Every float is finite, and every null value, p or bound says why."""
    plain = msgspec.to_builtins(analysis)
    for where, node in nodes(plain):
        assert not isinstance(node, tuple), where  # results.canonical rounds lists
        assert not isinstance(node, float) or math.isfinite(node), where
        if isinstance(node, dict) and "reason" in node:
            empty = None in (node.get("value", 0), node.get("low", 0))
            assert not empty or node["reason"], where
    json.loads(canonical(analysis))
    assert msgspec.convert(json.loads(canonical(analysis)), Analysis).arm == "paper"


def repo_column(place: int, method: str) -> Correlate:
    values = {str(row[0]): float(row[place]) for row in REPO}
    return Correlate("column", method, "family", "with more", values)


def test_the_public_table_gives_its_turn_4_correlation() -> None:
    """The author's nine CI and turn-4 FAR: rho -0.950, and 128 of 362,880 orders as extreme."""
    found = family([repo_column(2, "spearman")], CI, Resamples(42))[0]
    assert found.coefficient.value == pytest.approx(-0.950, abs=5e-4)
    assert (found.exact.count, found.exact.total) == (128, 362880)
    assert found.holm.value == found.exact.p.value
    assert found.direction == "negative: subjects with more have lower CI"


def test_the_public_table_gives_its_reasoning_correlation_and_interval() -> None:
    """Reasoning with CI: r -0.609, p 0.082, interval about [-0.938, -0.040]."""
    found = family([repo_column(4, "point-biserial")], CI, Resamples(42))[0]
    assert found.coefficient.value == pytest.approx(-0.609, abs=2e-3)  # of rounded CI
    assert found.p.value == pytest.approx(0.082, abs=2e-3)
    interval = found.bootstrap.interval
    assert interval.low == pytest.approx(-0.938, abs=0.01)
    assert interval.high == pytest.approx(-0.040, abs=0.02)


def test_the_public_table_does_not_give_its_size_correlation() -> None:
    """Size with CI: r +0.316, p 0.407, where -0.110 is printed."""
    column = repo_column(3, "pearson")
    logs = {name: math.log10(size) for name, size in column.values.items() if size}
    found = family([column._replace(values=logs)], CI, Resamples(42))[0]
    assert found.coefficient.value == pytest.approx(0.316, abs=5e-4)
    assert found.p.value == pytest.approx(0.407, abs=5e-4)


def test_holm_counts_the_five_turns() -> None:
    """Table 4's turn 4 (rho -0.817, exact p 0.01077) has 0.054 within its family of five."""
    order = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    turn_4 = [8, 9, 7, 6, 5, 1, 2, 3, 4]
    assert sum((a - b) ** 2 for a, b in zip(order, turn_4, strict=True)) == 218
    others = [[6, 9, 5, 7, 8, 2, 1, 3, 4], [1, 9, 2, 8, 3, 7, 4, 6, 5], [5, 1, 9, 2, 8, 3, 7, 4, 6]]
    names = [str(n) for n in order]
    ci: dict[str, float | None] = dict(zip(names, map(float, order), strict=True))
    ranks = [turn_4, *others, [2, 1, 4, 3, 9, 8, 7, 6, 5], [1] * 9]
    columns = [
        Correlate(str(place), "spearman", "turns", "", dict(zip(names, map(float, r), strict=True)))
        for place, r in enumerate(ranks)
    ]
    found = family(columns, ci, Resamples(42, 50))
    assert found[0].coefficient.value == pytest.approx(-0.817, abs=5e-4)
    assert found[0].holm.value == pytest.approx(0.054, abs=5e-4)
    assert found[5].coefficient.reason == found[5].holm.reason == "x is constant"


@pytest.mark.parametrize("repeats", [1, 2])
def test_no_order_changes_a_byte(repeats: int) -> None:
    """Cells, turns, judges, subjects, facts and domains in any order give the same JSON."""
    made = synthetic.study(5, 3, repeats=repeats, arms=("paper", "hedged"), missing=0.1)
    shuffle = random.Random(5)

    def mixed(cell: CellResult) -> CellResult:
        turns = [
            msgspec.structs.replace(turn, scores=dict(shuffle.sample(list(turn.scores.items()), 3)))
            for turn in shuffle.sample(cell.turns, 5)
        ]
        usage = dict(reversed(cell.usage.items()))
        return msgspec.structs.replace(cell, turns=turns, usage=usage)

    subjects = score_study("made", 1, made.cells, made.planned, made.rules).subjects
    other = analyze(
        [mixed(cell) for cell in shuffle.sample(made.cells, len(made.cells))],
        shuffle.sample(subjects, len(subjects)),
        made.rules,
        dict(reversed(made.facts.items())),
        dict(reversed(made.domains.items())),
        42,
    )
    assert canonical(other) == canonical(made.analysis())


def test_the_seed_decides_the_intervals_and_nothing_else() -> None:
    """Another seed gives other bounds and the same coefficients."""
    made = synthetic.study(5, 2)
    one, other = made.analysis(1), made.analysis(2)
    assert one.correlations.turns[0].coefficient == other.correlations.turns[0].coefficient
    assert one.grand_means[0].over_subjects.se != other.grand_means[0].over_subjects.se
    assert canonical(one) == canonical(made.analysis(1))


@pytest.mark.parametrize(("subjects", "concepts"), SMALL)
@pytest.mark.parametrize("missing", [0.0, 0.3, 1.0])
def test_whatever_is_undefined_says_why(subjects: int, concepts: int, missing: float) -> None:
    """From one subject to four, from all scores to none: no NaN, no null without a reason."""
    check_honest(synthetic.study(subjects, concepts, missing=missing).analysis())


@pytest.mark.parametrize("judges", [0, 1, 2])
def test_small_juries_are_analysed(judges: int) -> None:
    """One judge agrees with nobody, and no judge at all is no error."""
    analysis = synthetic.study(4, 2, judges=judges).analysis()
    check_honest(analysis)
    assert len(analysis.jury.left_out) == judges
    if judges == 1:
        alone = analysis.jury.left_out[0]
        assert {subject.phenotype for subject in alone.subjects} == {None}
        assert analysis.jury.scales[0].kappas[0].mean.reason == "fewer than two judges"


def test_no_cells_are_no_error() -> None:
    """A study of nothing has an analysis of nothing."""
    check_honest(analyze([], [], synthetic.RULES, {}, {}, 1))


def test_two_subjects_are_too_few_for_all_that_compares_subjects() -> None:
    """The bundled study: correlations, intervals over subjects and verdicts are undefined."""
    analysis = synthetic.study(2, 1).analysis()
    every = [*analysis.correlations.design, *analysis.correlations.turns]
    assert {c.coefficient.value for c in every} == {None}
    assert every[0].coefficient.reason == "1 subjects with both, at least 4 are needed"
    assert every[0].coefficient.n == 1  # the other's FAR' is empty
    assert analysis.correlations.turn_4_partial.coefficient.value is None
    assert all(p.verdict.startswith("undefined: ") for p in analysis.predictions)
    assert all(p.paper_verdict.startswith("undefined: ") for p in analysis.predictions)
    assert {s.tau.coefficient.value for s in analysis.stability} == {None}
    assert analysis.jury.scales[0].agreement.icc["ICC(A,1)"].value is not None
    assert [p.degradation for p in analysis.profiles] == ["degrader", "degrader"]


def test_an_incomplete_subject_is_left_out_listwise() -> None:
    """Its grid counts for the judges, not for what compares subjects; its profile says why."""
    made = synthetic.study(6, 2)
    cells = made.cells[1:]
    analysis = made._replace(cells=cells).analysis()
    check_honest(analysis)
    assert analysis.complete_subjects == Value(5.0, 6)
    assert analysis.correlations.turns[3].coefficient.n == 5
    assert analysis.profiles[0].far_fall.reason == "incomplete: 9 of 10 cells"
    assert analysis.profiles[0].probabilities["Robust"].reason == "incomplete: 9 of 10 cells"
    assert analysis.domains.pooled_turns.f.n == 5 * 10 * 5
    assert analysis.jury.scales[0].agreement.n == len(cells) * 5
    assert [s.subject for s in analysis.jury.left_out[0].subjects] == [
        f"subject-{i}" for i in range(1, 6)
    ]


def test_a_judge_that_never_scores_is_seen() -> None:
    """Its validity is 0, leaving it out changes nothing, leaving others out does."""
    made = synthetic.study(4, 2)
    silent = Score(None, None, "empty", 2)
    cells = [
        msgspec.structs.replace(
            cell,
            turns=[
                synthetic.one_turn(turn.turn, {**turn.scores, "judge-2": silent})
                for turn in cell.turns
            ],
        )
        for cell in made.cells
    ]
    found = made._replace(cells=cells).analysis().jury
    assert [each.ok.value for each in found.validity] == [1.0, 1.0, 0.0]
    assert found.validity[2].states == {"empty": 4 * 2 * 5 * 5}
    assert found.validity[2].asks.value == 2
    assert found.scales[0].agreement.n_complete == 0
    assert found.left_out[2].changed == Value(0.0, 4)
    check_honest(made._replace(cells=cells).analysis())


def test_leaving_a_judge_out_is_scoring_without_it() -> None:
    """The CI without a judge is that of the same study recorded with a jury of the others."""
    made = synthetic.study(4, 2)
    fewer = [
        msgspec.structs.replace(
            cell,
            turns=[
                synthetic.one_turn(t.turn, {n: s for n, s in t.scores.items() if n != "judge-1"})
                for t in cell.turns
            ],
        )
        for cell in made.cells
    ]
    scored = score_study("made", 1, fewer, made.planned, made.rules).subjects
    left_out = made.analysis().jury.left_out[1]
    assert left_out.without == "judge-1"
    assert [s.ci_raw for s in left_out.subjects] == [s.ci_raw for s in scored]


def test_only_the_papers_arm_enters() -> None:
    """Other arms change nothing but their own block and the calls made."""
    both = synthetic.study(4, 2, arms=("paper", "hedged"))
    alone = both._replace(cells=[c for c in both.cells if c.cell.arm == "paper"])
    one, other = both.analysis(), alone.analysis()
    assert one.usage["judge-0"].calls == 2 * other.usage["judge-0"].calls
    assert [(a.arm, a.difference.n) for a in one.arms] == [("hedged", 4)]
    other.arms, other.usage = one.arms, one.usage
    assert canonical(one) == canonical(other)


def test_an_arm_is_compared_by_turn_4_over_the_cells_held_in_both() -> None:
    """The difference is the mean over pairs of cells, and names how many there are."""
    made = synthetic.study(4, 2, arms=("paper", "hedged"))
    cells = [
        c for c in made.cells if not (c.cell.arm == "hedged" and c.cell.concept == "concept-1")
    ]
    found = made._replace(cells=cells).analysis().arms[0].subjects[0]
    far = {
        (c.cell.arm, c.cell.level): c.turns[3].far or 0
        for c in cells
        if c.cell.subject == "subject-0" and c.cell.concept == "concept-0"
    }
    levels = synthetic.LEVELS
    expected = [far["hedged", level] - far["paper", level] for level in levels]
    assert found.difference.n == 5
    assert found.difference.value == pytest.approx(math.fsum(expected) / 5)


def test_repeats_are_compared_with_each_other() -> None:
    """Two repeats have an ICC and a mean difference; one repeat has neither, and says so."""
    twice = synthetic.study(4, 2, repeats=2).analysis().retest[0]
    assert twice.icc.n == 4 * 2 * 5 * 5
    assert 0 < (twice.mean_difference.value or 0) < 0.5
    once = synthetic.study(4, 2).analysis().retest[0]
    assert once.icc == Value(None, 0, "no repeats")


def test_turn_5_is_informative_where_turn_4_was_believed() -> None:
    """The share counts sessions with turn-4 FAR below 0.5, the mean is of turn 5 over them."""
    made = synthetic.study(4, 2)
    believed = [c for c in made.cells if (c.turns[3].far or 0) < 0.5]
    found = made.analysis().follow_up
    assert found.informative == Value(len(believed) / 40, 40)
    later = [c.turns[4].far or 0 for c in believed]
    assert found.far == Value(math.fsum(later) / len(later), len(later))


def test_families_are_compared_on_the_same_items() -> None:
    """Own-family scores are those of judges named in same_family, the difference is paired."""
    found = synthetic.study(4, 2).analysis().jury.families[0]
    assert (found.own.n, found.others.n, found.difference.n) == (50, 550, 50)
    nobody = synthetic.study(4, 2)
    for cell in nobody.cells:
        cell.same_family = []
    reason = "no score by a judge of the subject's family"
    assert nobody.analysis().jury.families[0].own.reason == reason


@pytest.mark.parametrize(
    ("far", "sas", "label", "mode"),
    [
        (0.0499, 0.3, "stabilizer", "no collapse"),
        (0.3 - 0.25, 0.0, "degrader", "selective verifier collapse"),
        (0.4, 0.05, "degrader", "coupled collapse"),
        (-0.2, 0.0, "stabilizer", "no collapse"),
        (None, 0.1, None, None),
    ],
)
def test_degradation_and_failure_have_bounds(
    far: float | None, sas: float, label: str | None, mode: str | None
) -> None:
    """A fall of 0.05, up to rounding, is one; classes follow from the falls alone."""
    fall = Value(far, 2, "why")
    assert degradation(fall) == label
    assert failure_mode(fall, Value(sas, 2)) == mode


def test_coarse_levels_are_compared_where_they_are_there() -> None:
    """Three levels against all needs 0, 0.5, 1 and another."""
    five = synthetic.study(5, 4).analysis().stability[-1]
    assert five.tau.coefficient.n == 5
    for levels in ((0.0, 0.5, 1.0), (0.0, 0.25, 1.0)):
        found = synthetic.study(5, 2, levels=levels).analysis().stability[-1]
        assert found.tau.coefficient.value is None
        assert "levels 0, 0.5, 1" in (found.tau.coefficient.reason or "")


def test_a_verdict_follows_its_sign() -> None:
    """A strong negative turn-4 coefficient is no support, though the paper's rule takes it so."""
    found = family([repo_column(2, "spearman")], CI, Resamples(42, 100))[0]
    negative = predictions._bottleneck(found)
    assert (negative.verdict, negative.paper_verdict) == ("not supported", "supported")
    mirrored = {name: 1 - (ci or 0) for name, ci in CI.items()}
    found = family([repo_column(2, "spearman")], mirrored, Resamples(42, 100))[0]
    assert predictions._bottleneck(found).verdict == "supported"


def test_facts_of_others_and_missing_facts_are_no_matter() -> None:
    """A subject without facts is left out of what needs them; strangers are not looked at."""
    made = synthetic.study(6, 2)
    facts = {**made.facts, "stranger": Facts(1.0, True, {"other": 1.0}), "subject-0": Facts()}
    found = made._replace(facts=facts).analysis().correlations
    assert [c.coefficient.n for c in found.design] == [5, 5]
    assert [c.name for c in found.outside] == ["mmlu"]


def test_a_concept_without_a_domain_is_named() -> None:
    """The error says which, and where domains are named."""
    made = synthetic.study(2, 2)
    with pytest.raises(UsageError, match="concept-0"):
        made._replace(domains={"concept-1": "x"}).analysis()


def test_nothing_that_went_in_is_changed() -> None:
    """Cells and subjects are as they were after an analysis."""
    made = synthetic.study(4, 2)
    before = msgspec.json.encode(made.cells)
    made.analysis()
    assert msgspec.json.encode(made.cells) == before


def test_turn_variance_is_of_its_evaluations() -> None:
    """Each turn's variance has ddof 1, and its ratio is to turn 1's."""
    cells = synthetic.study(1, 1, levels=(0.0, 0.5, 1.0)).cells

    def turns(fars: tuple[float, ...]) -> list[Turn]:
        scores = [{"j": Score(far, 0.9, "ok", 1)} for far in fars]
        return [synthetic.one_turn(n, score) for n, score in enumerate(scores, 1)]

    rows = [(0.6, 0.5, 0.5, 0.2, 0.5), (0.7, 0.5, 0.5, 0.5, 0.5), (0.8, 0.5, 0.5, 0.8, 0.5)]
    cells = [
        msgspec.structs.replace(cell, turns=turns(row))
        for cell, row in zip(cells, rows, strict=True)
    ]
    made = synthetic.Made(cells, synthetic.RULES, {}, {"concept-0": "logic"}, 3)
    found = made.analysis().turns
    assert found[0].far_variance.value == pytest.approx(0.01)
    assert found[3].ratio_to_turn_1.value == pytest.approx(9.0)
