"""The question-level data of a study: one row a probe, for a CSV that anyone can analyse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.results import Probe, RunResult


class Row(NamedTuple):
    """One probe and its place; None is what was not asked, or has no usable verdict."""

    target: str
    domain: str
    repeat: int
    depth: int
    question: int
    deal: int
    path: int
    branch: int
    walked: int
    state: str
    source: str | None
    answer_state: str | None
    verdict: str | None
    correct: bool | None
    confidence: float | None
    error_type: str | None
    reason: str | None
    origin: str | None
    fact: str | None
    form: str | None


HEADER = Row._fields


def rows(cells: Sequence[RunResult]) -> Iterator[Row]:
    """Return the probes of every run, sorted by run, depth, question and deal."""
    for cell in sorted(cells, key=lambda cell: cell.cell):
        for probe in sorted(cell.probes, key=_place):
            place = (cell.cell.target, cell.cell.domain, cell.cell.repeat)
            yield Row(*place, *(getattr(probe, field) for field in Probe.__struct_fields__))


def _place(probe: Probe) -> tuple[int, int, int]:
    return probe.depth, probe.question, probe.deal
