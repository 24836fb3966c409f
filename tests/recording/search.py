"""Search files for a key, in every form that a reader could turn back into it."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes


def assert_nowhere(folder: Path, key: str) -> None:
    """Find the key in no file below a folder; there must be files, and the search must work."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        data = path.read_bytes()
        assert not holds(data, key), path
        assert key not in str(path)


def holds(data: bytes, key: str) -> bool:
    """Tell whether the data give the key away: plain, escaped, percent- or base64-encoded."""
    return any(key.encode() in reading for reading in _readings(data))


def _readings(data: bytes) -> Iterator[bytes]:
    texts = [data, *_strings(data)]
    for text in texts:
        yield text
        yield unquote_to_bytes(text)
        for run in re.findall(rb"[A-Za-z0-9+/_-]{8,}", text):
            yield from _unbased(run.translate(bytes.maketrans(b"-_", b"+/")))


def _unbased(run: bytes) -> Iterator[bytes]:
    for start in range(4):
        part = run[start:]
        with contextlib.suppress(binascii.Error):
            yield base64.b64decode(part[: len(part) // 4 * 4])
            yield base64.b64decode(part + b"=" * (-len(part) % 4))


def _strings(data: bytes) -> Iterator[bytes]:
    """Give all strings of JSON, and of JSON within its strings."""
    try:
        found = json.loads(data)
    except ValueError:
        return
    for text in _leaves(found):
        yield text
        yield from _strings(text)


def _leaves(value: Any) -> Iterator[bytes]:
    if isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name.encode()
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
