"""Intervals of a share equal scipy's and statsmodels'."""

from typing import Any

import pytest
from golden.cases import cases, same

from harness.stats import proportions

METHODS = {
    "wilson": proportions.wilson,
    "clopper_pearson": proportions.clopper_pearson,
    "wald_clipped": proportions.wald,
    "jeffreys": proportions.jeffreys,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", cases("proportion"))
def test_interval(case: dict[str, Any], method: str) -> None:
    """Both bounds agree, 0 of n starts at 0, n of n ends at 1, and 0 of 0 has no interval."""
    for known in case["expected"]:
        found = METHODS[method](known["k"], known["n"])
        low, high = known.get(method, [None, None])
        assert same(found.low, low, case["tol"])
        assert same(found.high, high, case["tol"])
        assert (found.reason is None) == (known["n"] > 0)


@pytest.mark.parametrize("case", cases("proportion"))
def test_half_width(case: dict[str, Any]) -> None:
    """Half of Wilson's interval agrees."""
    for known in case["expected"]:
        half = proportions.wilson(known["k"], known["n"]).half_width
        assert same(half, known.get("half_width"), case["tol"])
