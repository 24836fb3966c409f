"""Pearson, Spearman and Kendall with every p equal scipy's; real scores correlate as published."""

from typing import Any

import pytest
from golden.cases import cases, same

from harness.results import Interval, Value
from harness.stats import correlation, kendall, permutation

KNOWN = cases("correlation")
DATA = [case for case in KNOWN if "pearson_r" in case.values[0]["expected"]]
DEGENERATE = [case for case in KNOWN if "pearson" in case.values[0]["expected"]]
UNTIED = [case for case in KNOWN if "sum_d2" in case.values[0]["inputs"]]
PRINTED = [case for case in KNOWN if "r" in case.values[0]["inputs"]]


def bounds_agree(interval: Interval, expected: list[float | None], tolerance: float) -> bool:
    both = zip((interval.low, interval.high), expected, strict=True)
    return all(same(value, bound, tolerance) for value, bound in both)


def test_every_case_is_tested() -> None:
    """The four kinds of cases are all there are."""
    assert len(DATA) + len(DEGENERATE) + len(UNTIED) + len(PRINTED) == len(KNOWN) == 17


@pytest.mark.parametrize("case", DATA)
def test_pearson(case: dict[str, Any]) -> None:
    """Pearson's r, its p, Fisher's interval and the enumeration agree."""
    expected, tolerance = case["expected"], case["tol"]
    found = correlation.pearson(case["inputs"]["x"], case["inputs"]["y"])
    assert same(found.coefficient.value, expected["pearson_r"], tolerance)
    assert same(found.p.value, expected["pearson_p"], tolerance)
    assert bounds_agree(found.interval, expected["pearson_fisher_ci95"], tolerance)
    exact = expected["pearson_exact_permutation"]
    assert (found.exact.count, found.exact.total) == (exact["count_abs"], exact["n_perm"])
    assert same(found.exact.p.value, exact["p_two_sided_abs"], tolerance)
    assert found.coefficient.n == expected["n"]


@pytest.mark.parametrize("case", DATA)
def test_spearman(case: dict[str, Any]) -> None:
    """Spearman's rho with ties, its p by t and the enumeration agree."""
    expected, tolerance = case["expected"], case["tol"]
    found = correlation.spearman(case["inputs"]["x"], case["inputs"]["y"])
    assert same(found.coefficient.value, expected["spearman_rho"], tolerance)
    assert same(found.p.value, expected["spearman_p_t"], tolerance)
    exact = expected["spearman_exact_permutation"]
    assert (found.exact.count, found.exact.total) == (exact["count_abs"], exact["n_perm"])
    assert same(found.exact.p.value, exact["p_two_sided_abs"], tolerance)


@pytest.mark.parametrize("case", DATA)
def test_kendall(case: dict[str, Any]) -> None:
    """Kendall's tau-b and its p agree, exact without ties and normal with them."""
    expected, tolerance = case["expected"], case["tol"]
    found = kendall.kendall(case["inputs"]["x"], case["inputs"]["y"])
    assert same(found.coefficient.value, expected["kendall_tau_b"], tolerance)
    assert same(found.p.value, expected["kendall_p_auto"], tolerance)
    exact = expected["kendall_p_method"] == "exact"
    assert found.p_method == ("exact" if exact else "normal")


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate(case: dict[str, Any]) -> None:
    """What scipy gives as NaN is None with a reason, and the rest agrees."""
    expected, tolerance = case["expected"], case["tol"]
    x, y = case["inputs"]["x"], case["inputs"]["y"]
    found: dict[str, tuple[Value, Value]] = {}
    for name, result in (
        ("pearson", correlation.pearson(x, y)),
        ("spearman", correlation.spearman(x, y)),
        ("kendall", kendall.kendall(x, y)),
    ):
        found[name] = (result.coefficient, result.p)
    for name, (coefficient, p) in found.items():
        assert same(coefficient.value, expected[name]["stat"], tolerance)
        assert same(p.value, expected[name]["p"], tolerance)
        assert all((value.value is None) == bool(value.reason) for value in (coefficient, p))


@pytest.mark.parametrize("case", UNTIED)
def test_untied(case: dict[str, Any]) -> None:
    """A coefficient without its data has the p by t and the exact one R gives."""
    n, sum_d2 = case["inputs"]["n"], case["inputs"]["sum_d2"]
    expected, tolerance = case["expected"], case["tol"]
    rho = 1 - 6 * sum_d2 / (n * (n * n - 1))
    exact = permutation.exact_untied(expected["rho"], n)
    assert same(rho, expected["rho"], tolerance)
    assert same(correlation.p_of_r(rho, n - 2).value, expected["p_t_df7"], tolerance)
    assert (exact.count, exact.total) == (expected["count"], expected["total"])
    assert same(exact.p.value, expected["p_exact_two_sided"], tolerance)


@pytest.mark.parametrize("case", PRINTED)
def test_printed(case: dict[str, Any]) -> None:
    """A printed r and n give t, p and Fisher's interval."""
    r, n = case["inputs"]["r"], case["inputs"]["n"]
    expected, tolerance = case["expected"], case["tol"]
    assert same(correlation.t_of_r(r, n - 2), expected["t"], tolerance)
    assert same(correlation.p_of_r(r, n - 2).value, expected["p"], tolerance)
    assert bounds_agree(correlation.fisher_interval(r, n), expected["fisher_ci95"], tolerance)
