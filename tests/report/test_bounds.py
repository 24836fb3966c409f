"""What missing verdicts could change, and how sure a survival curve is: checked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import synthetic
from depthcharge.finished_runs import RULES, asked, counted, missing, run_of

from harness.protocols.ddft.metrics.bounds import bounds as of_dialogues
from harness.protocols.ddft.metrics.bounds import filled
from harness.protocols.depthcharge.metrics.bands import survival_band
from harness.protocols.depthcharge.metrics.bounds import BoundedRun
from harness.protocols.depthcharge.metrics.bounds import bounds as of_runs
from harness.protocols.depthcharge.metrics.scoring import run_metrics
from harness.results import CellKey, CellResult, Probe, RunKey, RunMetrics, Score, Value

RUN = RunKey("target", "Medicine")


def test_a_dialogue_s_bounds_by_hand() -> None:
    """One answer, two judges, one missing: the mean of 0.8 and nothing is between 0.4 and 0.9."""
    scores = {"a": Score(0.8, 0.6, "ok", 1), "b": Score(None, None, "prose", 2)}
    cell = CellResult(
        CellKey("s", "c", 0.0), 10, "interviewer", [synthetic.one_turn(1, scores)], {}, {}, []
    )
    bounds_by_measure = {bound.measure: bound for bound in of_dialogues([cell], 1, synthetic.RULES)}
    far, sas = bounds_by_measure["mean FAR"], bounds_by_measure["mean SAS"]
    assert (far.found.value, far.low.value, far.high.value) == (0.8, 0.4, 0.9)
    assert (sas.found.value, sas.low.value, sas.high.value) == (0.6, 0.3, 0.8)
    hoc = bounds_by_measure["HOC"]
    assert (hoc.found.value, hoc.low.reason, hoc.high.value) == (0.0, "no level passes", 0.0)
    assert (
        bounds_by_measure["danger zone"].high.value == 1.0
    )  # all missing FAR 0, all missing SAS 1


def test_dialogues_lie_between_their_bounds() -> None:
    """Whatever the missing scores are, a subject's means and danger zone are within the bounds."""
    study = synthetic.study(subjects=3, concepts=2, missing=0.2)
    bounds_by_place = {
        (bound.subject, bound.measure): bound
        for bound in of_dialogues(study.cells, study.planned, study.rules)
    }
    for far, sas in ((0.3, 0.9), (1.0, 0.0), (0.5, 0.5)):
        filled_cells = [filled(cell, far, sas) for cell in study.cells]
        for subject in {cell.cell.subject for cell in filled_cells}:
            turns = [t for cell in filled_cells if cell.cell.subject == subject for t in cell.turns]
            mean = math.fsum(turn.far or 0.0 for turn in turns) / len(turns)
            assert within(
                bounds_by_place[subject, "mean FAR"].low,
                mean,
                bounds_by_place[subject, "mean FAR"].high,
            )


def within(low: Value, number: float, high: Value) -> bool:
    assert low.value is not None
    assert high.value is not None
    return low.value - 1e-12 <= number <= high.value + 1e-12


def test_nothing_missing_has_no_bounds() -> None:
    """A study without a missing judgement, and a run without a missing verdict, have none."""
    study = synthetic.study(subjects=2, concepts=1)
    assert of_dialogues(study.cells, study.planned, study.rules) == []
    assert bounds_of(counted([30, 20])) == []


def test_a_run_s_bounds_by_hand() -> None:
    """Ten slots: 6 right, 2 wrong, 2 missing, then 4 right of 5: A(1) is 6/10 to 8/10."""
    probes = [asked(1, n, n, n <= 6) for n in range(1, 9)] + [missing(1, 9), missing(1, 10)]
    probes += [asked(2, n, n, n <= 4) for n in range(1, 6)]
    bounds_by_measure = {bound.measure: bound for bound in bounds_of(probes)}
    evd, accuracy = bounds_by_measure["EVD"], bounds_by_measure["accuracy"]
    assert evd.found.value == pytest.approx(0.75 + 0.75 * 0.8)
    assert evd.low.value == pytest.approx(0.6 + 0.6 * 0.8)
    assert evd.high.value == pytest.approx(0.8 + 0.8 * 0.8)
    assert (accuracy.low.value, accuracy.high.value) == (10 / 15, 12 / 15)
    assert (accuracy.found.n, accuracy.low.n) == (13, 15)


def test_wrong_answers_may_have_stopped_a_run_earlier() -> None:
    """Where the missing as wrong bring S below theta, the low end has no depth after that."""
    probes = [asked(1, 1, 1, True), *(missing(1, n) for n in range(2, 11))]
    probes += [asked(2, n, n, True) for n in range(1, 11)]
    bounds_by_measure = {bound.measure: bound for bound in bounds_of(probes)}
    assert bounds_by_measure["EVD"].low.value == pytest.approx(0.1)
    assert bounds_by_measure["EVD"].high.value == pytest.approx(2.0)


def test_a_band_is_the_branches_resampled() -> None:
    """It holds the curve, is as wide as the binomial of independent questions says, and repeats."""
    probes = counted([24, 18], 30)
    result, metrics = run_of(probes, RUN), metrics_of(probes)
    band = survival_band(result, metrics, 42)
    values = [depth.survival.value or 0.0 for depth in metrics.depths]
    assert band.reason is None
    assert all(
        low < value < high for low, value, high in zip(band.lows, values, band.highs, strict=True)
    )
    width = (band.highs[0] - band.lows[0]) / 2
    assert width == pytest.approx(2.05 * np.sqrt(0.8 * 0.2 / 30), rel=0.15)
    assert band == survival_band(result, metrics, 42)
    assert band != survival_band(result, metrics, 43)


@pytest.mark.parametrize(
    ("correct", "n", "reason"), [([3, 2], 3, "fewer than 4"), ([30], 30, "no two")]
)
def test_no_band_has_its_reason(correct: Sequence[int], n: int, reason: str) -> None:
    """Too few branches, or none that differ: no band, and why."""
    probes = counted(correct, n)
    band = survival_band(run_of(probes, RUN), metrics_of(probes), 42)
    assert (band.lows, band.highs) == ((), ())
    assert reason in (band.reason or "")


def bounds_of(probes: list[Probe]) -> list[BoundedRun]:
    return of_runs([metrics_of(probes)], RULES.theta)


def metrics_of(probes: list[Probe]) -> RunMetrics:
    return run_metrics(run_of(probes, RUN), RULES)
