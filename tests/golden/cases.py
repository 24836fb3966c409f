"""The golden statistics: computed with independent libraries, which the file names."""

import json
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).with_name("statistics.json")
SHARED = Path(__file__).parents[3] / "shared"  # specifications, and scores that are not ours
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared")


def cases(group: str) -> list[Any]:
    """Return the cases of a group, as pytest parameters."""
    listed = json.loads(FILE.read_text("utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in listed if case["group"] == group]


def same(value: float | None, expected: float | None, tolerance: float) -> bool:
    """Tell whether a value is the expected one, or both are undefined."""
    if value is None or expected is None:
        return value is expected
    return abs(value - expected) <= tolerance
