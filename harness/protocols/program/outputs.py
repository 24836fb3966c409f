"""What a command made: read as numbers where it is JSON or CSV, and compared."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from harness.errors import CheckFailed
from harness.results import compared

IDENTICAL, EQUAL = "identical", "equal to 1e-9"
MOST_READ = 2**22  # bytes of an output that is read as numbers


class Output(msgspec.Struct, omit_defaults=True):
    """An output: its content where it is JSON (a CSV file: rows), else the SHA-256 of its bytes."""

    name: str
    content: Any = None
    sha256: str = ""


def read_output(name: str, data: bytes) -> Output:
    """Return an output as results.json holds it."""
    content = _content(name, data) if len(data) <= MOST_READ else None
    if content is None:
        return Output(name, sha256=hashlib.sha256(data).hexdigest())
    return Output(name, content)


def compare(path: Path, name: str, data: bytes) -> str:
    """Return how an output that was made again compares with the file that is kept of it.

    Raises CheckFailed with the first difference where it is another, or there is none.
    """
    if not path.is_file():
        raise CheckFailed(f"{path}: there is no such output to compare with. Restore the file.")
    kept = path.read_bytes()
    if kept == data:
        return IDENTICAL
    then, now = _content(name, kept), _content(name, data)
    if then is None or now is None:
        raise CheckFailed(f"outputs: {name} is different: {_first_byte(kept, data)}")
    first = compared({name: then}, {name: now}).first
    if first is not None and not first.close:
        raise CheckFailed(f"outputs: {name} is different: {first.words}")
    return EQUAL


def _first_byte(kept: bytes, data: bytes) -> str:
    place = next(
        (n for n, (old, new) in enumerate(zip(kept, data, strict=False)) if old != new),
        min(len(kept), len(data)),
    )
    old, new = kept[place : place + 40], data[place : place + 40]
    line = kept.count(b"\n", 0, place) + 1
    return f"line {line}: recorded {old!r}, now {new!r}"


def _content(name: str, data: bytes) -> Any:
    """Return the content of JSON, of JSON lines, or of CSV; None for anything else."""
    try:
        text = data.decode()
        if name.endswith(".json"):
            return json.loads(text, parse_constant=_refuse)
        if name.endswith(".jsonl"):
            return [json.loads(line, parse_constant=_refuse) for line in text.splitlines()]
        if name.endswith(".csv"):
            return [[_number(field) for field in row] for row in csv.reader(io.StringIO(text))]
    except (ValueError, RecursionError, csv.Error):
        return None
    return None


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def _number(field: str) -> str | float:
    try:
        number = float(field)
    except ValueError:
        return field
    return number if math.isfinite(number) and "_" not in field else field


def numbers(content: Any, place: str = "") -> list[tuple[str, float]]:
    """Return the numbers of a JSON document's objects, with their places; lists are left out."""
    if isinstance(content, bool):
        return []
    if isinstance(content, (int, float)):
        return [(place, float(content))]
    if not isinstance(content, dict):
        return []
    return [
        pair
        for key, entry in content.items()
        for pair in numbers(entry, f"{place}.{key}" if place else str(key))
    ]
