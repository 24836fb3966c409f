"""A table in words: what a reader sees on a terminal, on a page, in Markdown.

What there is to say of a cell, such as why it is undefined, is numbered and said once below the
table. A column in which nothing is defined is named there, too, and not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.results.digits import UNDEFINED, between
from harness.results.shared import Interval, Share, Value
from harness.results.table import EstimatedValue, Noted, Table, TableCell, TableColumn

NO_ROWS = "None."
MOST_REASONS = 3  # that are named for a column in which nothing is defined


class TextColumn(NamedTuple):
    """A column's name in words, and whether it holds numbers."""

    name: str
    is_number: bool


class TextTable(NamedTuple):
    """A table whose cells are texts.

    notes: in the order of their numbers, from 1. undefined: what is not shown for want of a defined
    number, a sentence, or "". empty: what is said where there are no rows.
    """

    title: str
    columns: Sequence[TextColumn]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]
    about: str = ""
    is_folded: bool = False
    undefined: str = ""
    empty: str = NO_ROWS
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


class FilledColumn(NamedTuple):
    """A column of a table with its cells from top to bottom."""

    head: TableColumn
    cells: Sequence[TableCell]

    @property
    def reasons(self) -> list[str]:
        """Return why its cells are undefined, each reason once."""
        reasons = (_reason(cell) for cell in self.cells)
        return list(dict.fromkeys(reason for reason in reasons if reason is not None))

    @property
    def is_blank(self) -> bool:
        """Tell whether no cell has anything in it."""
        return all(cell is None for cell in self.cells)

    @property
    def is_undefined(self) -> bool:
        """Tell whether no cell is defined, for reasons that can be named at once."""
        has_number = any(cell is not None and _reason(cell) is None for cell in self.cells)
        return not has_number and 0 < len(self.reasons) <= MOST_REASONS

    @property
    def shared_n(self) -> int | None:
        """Return the n of all its numbers, where two or more have the same."""
        if not self.head.has_n:
            return None
        values = [value for cell in self.cells if (value := _value_of(cell))]
        sizes = [value.n for value in values if value.value is not None]
        return sizes[0] if len(sizes) > 1 and len(set(sizes)) == 1 else None


def text_table(table: Table) -> TextTable:
    """Return a table in words."""
    every = [
        FilledColumn(head, [row[place] for row in table.rows])
        for place, head in enumerate(table.columns)
    ]
    undefined = [column for column in every if column.is_undefined]
    visible = [column for column in every if not (column.is_blank or column.is_undefined)]
    has_numbers = any(column.head.kind is not str for column in visible)
    if not table.rows or (undefined and not has_numbers and not table.has_findings_in_words):
        visible = []
    notes = Notes()
    texts = [_texts(column, notes) for column in visible]
    return TextTable(
        title=table.title,
        columns=[_text_column(column) for column in visible],
        rows=list(zip(*texts, strict=True)),
        notes=notes.texts,
        about=table.about,
        is_folded=table.is_folded,
        undefined=_undefined(undefined, is_all=not visible),
        empty="" if undefined else table.empty or NO_ROWS,
    )


def _text_column(column: FilledColumn) -> TextColumn:
    n = column.shared_n
    name = column.head.name if n is None else f"{column.head.name} (n={n:,})"
    return TextColumn(name, column.head.kind is not str)


def _texts(column: FilledColumn, notes: Notes) -> list[str]:
    """Return a column's cells in words; n is left out where the column's name has it."""
    head = column.head
    if column.shared_n is not None:
        head = head._replace(has_n=False)
    return [cell_text(head, cell, notes) for cell in column.cells]


def _undefined(columns: Sequence[FilledColumn], *, is_all: bool) -> str:
    """Say which columns have nothing defined in them, and why."""
    if not columns:
        return ""
    names: dict[str, list[str]] = {}
    for column in columns:
        names.setdefault("; ".join(column.reasons), []).append(column.head.name)
    if is_all:
        reasons = dict.fromkeys(reason for column in columns for reason in column.reasons)
        return f"Nothing in this table is defined: {'; '.join(reasons)}."
    groups = [f"{', '.join(group)} ({reasons})" for reasons, group in names.items()]
    return f"Undefined, and not shown: {'; '.join(groups)}."


def _value_of(cell: TableCell) -> Value | None:
    plain = cell.cell if isinstance(cell, Noted) else cell
    if isinstance(plain, EstimatedValue):
        return plain.value
    return plain if isinstance(plain, Value) else None


def _reason(cell: TableCell) -> str | None:
    """Return why a cell is undefined; None where it is defined, or blank."""
    plain = cell.cell if isinstance(cell, Noted) else cell
    if isinstance(plain, Interval):
        return (plain.reason or UNDEFINED) if plain.low is None else None
    value = plain.share if isinstance(plain, Share) else _value_of(cell)
    if value is None or value.value is not None:
        return None
    return value.reason or UNDEFINED


def cell_text(column: TableColumn, cell: TableCell, notes: Notes) -> str:
    """Return a cell in words; what has to be said of it is added to the notes."""
    if cell is None:
        return ""
    if isinstance(cell, Noted):
        return f"{cell_text(column, cell.cell, notes)} {notes.mark(cell.note)}"
    return _TEXTS[type(cell)](column, cell, notes)


def _value(column: TableColumn, value: Value, notes: Notes, mark: str = "") -> str:
    if value.value is None:
        return f"{UNDEFINED} {notes.mark(value.reason)}"
    text = f"{_number(column, value.value)}{mark}"
    return f"{text} (n={value.n:,})" if column.has_n else text


def _number(column: TableColumn, number: float) -> str:
    return f"{number:.{column.digits}{'%' if column.in_percent else 'f'}}"


def _interval(column: TableColumn, interval: Interval, notes: Notes) -> str:
    return between(interval, column.digits) or f"{UNDEFINED} {notes.mark(interval.reason)}"


def _estimate(column: TableColumn, estimate: EstimatedValue, notes: Notes) -> str:
    text = _value(column, estimate.value, notes, estimate.mark)
    if estimate.value.value is None:
        return text
    interval = between(estimate.interval, column.digits)
    return f"{text} {interval or f'without interval {notes.mark(estimate.interval.reason)}'}"


def _share(column: TableColumn, share: Share, notes: Notes) -> str:
    if share.share.value is None:
        return f"{UNDEFINED} {notes.mark(share.share.reason)}"
    return f"{_number(column, share.share.value)} ({share.count:,} of {share.share.n:,})"


_TEXTS: Mapping[type, Callable[[TableColumn, Any, Notes], str]] = {
    Value: _value,
    Interval: _interval,
    EstimatedValue: _estimate,
    Share: _share,
    int: lambda _, count, __: f"{count:,}",
    float: lambda column, number, _: f"{round(number, column.digits):g}",
    str: lambda _, text, __: text,
}


def markdown(table: TextTable) -> str:
    """Return a table in words as Markdown, as GitHub and pandoc read it."""
    notes = [f"- [{number}] {note}" for number, note in enumerate(table.notes, 1)]
    grid = _grid(table) if table.rows else table.empty
    blocks = [f"### {table.title}", table.about, grid, table.undefined, "\n".join(notes)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _grid(table: TextTable) -> str:
    names = [column.name for column in table.columns]
    rule = ["---:" if column.is_number else "---" for column in table.columns]
    return "\n".join(f"| {' | '.join(map(_escaped, row))} |" for row in [names, rule, *table.rows])


def _escaped(text: str) -> str:
    """Return a text that stays within its cell."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())
