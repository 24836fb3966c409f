"""JSON that programs wrote, read strictly: every key once, numbers of a sane size, no depth.

RFC 8259, section 4, leaves open what a key that stands twice means, and parsers differ: one reads
the first value, another the last. A file of ours has each key once, so a second one is damage.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TypeVar

import msgspec

from harness.errors import DamagedFile

LONGEST_INTEGER = 20  # digits and sign of 64 bits
TOO_DEEP = "nested too deeply"
Form = TypeVar("Form")


def flaw_of_keys(data: bytes) -> str | None:
    """Return what is wrong with JSON that a fast parser takes: a key twice, a number too long."""
    try:
        json.loads(data, object_pairs_hook=_single_keys, parse_int=_short)
    except ValueError as error:
        return str(error)
    except RecursionError:
        return TOO_DEEP
    return None


def _single_keys(pairs: list[tuple[str, object]]) -> None:
    if len(dict(pairs)) == len(pairs):
        return
    name, _ = Counter(name for name, _ in pairs).most_common(1)[0]
    raise ValueError(f"the key {name[:80]!r} stands twice in one object")


def _short(literal: str) -> None:
    if len(literal) > LONGEST_INTEGER:
        raise ValueError(f"a whole number of {len(literal)} digits, {literal[:8]}...")


def plain(path: Path, advice: str) -> object:
    """Return the plain data of a JSON file.

    Raises DamagedFile, with what to do (`advice`), where it is not JSON, nested too deeply, has a
    key twice in one object, or a number that no file of ours has.
    """
    return typed(path, path.read_bytes(), object, advice)


def typed(path: Path, data: bytes, form: type[Form], advice: str) -> Form:
    """Return the content of a JSON file in the form it must have; raises as `plain` does."""
    try:
        content = msgspec.json.decode(data, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        flaw: str | None = str(error)
    except RecursionError:
        flaw = TOO_DEEP
    else:
        flaw = flaw_of_keys(data)
    if flaw is not None:
        raise DamagedFile(f"{path}: is damaged ({flaw}). {advice}") from ValueError(flaw)
    return content
