"""How sure a subject's mean at a level is: whole concepts resampled, as for the grand means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.protocols.ddft.analysis.evaluations import SCALES, evaluations, grouped
from harness.protocols.ddft.analysis.resamples import Resamples
from harness.protocols.ddft.metrics.formulas import mean
from harness.results import CellResult, Interval

UNEVEN = "scores are missing, and concepts count unlike"


class LevelMean(NamedTuple):
    """Which mean an interval is around: a subject's, at a level, on the scale "far" or "sas"."""

    subject: str
    level: float
    scale: str


def level_intervals(cells: Sequence[CellResult], seed: int) -> Mapping[LevelMean, Interval]:
    """Return the interval around the mean of every subject at every level, on both scales.

    Percentiles of the mean over resampled concepts; undefined below four concepts, and where
    concepts have unlike numbers of scores, since the mean is one over all scores.
    """
    resamples = Resamples(seed)
    turns = evaluations(cells)
    return {
        LevelMean(subject, level, scale): _interval(concepts, resamples)
        for scale in SCALES
        for (subject, level), concepts in _by_concept(
            [((turn.subject, turn.level, turn.concept), turn.score(scale)) for turn in turns]
        ).items()
    }


def _by_concept(
    scores: Sequence[tuple[tuple[str, float, str], float | None]],
) -> dict[tuple[str, float], list[list[float]]]:
    """Return the scores of each subject at each level, concept by concept in their order."""
    concepts: dict[tuple[str, float], list[list[float]]] = {}
    for (subject, level, _), numbers in sorted(grouped(scores).items()):
        concepts.setdefault((subject, level), []).append(numbers)
    return concepts


def _interval(concepts: Sequence[Sequence[float]], resamples: Resamples) -> Interval:
    if len({len(scores) for scores in concepts}) > 1:
        return Interval(None, None, reason=UNEVEN)
    means = [number for scores in concepts if (number := mean(scores)) is not None]
    return resamples.mean(means, "concepts").interval
