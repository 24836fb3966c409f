"""HOC, CRI, FAR', SAS' and CI equal values from exact rational arithmetic and scipy."""

from typing import Any

import pytest
from golden.cases import cases, same

from harness.protocols.ddft.metrics import formulas as metrics
from harness.results import Value


@pytest.mark.parametrize("case", cases("hoc"))
def test_hoc(case: dict[str, Any]) -> None:
    """HOC is the largest passing level, and with rule onset the last before the first failure."""
    curve = list(zip(case["inputs"]["c"], case["inputs"]["far"], strict=True))
    expected, theta = case["expected"], case["inputs"]["theta"]
    assert same(metrics.hoc(curve, theta).value, expected["hoc"], case["tol"])
    onset = metrics.hoc(curve, theta, "onset").value
    assert same(onset, expected["hoc_first_crossing"], case["tol"])
    assert (metrics.hoc(curve, theta).reason is None) == expected["defined"]


@pytest.mark.parametrize("case", cases("cri"))
def test_cri(case: dict[str, Any]) -> None:
    """CRI is the trapezoid area under SAS(c), divided by the span of c."""
    curve = list(zip(case["inputs"]["c"], case["inputs"]["sas"], strict=True))
    assert same(metrics.cri(curve).value, case["expected"]["cri_over_span"], case["tol"])


@pytest.mark.parametrize("case", cases("ci"))
def test_ci(case: dict[str, Any]) -> None:
    """CI and its parts agree, and an undefined one says which part is empty."""
    inputs, expected, tolerance = case["inputs"], case["expected"], case["tol"]
    pairs = [(far, sas) for far, sas in inputs["far_sas"]]
    hoc, cri = Value(inputs["hoc"], 1), Value(inputs["cri"], 1)
    far, sas = metrics.far_prime(pairs), metrics.sas_prime(pairs)
    assert same(far.value, expected["far_prime"], tolerance)
    assert same(sas.value, expected["sas_prime"], tolerance)
    assert (far.n, sas.n) == (expected["n_far_prime"], expected["n_sas_prime"])
    ci = metrics.ci_raw(hoc, cri, far, sas)
    assert same(ci.value, expected["ci_raw"], tolerance)
    assert ci.reason == expected["undefined_reason"]
    zero = metrics.ci_raw(hoc, cri, metrics.far_prime(pairs, "zero"), sas)
    assert same(zero.value, expected["ci_raw_if_empty_far_prime_is_0"], tolerance)
