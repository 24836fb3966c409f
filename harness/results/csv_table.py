"""A table for programs: every number with its n, its bounds and its reason as columns of their own.

A column "HOC" of values becomes hoc, hoc_n and hoc_reason; one of estimates has hoc_low and
hoc_high, too; one of shares has a count. What is null is empty, and `_reason` says why; where a
number is there, `_reason` says what has to be said of it, as on the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.results.shared import Interval, Share, Value
from harness.results.table import EstimatedValue, Noted, Table, TableCell, TableColumn

FIELDS = {
    Value: ("", "_n", "_reason"),
    Interval: ("_low", "_high", "_reason"),
    EstimatedValue: ("", "_n", "_low", "_high", "_reason"),
    Share: ("", "_count", "_n", "_reason"),
}
_word = re.compile(r"[^a-z0-9]+")
_possessive = re.compile(r"'(?=s\b)")


def csv_rows(table: Table) -> list[list[object]]:
    """Return a table's rows as CSV has them, the names of the columns first.

    Raises TypeError where two columns have one name: that is a fault of the program.
    """
    header = [f"{key_of(column)}{field}" for column in table.columns for field in _fields(column)]
    if len(set(header)) != len(header):
        raise TypeError(f"{table.title}: two columns of a CSV have one name: {', '.join(header)}")
    return [[*header], *(_row(table.columns, row) for row in table.rows)]


def key_of(column: TableColumn) -> str:
    """Return a column's name for programs."""
    return column.key or slug(column.name, "_")


def slug(name: str, separator: str) -> str:
    """Return a name in small letters and digits, the words apart by a separator."""
    name = _possessive.sub("", name.lower()).replace("'", " prime")
    return _word.sub(separator, name).strip(separator)


def _fields(column: TableColumn) -> Sequence[str]:
    return FIELDS.get(column.kind, ("",))


def _row(columns: Sequence[TableColumn], row: Sequence[TableCell]) -> list[object]:
    return [
        entry for column, cell in zip(columns, row, strict=True) for entry in _entries(column, cell)
    ]


def _entries(column: TableColumn, cell: TableCell) -> list[object]:
    if cell is None:
        return [""] * len(_fields(column))
    note = cell.note if isinstance(cell, Noted) else ""
    plain = cell.cell if isinstance(cell, Noted) else cell
    if isinstance(plain, Value):
        plain = (
            EstimatedValue(plain, Interval(None, None)) if column.kind is EstimatedValue else plain
        )
    by_field = _by_field(plain)
    by_field["_reason"] = by_field.get("_reason") or note
    return [by_field[field] for field in _fields(column)]


def _by_field(
    cell: Value | Interval | EstimatedValue | Share | int | float | str,
) -> dict[str, object]:
    if isinstance(cell, Value):
        return {"": _number(cell.value), "_n": cell.n, "_reason": cell.reason or ""}
    if isinstance(cell, Interval):
        low, high = _number(cell.low), _number(cell.high)
        return {"_low": low, "_high": high, "_reason": cell.reason or ""}
    if isinstance(cell, Share):
        return {**_by_field(cell.share), "_count": cell.count}
    if isinstance(cell, EstimatedValue):
        reason = cell.value.reason or cell.interval.reason or cell.meaning
        return {**_by_field(cell.interval), **_by_field(cell.value), "_reason": reason}
    return {"": _number(cell) if isinstance(cell, float) else cell}


def _number(number: float | None) -> object:
    """Return a number with 12 significant digits, as results.json has them."""
    return "" if number is None else float(f"{number:.12g}")
