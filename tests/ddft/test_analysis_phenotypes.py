"""The phenotype bootstrap computes, many times at once, what the metrics compute."""

import itertools
import math

import numpy as np
import pytest
import synthetic

from harness.protocols.ddft.analysis import phenotypes
from harness.protocols.ddft.analysis.evaluations import Evaluation, evaluations, grouped
from harness.protocols.ddft.analysis.resamples import Resamples, of_replicates
from harness.protocols.ddft.metrics import formulas as metrics
from harness.protocols.ddft.metrics.formulas import mean
from harness.protocols.ddft.metrics.scoring import MetricRules, score_study
from harness.results import Value

RULES = [
    synthetic.RULES._replace(hoc_rule=hoc, empty_far_prime=empty, aggregation=aggregation)
    for hoc, empty, aggregation in itertools.product(
        ("max", "onset"), ("undefined", "zero"), ("pooled", "by_concept")
    )
]
RULES.append(
    synthetic.RULES._replace(incoherent_below=0.7, factual_above=0.4, empty_far_prime="zero")
)


def by_hand(rows: list[Evaluation], rules: MetricRules) -> float:
    """Compute raw CI of responses, some drawn more than once, with the metric functions."""
    curves: list[list[tuple[float, float | None]]] = []
    for scale in ("far", "sas"):
        if rules.aggregation == "pooled":
            levels = grouped((e.level, e.score(scale)) for e in rows)
        else:
            parts = grouped(((e.level, e.concept), e.score(scale)) for e in rows)
            levels = grouped((key[0], mean(numbers)) for key, numbers in parts.items())
        curves.append([(level, mean(numbers)) for level, numbers in levels.items()])
    pairs = [(e.far, e.sas) for e in rows if e.far is not None and e.sas is not None]
    value = metrics.ci_raw(
        metrics.hoc(curves[0], rules.theta, rules.hoc_rule),
        metrics.cri(curves[1]),
        metrics.far_prime(pairs, rules.empty_far_prime, rules.incoherent_below),
        metrics.sas_prime(pairs, rules.factual_above),
    ).value
    return math.nan if value is None else value


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_every_block_once_is_the_study_itself(rules: MetricRules) -> None:
    """The resample that draws each block once gives the CI that scoring gives."""
    made = synthetic.study(4, 3, repeats=2, missing=0.2, rules=rules)
    blocks = phenotypes.blocked(evaluations(made.cells), rules)
    found = phenotypes.replicates(blocks, rules, np.arange(15)[None, :])[0]
    scored = score_study("made", 1, made.cells, made.planned, rules).subjects
    expected = [math.nan if s.ci_raw.value is None else s.ci_raw.value for s in scored]
    assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_a_resample_is_its_responses_scored(rules: MetricRules) -> None:
    """Blocks drawn twice count twice, and levels that lost every score are skipped."""
    made = synthetic.study(3, 2, missing=0.5, rules=rules)
    rows = evaluations(made.cells)
    indices = np.random.default_rng(3).integers(0, 10, size=(20, 10))
    found = phenotypes.replicates(phenotypes.blocked(rows, rules), rules, indices)
    order = [(f"concept-{j}", turn) for j in range(2) for turn in range(1, 6)]
    for drawn, row in zip(indices, found, strict=True):
        for place in range(3):
            chosen = [
                e
                for block in drawn
                for e in rows
                if (e.concept, e.turn) == order[block] and e.subject == f"subject-{place}"
            ]
            assert row[place] == pytest.approx(by_hand(chosen, rules), nan_ok=True)


def test_the_sums_are_exact() -> None:
    """Adding up in whole numbers gives the very same sums, so no way of adding gives others."""
    blocks = phenotypes.blocked(evaluations(synthetic.study(2, 8).cells), synthetic.RULES)
    weights = np.random.default_rng(1).integers(0, 4, size=(5, 40))
    found = phenotypes._weighed(weights.astype(np.float64), blocks.far.total)
    whole = (blocks.far.total * phenotypes.GRAIN).reshape(2, 40, 5).astype(np.int64)
    expected = np.einsum("rb,sbl->rsl", weights, whole)
    assert (found * phenotypes.GRAIN == expected).all()


@pytest.mark.parametrize("rule", ["clip", "max", "minmax"])
def test_normalization_inside_a_resample_is_the_metrics(rule: str) -> None:
    """Each row is normalized as the subjects of a study are."""
    rows = np.array([[2.0, 0.5, np.nan], [0.0, 0.0, 0.0], [np.nan] * 3, [0.3, 0.3, 0.1]])
    found = phenotypes.normalized(rows, rule)
    for row, normal in zip(rows, found, strict=True):
        values = [Value(None if math.isnan(x) else float(x), 1, "") for x in row]
        expected = [value.value for value in metrics.normalized(values, rule)]
        as_nan = [math.nan if value is None else value for value in expected]
        assert normal == pytest.approx(as_nan, nan_ok=True)


def test_probabilities_are_of_all_resamples() -> None:
    """The four shares add up to 1; the label is most probable for a subject far from a bound."""
    made = synthetic.study(5, 4)
    found = phenotypes.phenotypes(evaluations(made.cells), made.rules, Resamples(1, 500))
    for uncertainty in found.values():
        shares = [value.value for value in uncertainty.probabilities.values()]
        assert math.fsum(share or 0 for share in shares) == pytest.approx(1)
        assert {value.n for value in uncertainty.probabilities.values()} == {500}
        undefined = uncertainty.probabilities["undefined"].value
        assert uncertainty.ci_raw.dropped == round((undefined or 0) * 500)


def test_an_interval_needs_nearly_all_resamples() -> None:
    """With more undefined than a 95% interval leaves outside, it is null and says how many."""
    values = np.arange(100.0)
    values[:5] = np.nan
    assert of_replicates(values).interval.low == pytest.approx(np.percentile(values[5:], 2.5))
    values[5] = np.nan
    found = of_replicates(values)
    reason = "only 94 of 100 resamples give a number"
    assert (found.interval.low, found.interval.reason) == (None, reason)
    assert (found.se, found.dropped) == (Value(None, 94, reason), 6)


def test_too_few_blocks_give_no_probability() -> None:
    """Below four blocks nothing is resampled."""
    made = synthetic.study(1, 1)
    rows = [e for e in evaluations(made.cells) if e.turn < 4]
    found = phenotypes.phenotypes(rows, made.rules, Resamples(1, 50))["subject-0"]
    assert found.probabilities["Robust"].value is None
    assert found.ci_raw.interval.reason == "3 blocks of concept x turn, at least 4 are needed"
    assert phenotypes.phenotypes([], made.rules, Resamples(1, 50)) == {}
