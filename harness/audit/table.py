"""The data that claims are checked against: rows of a CSV, or a study's results.json."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.audit.printed import FORM
from harness.errors import UsageError
from harness.results import Value, read_results

Row = dict[str, str]
Step = str | dict[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows of texts by column; an empty text is a hole.

    rounded: the columns whose numbers are printed ones. tree: the results they are from, if any.
    """

    source: str
    columns: Sequence[str]
    rows: Sequence[Row]
    rounded: Sequence[str] = ()
    tree: Any = None

    def has(self, column: str) -> None:
        """Raise UsageError where there is no such column."""
        if column not in self.columns:
            raise UsageError(
                f"there is no column {column!r} in {self.source}; it has {', '.join(self.columns)}"
            )

    def at(self, steps: Sequence[Step]) -> Value:
        """Give the value at a place of the results; a list's is its length."""
        found = self.tree
        for number, step in enumerate(steps):
            found = _inner(found, step)
            if found is None:
                raise UsageError(
                    f"there is nothing at {list(steps[: number + 1])} in {self.source}"
                )
        if isinstance(found, list):
            return Value(float(len(found)), len(found))
        if isinstance(found, dict) and {"value", "n"} <= found.keys():
            return Value(found["value"], found["n"], found.get("reason"))
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise UsageError(f"at {list(steps)} in {self.source} is no number but {found!r:.80}")
        return Value(float(found), 1)


def read_table(path: Path) -> Table:
    """Read a results.json, or else a CSV; raises UsageError where it is neither."""
    return _of_results(path) if path.suffix == ".json" else _of_csv(path)


def number(text: str) -> float | None:
    """Read a cell; None where it is no number."""
    found = FORM.fullmatch(text)
    return float(text) if found and not found[1] else None


def _of_csv(path: Path) -> Table:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error})") from error
    reader = csv.reader(io.StringIO(text, newline=""))
    lines = [(reader.line_num, [cell.strip() for cell in line]) for line in reader if line]
    if not lines:
        raise UsageError(f"{path}: is empty; expected a line of column names, then rows")
    header = lines[0][1]
    if len(set(header)) != len(header):
        raise UsageError(f"{path}: a column name stands twice: {', '.join(header)}")
    for number, line in lines:
        if len(line) != len(header):
            raise UsageError(f"{path}, line {number}: {len(line)} cells, not {len(header)}")
    return Table(path.name, header, [dict(zip(header, line, strict=True)) for _, line in lines[1:]])


def _of_results(path: Path) -> Table:
    """Give a study's results: a row a subject, or a run, its columns what is known of it."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    tree = read_results(path)
    known = tree if isinstance(tree, dict) else {}
    rows = [_row(entry) for entry in known.get("subjects") or known.get("runs") or []]
    return Table(path.name, list(rows[0]) if rows else [], rows, tree=tree)


def _row(entry: dict[str, Any]) -> Row:
    named = entry.get("cell", {}) | {name: cell for name, cell in entry.items() if name != "cell"}
    return {name: _text(cell) for name, cell in named.items()}


def _text(cell: Any) -> str:
    """Write a value, or the value inside it; nothing for null and for lists."""
    while isinstance(cell, dict):
        cell = cell.get("value")
    return "" if cell is None or isinstance(cell, list) else str(cell)


def _inner(found: Any, step: Step) -> Any:
    """Go a step down: to a key, or to the entry of a list that has these keys and values."""
    if isinstance(step, str):
        return found.get(step) if isinstance(found, dict) else None
    entries = found if isinstance(found, list) else []
    return next((entry for entry in entries if _has(entry, step)), None)


def _has(entry: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return bool(entry == wanted)
    known = entry if isinstance(entry, dict) else {}
    return all(_has(known.get(key), value) for key, value in wanted.items())
