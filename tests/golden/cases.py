"""The golden statistics beside the checkout: computed with independent libraries."""

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[3] / "shared"
FILE = SHARED / "golden" / "statistics.json"
needs_shared = pytest.mark.skipif(not FILE.is_file(), reason="needs ../shared")


def cases(group: str) -> list[Any]:
    """Give the cases of a group, as pytest parameters; none where the file is not there."""
    if not FILE.is_file():
        return [pytest.param({}, id="absent")]
    known = json.loads(FILE.read_text("utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in known if case["group"] == group]


def same(value: float | None, expected: float | None, tolerance: float) -> bool:
    """Tell whether a value is the expected one, or both are undefined."""
    if value is None or expected is None:
        return value is expected
    return abs(value - expected) <= tolerance
