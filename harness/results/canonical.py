"""Canonical JSON out, plain data in, and the first place where two results differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from reprlib import Repr
from typing import Any, NamedTuple

import msgspec

from harness.json_files import plain
from harness.results.ddft import CellKey
from harness.results.depthcharge import RunKey
from harness.results.growth import FORM, is_added

REL_TOL, ABS_TOL = 1e-9, 1e-12
RESTORE = "Restore it, or delete it and let `harness record` write it anew from the cassettes."
_short = Repr()  # a damaged value may be of any size and depth
_short.maxstring = _short.maxother = _short.maxlong = 200


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT = _Absent()  # no value of a results file is this, whatever it says


class Difference(NamedTuple):
    """The first place where two results differ, and whether by rounding only."""

    where: str
    recorded: Any
    now: Any
    close: bool

    @property
    def words(self) -> str:
        """Return place and both values as a message has them."""
        recorded, now = _short.repr(self.recorded), _short.repr(self.now)
        return f"{self.where}: recorded {recorded}, now {now}"


class Comparison(NamedTuple):
    """The first difference, if any, and how many values are there now that were not recorded."""

    first: Difference | None
    more: int


def canonical(value: Any) -> bytes:
    """Give the bytes of a results file: floats with 12 significant digits, LF, final newline."""
    plain = _rounded(msgspec.to_builtins(value))
    return msgspec.json.format(msgspec.json.encode(plain), indent=1) + b"\n"


def _rounded(value: Any) -> Any:
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


def compared(recorded: Any, now: Any, where: str = "", *, grown: bool = False) -> Comparison:
    """Compare recorded results with what is computed now, as plain data.

    grown: the results were recorded under an older RESULTS_VERSION, so that the fields which came
    later (growth.py) may be in `now` only. What was recorded and is gone or different is always a
    difference; a real one is named before one of rounding.
    """
    first, more = None, 0
    for difference in _differences(recorded, now, where):
        if grown and difference.recorded is ABSENT and is_added(difference.where):
            more += 0 if difference.where in FORM else _values(difference.now)
        elif first is None or (first.close and not difference.close):
            first = difference
    return Comparison(first=first, more=more)


def _values(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_values, value.values()))
    return sum(map(_values, value)) if isinstance(value, list) else 1


def _differences(recorded: Any, now: Any, where: str) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in [*recorded, *(key for key in now if key not in recorded)]:
            place = f"{where}.{key}" if where else str(key)
            yield from _differences(recorded.get(key, ABSENT), now.get(key, ABSENT), place)
    elif isinstance(recorded, list) and isinstance(now, list):
        for number, (old, new) in enumerate(zip(recorded, now, strict=False)):
            yield from _differences(old, new, f"{where}[{_label(old, number)}]")
        if len(recorded) != len(now):
            yield Difference(f"{where} (length)", len(recorded), len(now), False)
    elif recorded != now or type(recorded) is not type(now):
        yield Difference(where, recorded, now, _close(recorded, now))


def _label(entry: Any, number: int) -> str:
    """Name an entry of a list by what it is about; by its number where that cannot be told."""
    if isinstance(entry, dict):
        for name in ("cell", "subject", "turn", "level", "depth"):
            if isinstance(entry.get(name), dict):
                return _cell_name(entry[name]) or str(number)
            if isinstance(entry.get(name), (str, int, float)):
                return str(entry[name])[:200]
    return str(number)


def _cell_name(cell: dict[str, Any]) -> str:
    try:
        if "target" in cell:
            return msgspec.convert(cell, RunKey).name
        return msgspec.convert(cell, CellKey).name
    except msgspec.ValidationError:
        return ""


def _close(old: Any, new: Any) -> bool:
    numbers = (int, float)
    if isinstance(old, bool) or not (isinstance(old, numbers) and isinstance(new, numbers)):
        return False
    return abs(old - new) <= max(ABS_TOL, REL_TOL * max(abs(old), abs(new)))
