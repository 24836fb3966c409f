"""What missing judgements could change: every one of them 0, or 1, on either scale.

Those of a missing answer are among them, as many as its jury has judges.

The worst and the best case of Manski (Partial Identification of Probability Distributions, 2003,
chapter 1): no assumption about why a judgement is missing, so the bounds are wide and hold always.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from harness.protocols.ddft.dialogue.jury import consensus
from harness.protocols.ddft.metrics.formulas import mean_value
from harness.protocols.ddft.metrics.scoring import MetricRules, subject_metrics
from harness.results import CellResult, Score, SubjectMetrics, Turn, Value

ENDS = (0.0, 1.0)
CI_RANGE = "CI raw (range over the corners)"
CORNERS = tuple(itertools.product(ENDS, ENDS))


class Bounded(NamedTuple):
    """A subject's number as found, and its least and greatest value over the four corners.

    Of CI_RANGE these are no bounds: see below.
    """

    subject: str
    arm: str
    measure: str
    found: Value
    low: Value
    high: Value


def bounds(cells: Sequence[CellResult], planned: int, rules: MetricRules) -> list[Bounded]:
    """Bound the numbers of every subject that has missing judgements.

    Mean FAR and SAS, HOC, CRI and danger zone move one way with each score: these are bounds. CI
    does not, so what is given for it is its range over the four corners only (all missing FAR 0 or
    1, all missing SAS 0 or 1). Where a corner is undefined (no level passes), the low end is.
    """
    lacking = {cell.cell.subject for cell in cells if any(map(_lacks, cell.turns))}
    mine = [cell for cell in cells if cell.cell.subject in lacking]
    found = _measures(mine, planned, rules)
    corners = [
        _measures([filled(cell, far, sas) for cell in mine], planned, rules) for far, sas in CORNERS
    ]
    return [
        Bounded(*key, value, *_ends([corner[key] for corner in corners]))
        for key, value in found.items()
    ]


def filled(cell: CellResult, far: float, sas: float) -> CellResult:
    """Return a cell with every missing score in place, the jury's means computed anew."""
    return msgspec.structs.replace(cell, turns=[_filled(turn, far, sas) for turn in cell.turns])


def _filled(turn: Turn, far: float, sas: float) -> Turn:
    scores = {name: _with(score, far, sas) for name, score in turn.scores.items()}
    n_judges, mean_far, mean_sas = consensus(list(scores.values()))
    return msgspec.structs.replace(
        turn, scores=scores, n_judges=n_judges, far=mean_far, sas=mean_sas
    )


def _with(score: Score, far: float, sas: float) -> Score:
    return msgspec.structs.replace(
        score,
        far=far if score.far is None else score.far,
        sas=sas if score.sas is None else score.sas,
    )


def _lacks(turn: Turn) -> bool:
    return any(score.far is None or score.sas is None for score in turn.scores.values())


def _measures(
    cells: Sequence[CellResult], planned: int, rules: MetricRules
) -> dict[tuple[str, str, str], Value]:
    """Return every number that is bounded, by subject, arm and name."""
    found: dict[tuple[str, str, str], Value] = {}
    for part in subject_metrics(cells, planned, rules):
        here = [c for c in cells if (c.cell.subject, c.cell.arm) == (part.subject, part.arm)]
        for name, value in _of_subject(part, [turn for cell in here for turn in cell.turns]):
            found[part.subject, part.arm, name] = value
    return found


def _of_subject(part: SubjectMetrics, turns: Sequence[Turn]) -> list[tuple[str, Value]]:
    fars = [turn.far for turn in turns if turn.far is not None]
    sass = [turn.sas for turn in turns if turn.sas is not None]
    return [
        ("mean FAR", mean_value(fars, "no judgement")),
        ("mean SAS", mean_value(sass, "no judgement")),
        ("HOC", part.hoc),
        ("CRI", part.cri),
        ("danger zone", part.danger_zone),
        (CI_RANGE, part.ci_raw),
    ]


def _ends(corners: Sequence[Value]) -> tuple[Value, Value]:
    known = [(corner.value, corner) for corner in corners if corner.value is not None]
    low = next((corner for corner in corners if corner.value is None), None)
    if not known:
        return corners[0], corners[0]
    least, greatest = min(known, key=_first)[1], max(known, key=_first)[1]
    return low or least, greatest


def _first(pair: tuple[float, Value]) -> float:
    return pair[0]
