"""A study's metrics one by one, each with what it means."""

from __future__ import annotations

from harness.protocols.depthcharge.metrics.uncertainty import BATCHES, RESAMPLES
from harness.results import DrillResults, RunMetrics
from harness.results.scored import Metric, Scored, Spread

TWO_WAY = (
    "cluster bootstrap over branches, percentiles widened for their number, and for facts that "
    "several questions share"
)


def scoreboard(found: DrillResults) -> list[Scored]:
    """Return every run's metrics; EVD with its interval by branch and fact."""
    most = float(found.rules["max_depth"])
    return [scored for run in found.runs for scored in _of_run(run, most)]


def _of_run(run: RunMetrics, most: float) -> list[Scored]:
    listed = [
        (_evd(most), run.evd.value),
        (ACCURACY, run.accuracy),
        (FINAL, run.final_survival),
        (_depth("median_survival_depth", MEDIAN, most), run.median_survival_depth),
        (_depth("deepest_correct", DEEPEST, most), run.deepest_correct),
    ]
    spread = Spread(run.evd.two_way, run.evd.two_way_se, TWO_WAY, BATCHES * RESAMPLES)
    place = run.cell.domain if run.cell.repeat == 1 else f"{run.cell.domain}, run {run.cell.repeat}"
    return [
        Scored(run.cell.target, place, metric, value, spread if metric.name == "EVD" else None)
        for metric, value in listed
    ]


ACCURACY = Metric(
    "depthcharge.accuracy", "accuracy", "share of right answers over all depths", "proportion"
)
FINAL = Metric(
    "depthcharge.final_survival", "final S", "S(d) at the depth the run ended at", "proportion"
)
MEDIAN = "first depth with S(d) <= 0.5"
DEEPEST = "greatest depth with a right answer"


def _evd(most: float) -> Metric:
    what = "expected valid depth: the sum of S(d) over the administered depths"
    return Metric("depthcharge.evd", "EVD", what, "depths", high=most)


def _depth(name: str, description: str, most: float) -> Metric:
    return Metric(f"depthcharge.{name}", name.replace("_", " "), description, "depths", high=most)
