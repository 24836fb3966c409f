"""A drill's words by the names of its calls, its scores, and the change of its EVD."""

from __future__ import annotations

from harness.protocols.depthcharge.analysis.comparisons import estimate
from harness.protocols.depthcharge.analysis.grid import Run
from harness.protocols.depthcharge.metrics import uncertainty
from harness.results import DrillResults, DrillTranscript, Interval, RunMetrics, RunResult


def words(said: DrillTranscript) -> dict[str, str]:
    """Return everything that was said in a drill, in its order."""
    found = {"aspects": "\n".join(said.branches)}
    for probe in said.probes:
        deal = "" if probe.deal == 1 else f"/deal-{probe.deal}"
        call = f"depth-{probe.depth:02d}/question-{probe.question:02d}{deal}"
        found |= {
            f"{call}/direction": probe.direction,
            f"{call}/passage": probe.passage.text,
            f"{call}/question": probe.asked,
            f"{call}/expected": probe.expected,
            f"{call}/target": probe.answer,
            f"{call}/evaluator": probe.verdict,
        }
    return found


def cell_scores(found: DrillResults) -> dict[str, dict[str, float | None]]:
    """Return each run's scores by its name."""
    return {
        run.cell.name: {"EVD": run.evd.value.value, "accuracy": run.accuracy.value}
        for run in found.runs
    }


def evd_interval(
    before: tuple[RunMetrics, RunResult], after: tuple[RunMetrics, RunResult]
) -> Interval:
    """Return the interval of the change of one run's EVD (after less before).

    By Student's t from the errors by branch of both: a drill goes where answers lead it, so the
    questions of two recordings are not the same and nothing is paired.
    """
    new, old = estimate([Run(*after)]), estimate([Run(*before)])
    if isinstance(new, str) or isinstance(old, str):
        return Interval(None, None, reason=new if isinstance(new, str) else str(old))
    return uncertainty.t_interval(uncertainty.difference(new, old))
