"""What every form of results must hold: nothing undefined without its reason."""

import json
import math
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from harness.results import canonical

Form = TypeVar("Form")


def nodes(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Give every part of plain data with its place."""
    yield where, value
    inner = dict(enumerate(value)) if isinstance(value, list) else value
    for key, part in inner.items() if isinstance(inner, dict) else ():
        yield from nodes(part, f"{where}.{key}")


def check_honest(found: Form, form: type[Form]) -> None:
    """Assert that floats are finite, nulls say why, and the form reads what is written."""
    for where, node in nodes(msgspec.to_builtins(found)):
        assert not isinstance(node, tuple), where  # results.canonical rounds lists
        assert not isinstance(node, float) or math.isfinite(node), where
        if isinstance(node, dict) and "reason" in node:
            empty = None in (node.get("value", 0), node.get("low", 0))
            assert empty == bool(node["reason"]), where
    assert msgspec.convert(json.loads(canonical(found)), form)
