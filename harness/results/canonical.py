"""Canonical JSON out, plain data in, and the first place where two results differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import DamagedFile
from harness.results.ddft import CellKey
from harness.results.depthcharge import RunKey

REL_TOL, ABS_TOL = 1e-9, 1e-12


class Difference(msgspec.Struct):
    """The first place where two results differ, and whether by rounding only."""

    where: str
    recorded: Any
    now: Any
    close: bool


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
    """Read a results file as plain data; raises DamagedFile where it is no JSON."""
    try:
        return msgspec.json.decode(path.read_bytes())
    except msgspec.DecodeError as error:
        raise DamagedFile(
            f"{path}: is damaged ({error}). Restore it, or delete it and let "
            "`harness record` write it anew from the cassettes."
        ) from error


def first_difference(recorded: Any, now: Any, where: str = "") -> Difference | None:
    """Name the first place where two results differ; a real difference before one of rounding."""
    rounding = None
    for difference in _differences(recorded, now, where):
        if not difference.close:
            return difference
        rounding = rounding or difference
    return rounding


def _differences(recorded: Any, now: Any, where: str) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in [*recorded, *(key for key in now if key not in recorded)]:
            place = f"{where}.{key}" if where else str(key)
            yield from _differences(recorded.get(key, "(absent)"), now.get(key, "(absent)"), place)
    elif isinstance(recorded, list) and isinstance(now, list):
        for number, (old, new) in enumerate(zip(recorded, now, strict=False)):
            yield from _differences(old, new, f"{where}[{_label(old, number)}]")
        if len(recorded) != len(now):
            yield Difference(f"{where} (length)", len(recorded), len(now), False)
    elif recorded != now or type(recorded) is not type(now):
        yield Difference(where, recorded, now, _close(recorded, now))


def _label(entry: Any, number: int) -> str:
    if isinstance(entry, dict):
        for name in ("cell", "subject", "turn", "level", "depth"):
            if isinstance(entry.get(name), dict):
                return _cell_name(entry[name])
            if name in entry:
                return str(entry[name])
    return str(number)


def _cell_name(cell: dict[str, Any]) -> str:
    if "target" in cell:
        return msgspec.convert(cell, RunKey).name
    return msgspec.convert(cell, CellKey).name


def _close(old: Any, new: Any) -> bool:
    numbers = (int, float)
    if isinstance(old, bool) or not (isinstance(old, numbers) and isinstance(new, numbers)):
        return False
    return abs(old - new) <= max(ABS_TOL, REL_TOL * max(abs(old), abs(new)))
