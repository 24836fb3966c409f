"""Bonferroni and Holm equal statsmodels'."""

from typing import Any

import pytest
from golden.cases import cases, same

from harness.stats import multiple


@pytest.mark.parametrize("correct", [multiple.bonferroni, multiple.holm])
@pytest.mark.parametrize("case", cases("multiple"))
def test_corrected(case: dict[str, Any], correct: Any) -> None:
    """Every p of the family is corrected, in its place."""
    found, expected = correct(case["inputs"]["p"]), case["expected"][correct.__name__]
    assert all(same(a, b, case["tol"]) for a, b in zip(found, expected, strict=True))
