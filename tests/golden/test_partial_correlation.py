"""Partial correlations equal pingouin's."""

from typing import Any

import pytest
from golden.cases import cases, same

from harness.stats import correlation

KNOWN = cases("partial_correlation")
DATA = [case for case in KNOWN if "z1" in case.values[0]["inputs"]]
PRINTED = [case for case in KNOWN if "r" in case.values[0]["inputs"]]


def test_every_case_is_tested() -> None:
    """The two kinds of cases are all there are."""
    assert len(DATA) + len(PRINTED) == len(KNOWN) == 3


@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize("covariates", [1, 2])
@pytest.mark.parametrize("case", DATA)
def test_partial_correlation(case: dict[str, Any], covariates: int, method: str) -> None:
    """r, df and p agree, with one covariate and with two."""
    inputs, tolerance = case["inputs"], case["tol"]
    given = [inputs["z1"], inputs["z2"]][:covariates]
    found = correlation.partial_correlation(inputs["x"], inputs["y"], given, method)
    expected = case["expected"][f"{method}_{covariates}cov"]
    assert same(found.coefficient.value, expected["r"], tolerance)
    assert same(found.p.value, expected["p"], tolerance)
    assert found.df == expected["df"]


@pytest.mark.parametrize("case", PRINTED)
def test_printed(case: dict[str, Any]) -> None:
    """A printed coefficient and its degrees of freedom give t and p."""
    r, df = case["inputs"]["r"], case["inputs"]["df"]
    assert same(correlation.t_of_r(r, df), case["expected"]["t"], case["tol"])
    assert same(correlation.p_of_r(r, df).value, case["expected"]["p"], case["tol"])
