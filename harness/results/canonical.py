"""Canonical JSON out, plain data in, and the first place where two results differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from reprlib import Repr
from typing import Any, NamedTuple

import msgspec

from harness.json_files import plain
from harness.results.growth import FORM, pattern

REL_TOL, ABS_TOL = 1e-9, 1e-12
RESTORE = "Restore it, or delete it and let `harness record` write it anew from the cassettes."
NameOfCell = Callable[[dict[str, object]], str]  # from its key as plain data; "" where it is none
NONE_NEW: frozenset[str] = frozenset()
_short = Repr()  # a damaged value may be of any size and depth
_short.maxstring = _short.maxother = _short.maxlong = 200


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT = _Absent()  # no value of a results file is this, whatever it says


class FirstDifference(NamedTuple):
    """The first place where two results differ, and whether by rounding only."""

    where: str
    recorded: object
    now: object
    close: bool

    @property
    def words(self) -> str:
        """Return place and both values as a message has them."""
        recorded, now = _short.repr(self.recorded), _short.repr(self.now)
        return f"{self.where}: recorded {recorded}, now {now}"


class Comparison(NamedTuple):
    """The first difference, if any, and how many values are there now that were not recorded."""

    first: FirstDifference | None
    more: int


def canonical(value: object) -> bytes:
    """Return the bytes of a results file: floats with 12 significant digits, LF, final newline."""
    plain = _rounded(msgspec.to_builtins(value))
    return msgspec.json.format(msgspec.json.encode(plain), indent=1) + b"\n"


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(inner) for inner in value]
    return value


def read_results(path: Path) -> Any:
    """Return a results file as plain data; raises DamagedFile where it is not sound JSON."""
    return plain(path, RESTORE)


def no_name(key: dict[str, object]) -> str:  # noqa: ARG001
    """Return that a cell has no name: its entry is called by its number."""
    return ""


def compared(
    recorded: object,
    now: object,
    *,
    newer: frozenset[str] = NONE_NEW,
    cell_name: NameOfCell = no_name,
) -> Comparison:
    """Compare recorded results with what is computed now, as plain data.

    newer: the fields that may be in `now` only, since they came after the form of what is recorded
    (growth.py). What was recorded and is gone or different is always a difference; a real one is
    named before one of rounding. cell_name: how a cell is called in the name of a difference.
    """
    first, newer_values = None, 0
    for difference in _differences(recorded, now, "", cell_name):
        if difference.recorded is ABSENT and pattern(difference.where) in newer:
            newer_values += 0 if difference.where in FORM else _values(difference.now)
        elif first is None or (first.close and not difference.close):
            first = difference
    return Comparison(first=first, more=newer_values)


def _values(value: object) -> int:
    if isinstance(value, dict):
        return sum(map(_values, value.values()))
    return sum(map(_values, value)) if isinstance(value, list) else 1


def _differences(
    recorded: object, now: object, where: str, cell_name: NameOfCell
) -> Iterator[FirstDifference]:
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in [*recorded, *(key for key in now if key not in recorded)]:
            place = f"{where}.{key}" if where else str(key)
            old, new = recorded.get(key, ABSENT), now.get(key, ABSENT)
            yield from _differences(old, new, place, cell_name)
    elif isinstance(recorded, list) and isinstance(now, list):
        for number, (old, new) in enumerate(zip(recorded, now, strict=False)):
            place = f"{where}[{_label(old, number, cell_name)}]"
            yield from _differences(old, new, place, cell_name)
        if len(recorded) != len(now):
            yield FirstDifference(f"{where} (length)", len(recorded), len(now), False)
    elif recorded != now or type(recorded) is not type(now):
        yield FirstDifference(where, recorded, now, _close(recorded, now))


def _label(entry: object, number: int, cell_name: NameOfCell) -> str:
    """Name an entry of a list by what it is about; by its number where that cannot be told."""
    if isinstance(entry, dict):
        for name in ("cell", "subject", "turn", "level", "depth"):
            if isinstance(entry.get(name), dict):
                return cell_name(entry[name]) or str(number)
            if isinstance(entry.get(name), (str, int, float)):
                return str(entry[name])[:200]
    return str(number)


def _close(old: object, new: object) -> bool:
    numbers = (int, float)
    if isinstance(old, bool) or not (isinstance(old, numbers) and isinstance(new, numbers)):
        return False
    return abs(old - new) <= max(ABS_TOL, REL_TOL * max(abs(old), abs(new)))
