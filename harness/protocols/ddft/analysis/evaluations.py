"""The turn evaluations of a study, laid flat, and cells with something left out of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from harness.protocols.ddft.dialogue.jury import consensus
from harness.protocols.ddft.metrics.scoring import MetricRules, subject_metrics
from harness.results import CellResult, SubjectMetrics, Turn

PAPER = "paper"
SCALES = ("far", "sas")

Key = TypeVar("Key", bound=Hashable)


class Evaluation(NamedTuple):
    """One judged turn: its place, and the jury's consensus on both scales."""

    subject: str
    concept: str
    level: float
    repeat: int
    turn: int
    far: float | None
    sas: float | None

    def score(self, scale: str) -> float | None:
        """Return the consensus on the scale "far" or "sas"."""
        return self.far if scale == "far" else self.sas


def sorted_cells(cells: Iterable[CellResult], arm: str) -> list[CellResult]:
    """Return the cells of one arm in the order of their keys."""
    return sorted((cell for cell in cells if cell.cell.arm == arm), key=lambda cell: cell.cell)


def evaluations(cells: Iterable[CellResult]) -> list[Evaluation]:
    """Return every turn of the cells, in their order."""
    return [
        Evaluation(
            cell.cell.subject,
            cell.cell.concept,
            cell.cell.level,
            cell.cell.repeat,
            turn.turn,
            turn.far,
            turn.sas,
        )
        for cell in cells
        for turn in sorted(cell.turns, key=lambda turn: turn.turn)
    ]


def grouped(pairs: Iterable[tuple[Key, float | None]]) -> dict[Key, list[float]]:
    """Collect the numbers of each key, without the missing ones; a key may be left with none."""
    groups: dict[Key, list[float]] = {}
    for key, number in pairs:
        group = groups.setdefault(key, [])
        if number is not None:
            group.append(number)
    return groups


def rescored(cells: Sequence[CellResult], rules: MetricRules) -> list[SubjectMetrics]:
    """Compute the metrics of complete subjects anew, from cells with something left out."""
    return subject_metrics(cells, 0, rules)


def without_judge(cells: Iterable[CellResult], judge: str) -> list[CellResult]:
    """Return the cells as if one judge had not been on the jury."""
    return [
        msgspec.structs.replace(cell, turns=[_without(turn, judge) for turn in cell.turns])
        for cell in cells
    ]


def _without(turn: Turn, judge: str) -> Turn:
    scores = {name: score for name, score in turn.scores.items() if name != judge}
    n_judges, far, sas = consensus(list(scores.values()))
    return msgspec.structs.replace(turn, scores=scores, n_judges=n_judges, far=far, sas=sas)


def without_turn(cells: Iterable[CellResult], number: int) -> list[CellResult]:
    """Return the cells without one turn."""
    return [
        msgspec.structs.replace(cell, turns=[turn for turn in cell.turns if turn.turn != number])
        for cell in cells
    ]
