"""Plain data as TOML, for a study file that a program makes."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_bare = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(value: Mapping[str, Any]) -> str:
    """Return a mapping as TOML; keys without a value (None) are left out.

    Text, numbers, truth, dates, lists and mappings are known; raises TypeError for anything else.
    """
    return "\n".join(_table(value, ())) + "\n"


def _table(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Return a table's own lines first, then the tables in it, as TOML wants it."""
    tables = {key: inner for key, inner in value.items() if isinstance(inner, Mapping)}
    plain = {key: inner for key, inner in value.items() if key not in tables and inner is not None}
    if path and (plain or not tables):
        yield f"\n[{'.'.join(map(_key, path))}]"
    for key, inner in plain.items():
        yield f"{_key(key)} = {_inline(inner)}"
    for key, inner in tables.items():
        yield from _table(inner, (*path, key))


def _key(key: str) -> str:
    return key if _bare.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    """A JSON string is a TOML string but for what lies beyond 16 bits, and for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _inline(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        filled = {key: inner for key, inner in value.items() if inner is not None}
        return f"{{ {', '.join(f'{_key(k)} = {_inline(v)}' for k, v in filled.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_inline, value))}]"
    raise TypeError(f"{type(value).__name__} has no place in a study file")
