"""A table in words: what a reader sees on a terminal, on a page, in Markdown.

What there is to say of a cell, such as why it is null, is numbered and said once below the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.results.depthcharge import Share
from harness.results.digits import NULL, between
from harness.results.shared import Interval, Value
from harness.results.table import Cell, Column, Estimate, Noted, Table


class TextTable(NamedTuple):
    """A table whose cells are texts; notes: in the order of their numbers, from 1."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]
    about: str = ""
    is_folded: bool = False
    kind: str = "grid"


class Notes:
    """The notes of a table, each numbered and listed once."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def mark(self, note: str | None) -> str:
        """Return a note's number in brackets."""
        text = note or "no reason is given"
        if text not in self.texts:
            self.texts.append(text)
        return f"[{self.texts.index(text) + 1}]"


def text_table(table: Table) -> TextTable:
    """Return a table in words."""
    notes = Notes()
    rows = [
        [cell_text(column, cell, notes) for column, cell in zip(table.columns, row, strict=True)]
        for row in table.rows
    ]
    names = [column.name for column in table.columns]
    return TextTable(table.title, names, rows, notes.texts, table.about, table.is_folded)


def cell_text(column: Column, cell: Cell, notes: Notes) -> str:
    """Return a cell in words; what has to be said of it is added to the notes."""
    if cell is None:
        return ""
    if isinstance(cell, Noted):
        return f"{cell_text(column, cell.cell, notes)} {notes.mark(cell.note)}"
    return _TEXTS[type(cell)](column, cell, notes)


def _value(column: Column, value: Value, notes: Notes, mark: str = "") -> str:
    if value.value is None:
        return f"{NULL} {notes.mark(value.reason)}"
    shown = f"{value.value:.{column.digits}{'%' if column.in_percent else 'f'}}{mark}"
    return f"{shown} (n={value.n:,})" if column.has_n else shown


def _interval(column: Column, interval: Interval, notes: Notes) -> str:
    return between(interval, column.digits) or f"{NULL} {notes.mark(interval.reason)}"


def _estimate(column: Column, estimate: Estimate, notes: Notes) -> str:
    shown = _value(column, estimate.value, notes, estimate.mark)
    if estimate.value.value is None:
        return shown
    interval = between(estimate.interval, column.digits)
    return f"{shown} {interval or f'without interval {notes.mark(estimate.interval.reason)}'}"


def _share(column: Column, share: Share, notes: Notes) -> str:
    if share.share.value is None:
        return f"{NULL} {notes.mark(share.share.reason)}"
    return f"{share.share.value:.{column.digits}f} ({share.count:,} of {share.share.n:,})"


_TEXTS: Mapping[type, Callable[[Column, Any, Notes], str]] = {
    Value: _value,
    Interval: _interval,
    Estimate: _estimate,
    Share: _share,
    int: lambda _, count, __: f"{count:,}",
    float: lambda column, number, _: f"{round(number, column.digits):g}",
    str: lambda _, text, __: text,
}


def markdown(table: TextTable) -> str:
    """Return a table in words as Markdown, as GitHub and pandoc read it."""
    if not table.rows:
        return f"### {table.title}\n\n{table.about or 'None.'}\n"
    head = [table.columns, ["---"] * len(table.columns)]
    lines = [f"| {' | '.join(map(_escaped, row))} |" for row in [*head, *table.rows]]
    notes = [f"- [{number}] {note}" for number, note in enumerate(table.notes, 1)]
    blocks = [f"### {table.title}", table.about, "\n".join(lines), "\n".join(notes)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _escaped(text: str) -> str:
    """Return a text that stays within its cell."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())
