"""The data that claims are checked against: rows of a CSV, or a study's results.json."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.audit.printed import FORM, MOST_DIGITS, figure
from harness.errors import DamagedFile, UsageError
from harness.results import Value, read_results

Row = dict[str, str]
Step = str | dict[str, Any]
EXPECTED = "a study's results.json (a table of your own is a CSV, whose name ends otherwise)"


@dataclass(frozen=True)
class Dataset:
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
        """Return the value at a place of the results; a list's is its length."""
        entry = self.tree
        for number, step in enumerate(steps):
            entry = _inner(entry, step)
            if entry is None:
                raise UsageError(
                    f"there is nothing at {list(steps[: number + 1])} in {self.source}"
                )
        if isinstance(entry, list):
            return Value(float(len(entry)), len(entry))
        if isinstance(entry, dict) and {"value", "n"} <= entry.keys():
            known, n, reason = entry["value"], entry["n"], entry.get("reason")
            return Value(None if known is None else self._number(known, steps), n, reason)
        return Value(self._number(entry, steps), 1)

    def _number(self, entry: Any, steps: Sequence[Step]) -> float:
        text = "" if isinstance(entry, bool) or not isinstance(entry, int | float) else repr(entry)
        value = number(text)
        if value is None:
            raise UsageError(
                f"at {list(steps)} in {self.source} is no number below 1e{MOST_DIGITS} but "
                f"{entry!r:.80}"
            )
        return value


def read_dataset(path: Path) -> Dataset:
    """Read a results.json, or else a CSV; raises UsageError where it is neither."""
    return _of_results(path) if path.suffix == ".json" else _of_csv(path)


def number(text: str) -> float | None:
    """Read a cell; None where it is no number, or out of the bounds of those that are printed."""
    if not FORM.fullmatch(text):
        return None
    try:
        return float(figure(text).value)
    except ValueError:
        return None


def _of_csv(path: Path) -> Dataset:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error})") from error
    lines = _lines(path, text)
    if not lines:
        raise UsageError(f"{path}: is empty; expected a line of column names, then rows")
    header = lines[0][1]
    if len(set(header)) != len(header):
        raise UsageError(f"{path}: a column name stands twice: {', '.join(header)}")
    for number, line in lines:
        if len(line) != len(header):
            raise UsageError(f"{path}, line {number}: {len(line)} cells, not {len(header)}")
    return Dataset(
        path.name, header, [dict(zip(header, line, strict=True)) for _, line in lines[1:]]
    )


def _lines(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """Yield the cells of each line that has any, with its number."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        return [(reader.line_num, [cell.strip() for cell in line]) for line in reader if line]
    except csv.Error as error:
        raise UsageError(
            f"{path}, line {reader.line_num}: {error}; expected short cells, parted by commas: "
            "is a quotation mark left open?"
        ) from error


def _of_results(path: Path) -> Dataset:
    """Return a study's results as rows: one of each subject or run, with its metrics as columns."""
    tree = _tree(path)
    results = tree if isinstance(tree, dict) else {}
    name = "subjects" if results.get("subjects") else "runs"
    entries = results.get(name) or []
    if not isinstance(entries, list):
        raise UsageError(f"{path}: {name}: expected a list of objects, got {entries!r:.80}")
    rows = [_row(entry, f"{path}: {name}[{place}]") for place, entry in enumerate(entries)]
    columns = dict.fromkeys(column for row in rows for column in row)
    filled = [{column: row.get(column, "") for column in columns} for row in rows]
    return Dataset(path.name, list(columns), filled, tree=tree)


def _tree(path: Path) -> Any:
    """Read JSON; only to a study's own results does the advice of read_results apply."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    try:
        return read_results(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error})") from error
    except DamagedFile as error:
        if path.with_name("study.toml").is_file():
            raise
        raise UsageError(
            f"{path}: is not JSON as we write it ({error.__cause__}); expected {EXPECTED}. "
            "Write it anew from where it came from, or mend it."
        ) from error


def _row(entry: Any, place: str) -> Row:
    cell = _object(_object(entry, place).get("cell", {}), f"{place}.cell")
    named = cell | {name: value for name, value in entry.items() if name != "cell"}
    return {name: _text(value) for name, value in named.items()}


def _object(entry: Any, place: str) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise UsageError(f"{place}: expected an object, as in {EXPECTED}; got {entry!r:.80}")
    return entry


def _text(cell: Any) -> str:
    """Write a value, or the value inside it; nothing for null and for lists."""
    while isinstance(cell, dict):
        cell = cell.get("value")
    return "" if cell is None or isinstance(cell, list) else str(cell)


def _inner(entry: Any, step: Step) -> Any:
    """Go a step down: to a key, or to the entry of a list that has these keys and values."""
    if isinstance(step, str):
        return entry.get(step) if isinstance(entry, dict) else None
    entries = entry if isinstance(entry, list) else []
    return next((entry for entry in entries if _has(entry, step)), None)


def _has(entry: Any, expected: Any) -> bool:
    if not isinstance(expected, dict):
        return bool(entry == expected)
    fields = entry if isinstance(entry, dict) else {}
    return all(_has(fields.get(key), value) for key, value in expected.items())
