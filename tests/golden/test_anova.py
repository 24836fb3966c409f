"""One-way analysis of variance equals scipy's and pingouin's."""

from typing import Any

import pytest
from golden.cases import cases, same

from harness.stats import variance

KNOWN = cases("anova")
DATA = [case for case in KNOWN if "groups" in case.values[0]["inputs"]]
PRINTED = [case for case in KNOWN if "F" in case.values[0]["inputs"]]


def test_every_case_is_tested() -> None:
    """The two kinds of cases are all there are."""
    assert len(DATA) + len(PRINTED) == len(KNOWN) == 5


@pytest.mark.parametrize("case", DATA)
def test_one_way(case: dict[str, Any]) -> None:
    """F, p, degrees of freedom, sums of squares and eta squared agree."""
    expected, tolerance = case["expected"], case["tol"]
    found = variance.one_way(case["inputs"]["groups"])
    assert (found.df, found.df_error) == (expected["df_between"], expected["df_within"])
    assert same(found.f.value, expected["F"], tolerance)
    assert same(found.p.value, expected["p"], tolerance)
    assert same(found.eta_squared.value, expected["eta_sq"], tolerance)
    assert same(found.ss, expected["ss_between"], tolerance)
    assert same(found.ss_error, expected["ss_within"], tolerance)


@pytest.mark.parametrize("case", PRINTED)
def test_printed(case: dict[str, Any]) -> None:
    """A printed F and its degrees of freedom give p and eta squared."""
    expected, tolerance = case["expected"], case["tol"]
    f, k, n = (case["inputs"][name] for name in ("F", "k", "N"))
    assert [k - 1, n - k] == expected["df"]
    assert same(variance.f_p(f, k - 1, n - k).value, expected["p"], tolerance)
    assert same(variance.f_eta_squared(f, k - 1, n - k).value, expected["eta_sq"], tolerance)
