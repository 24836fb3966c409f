"""The turn-level data of a study: one row a judgement, for a CSV that anyone can analyse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.results import CellResult, Turn


class Judgement(NamedTuple):
    """One judge's scores of one answer, its place, and the jury's consensus; None is missing."""

    subject: str
    concept: str
    domain: str | None
    level: float
    arm: str
    repeat: int
    turn: int
    judge: str
    far: float | None
    sas: float | None
    state: str
    asks: int
    question_source: str
    answer_state: str
    n_judges: int
    consensus_far: float | None
    consensus_sas: float | None


HEADER = Judgement._fields


def rows(
    cells: Sequence[CellResult], domains: Mapping[str, str] | None = None
) -> Iterator[Judgement]:
    """Return the judgements of every arm, sorted by cell, turn and judge; domain by concept."""
    for cell in sorted(cells, key=lambda cell: cell.cell):
        for turn in sorted(cell.turns, key=lambda turn: turn.turn):
            yield from _of_turn(cell, turn, (domains or {}).get(cell.cell.concept))


def _of_turn(cell: CellResult, turn: Turn, domain: str | None) -> Iterator[Judgement]:
    for judge, score in sorted(turn.scores.items()):
        yield Judgement(
            subject=cell.cell.subject,
            concept=cell.cell.concept,
            domain=domain,
            level=cell.cell.level,
            arm=cell.cell.arm,
            repeat=cell.cell.repeat,
            turn=turn.turn,
            judge=judge,
            far=score.far,
            sas=score.sas,
            state=score.state,
            asks=score.asks,
            question_source=turn.question_source,
            answer_state=turn.answer_state,
            n_judges=turn.n_judges,
            consensus_far=turn.far,
            consensus_sas=turn.sas,
        )
