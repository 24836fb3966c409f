"""A table of numbers: made once, where they come from, and shown on terminal, page and in CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.results.shared import Interval, Share, Value


class EstimatedValue(NamedTuple):
    """A value with its interval.

    mark: stands behind the number for people, as in "4.250+"; meaning: what it says, for programs.
    """

    value: Value
    interval: Interval
    mark: str = ""
    meaning: str = ""


class Noted(NamedTuple):
    """A cell that something has to be said of, though it is defined."""

    cell: Interval | EstimatedValue
    note: str


TableCell = Value | Interval | EstimatedValue | Share | Noted | int | float | str | None
Kind = type[Value | Interval | EstimatedValue | Share | int | float | str]


class TableColumn(NamedTuple):
    """A column: its name for people, and what its cells are; None is a blank in any column.

    kind: the class of the cells; a column of estimates may hold a value without an interval.
    digits: decimal places for people. has_n: whether n is shown beside a value; not where another
    column shows it. in_percent: whether people see a value times 100. key: its name for programs,
    made from `name` where it is "".
    """

    name: str
    kind: Kind = str
    digits: int = 3
    has_n: bool = True
    in_percent: bool = False
    key: str = ""


@dataclass(frozen=True)
class Table:
    """A title, columns, and rows of as many cells.

    about: a sentence or two on what it shows. section: the slug of the page's section that it
    belongs to. is_folded: whether a page shows it only when it is opened. key: its name for
    programs, such as a file's, made from `title` where it is "". empty: why there are no rows.
    has_findings_in_words: whether its rows are worth reading where no number in them is defined.
    """

    title: str
    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[TableCell]]
    about: str = ""
    section: str = "results"
    is_folded: bool = False
    key: str = ""
    empty: str = ""
    has_findings_in_words: bool = False

    def __post_init__(self) -> None:
        """Raise TypeError where a row does not fit the columns: that is a fault of the program."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise TypeError(f"{self.title}: {len(row)} cells, {len(self.columns)} columns")
            for column, cell in zip(self.columns, row, strict=True):
                if not _fits(column, cell):
                    raise TypeError(f"{self.title}, {column.name}: {cell!r} is no {column.kind}")


def _fits(column: TableColumn, cell: TableCell) -> bool:
    if isinstance(cell, Noted):
        cell = cell.cell
    if column.kind is EstimatedValue and isinstance(cell, Value):
        return True
    if column.kind is float and isinstance(cell, int):
        return True
    return cell is None or isinstance(cell, column.kind)


def columns(*names: str | TableColumn) -> list[TableColumn]:
    """Return columns; those given by name alone hold text."""
    return [TableColumn(name) if isinstance(name, str) else name for name in names]


def interval_note(interval: Interval, note: str) -> Interval | Noted:
    """Return an interval, with a note where it is defined and there is one."""
    return Noted(interval, note) if note and interval.low is not None else interval
