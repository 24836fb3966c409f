"""How certain the agreement of the judges is: intervals of alpha and ICC, clustered by subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.protocols.ddft.analysis.evaluations import SCALES
from harness.protocols.ddft.analysis.panel import panel
from harness.protocols.ddft.analysis.reliability import rated
from harness.protocols.ddft.analysis.schema_inference import AgreementIntervals
from harness.results import CellResult, Interval, Phrasings, Turn
from harness.stats.agreement import Scores, clustered_intervals
from harness.stats.fewest import too_few


def agreement_intervals(
    cells: Sequence[CellResult], one_model: Sequence[Phrasings], version: int
) -> list[AgreementIntervals]:
    """Return the intervals of every agreement that reliability.jury describes, by its heading."""
    judges = sorted({name for cell in cells for turn in cell.turns for name in turn.scores})
    chosen = panel(judges, one_model, version)
    raters = {group.words: {judge: [judge] for judge in group.judges} for group in chosen.groups}
    of_jury = {chosen.heading: chosen.raters}
    return [
        _intervals(cells, heading, of_heading, scale, chosen.reason)
        if heading == chosen.heading
        else _intervals(cells, heading, of_heading, scale)
        for heading, of_heading in {**raters, **of_jury}.items()
        for scale in SCALES
    ]


def _intervals(
    cells: Sequence[CellResult],
    heading: str,
    raters: Mapping[str, Sequence[str]],
    scale: str,
    reason: str | None = None,
) -> AgreementIntervals:
    turns: dict[str, list[Turn]] = {}
    for cell in cells:
        turns.setdefault(cell.cell.subject, []).extend(cell.turns)
    clusters: list[Scores] = [
        [[rated(turn, judges, scale) for judges in raters.values()] for turn in of_subject]
        for _, of_subject in sorted(turns.items())
    ]
    found = clustered_intervals(clusters)
    if reason := reason or too_few(len(clusters)):
        found = {name: Interval(None, None, reason=reason) for name in found}
    judges = sorted({judge for group in raters.values() for judge in group})
    every = [turn for of_subject in turns.values() for turn in of_subject]
    return AgreementIntervals(
        heading=heading,
        scale=scale,
        alpha=found.pop("alpha"),
        icc=found,
        constant=_constant(every, judges, scale),
    )


def _constant(turns: Sequence[Turn], judges: Sequence[str], scale: str) -> dict[str, float]:
    """Return the one score of each judge that gave the same to two answers or more."""
    found = {}
    for judge in judges:
        scores = [rated(turn, [judge], scale) for turn in turns]
        present = [score for score in scores if score is not None]
        if len(present) > 1 and len(set(present)) == 1:
            found[judge] = present[0]
    return found
