"""p of printed coefficients: against scipy and pingouin, and what is exact and what is not."""

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from audit.claim_text import finding, verdict
from golden.cases import cases
from scipy import stats
from statsmodels.stats.multitest import multipletests


def recomputed(check: str, published: str, **keys: Any) -> float:
    return float(finding(check, published, **keys).recomputed.split()[0])


def test_pearson_is_tested_by_t() -> None:
    """r = 0.083 of nine has p = 0.832, plainly, and no other."""
    keys = {"method": "pearson", "coefficient": "0.083", "n": 9}
    expected = 2 * stats.t.sf(0.083 * (7 / (1 - 0.083**2)) ** 0.5, 7)
    assert recomputed("p_value", "0.832", **keys) == pytest.approx(expected, abs=5e-5)
    assert verdict("p_value", "0.832", **keys) == "reproduced"
    assert verdict("p_value", "0.834", **keys) == "contradicted"


def test_the_rounding_of_the_coefficient_counts() -> None:
    """r = 0.153 alone gives 0.694; 0.695 is within what it stands for, and said to be."""
    found = finding("p_value", "0.695", method="pearson", coefficient="0.153", n=9)
    assert found.verdict == "possible"
    assert "over the rounding of the inputs" in found.why
    assert verdict("p_value", "0.695", method="pearson", coefficient="0.1530", n=9) != "reproduced"


def test_a_rank_coefficients_t_is_a_convention() -> None:
    """rho = -0.817 of nine: 0.0072 by t, 0.01077 exactly; either may be printed."""
    keys = {"method": "spearman", "coefficient": "-0.817", "n": 9}
    by_t = finding("p_value", "0.007", **keys)
    assert by_t.verdict == "reproduced*"
    assert by_t.recomputed == "0.007225"
    assert "0.01077 with the exact test without ties" in by_t.why
    assert verdict("p_value", "0.011", **keys) == "reproduced*"
    assert verdict("p_value", "0.008", **keys) == "not checkable"
    assert verdict("p_value", "0.008", ties="none", **keys) == "contradicted"


def test_a_bound_may_be_by_either_test() -> None:
    """p < 0.01 is by t, p < 0.02 by both, p < 0.003 by neither."""
    keys = {"method": "spearman", "coefficient": "-0.817"}
    assert verdict("p_value", "< 0.01", n=9, **keys) == "reproduced*"
    assert verdict("p_value", "< 0.02", n=9, **keys) == "reproduced*"
    assert verdict("p_value", "< 0.003", n=9, ties="none", **keys) == "contradicted"
    assert verdict("p_value", "< 0.01", n=10, **keys) == "reproduced*"


@pytest.mark.parametrize("case", cases("correlation"))
def test_golden_exact_ps(case: dict[str, dict[str, float]]) -> None:
    """The exact p and p by t of a rho whose sum of d^2 is known."""
    if "sum_d2" not in case["inputs"]:
        return
    expected = case["expected"]
    rho, keys = f"{expected['rho']:.3f}", {"method": "spearman", "n": 9}
    exact = f"{expected['p_exact_two_sided']:.6f}"
    assert verdict("p_value", exact, coefficient=rho, **keys) == "reproduced*"
    assert recomputed("p_value", f"{expected['p_t_df7']:.3f}", coefficient=rho, **keys) == (
        pytest.approx(expected["p_t_df7"], rel=5e-4)
    )


@pytest.mark.parametrize("order", [(0, 2, 1, 3, 5, 4, 6), (2, 0, 4, 1, 5, 3, 6)])
def test_kendall_is_scipys(order: tuple[int, ...]) -> None:
    """The exact p without ties, and the normal approximation: each a convention."""
    exact, normal = (
        stats.kendalltau(range(len(order)), order, method=method)
        for method in ("exact", "asymptotic")
    )
    keys = {"method": "kendall", "coefficient": f"{exact.statistic:.6f}", "n": len(order)}
    assert verdict("p_value", f"{exact.pvalue:.5f}", **keys) == "reproduced*"
    assert verdict("p_value", f"{normal.pvalue:.5f}", **keys) == "reproduced*"


@pytest.mark.parametrize("n", [1, 2])
def test_a_pearson_of_two_pairs_has_no_p(n: int) -> None:
    """The reason says how many there are; ranks of one item are refused as the file is read."""
    found = finding("p_value", "0.5", method="pearson", coefficient="0.5", n=n)
    assert (found.verdict, found.why) == ("not checkable", f"p is undefined: no test has {n} pairs")


def test_holm_is_over_the_exact_ps() -> None:
    """The family of table 4: 0.054 for turn 4, as statsmodels has it."""
    family = ["-0.533", "-0.533", "-0.483", "-0.817", "-0.167"]
    found = finding(
        "p_value", "< 0.01", method="spearman", coefficient="-0.817", n=9, family=family
    )
    exact = [0.14752535273368605, 0.14752535273368605, 0.19379960317460318, 0.010769400352733686]
    expected = multipletests([*exact, 0.677744708994709], method="holm")[1][3]
    assert f"{expected:.5f} with the exact test without ties" in found.why


def test_p_of_data_is_scipys(tmp_path: Path) -> None:
    """By t, by the exact enumeration with ties, and by scipy's choice for tau."""
    x, y = [3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8, 2, 8, 1]
    data = tmp_path / "d.csv"
    data.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True)))
    keys: dict[str, Any] = {"data": data, "columns": ["x", "y"], "n": 7}
    p = stats.pearsonr(x, y).pvalue
    assert verdict("p_value", f"{p:.5f}", method="pearson", **keys) == "reproduced"
    rho = stats.spearmanr(x, y)
    assert verdict("p_value", f"{rho.pvalue:.5f}", method="spearman", **keys) == "reproduced*"
    sizes = [abs(stats.spearmanr(x, order).statistic) for order in set(permutations(y))]
    exact = sum(size >= abs(rho.statistic) - 1e-12 for size in sizes) / len(sizes)
    assert verdict("p_value", f"{exact:.5f}", method="spearman", **keys) == "reproduced"
    tau = stats.kendalltau(x, y).pvalue
    assert verdict("p_value", f"{tau:.5f}", method="kendall", **keys) == "reproduced*"


def test_another_n_is_contradicted(tmp_path: Path) -> None:
    """A p over seven pairs is no p over nine."""
    data = tmp_path / "d.csv"
    data.write_text("x,y\n1,2\n2,3\n3,1\n4,4\n")
    found = finding("p_value", "0.5", data=data, method="pearson", columns=["x", "y"], n=9)
    assert (found.verdict, found.why) == ("contradicted", "n is 4 and not 9")


def test_an_undefined_p_is_not_checkable(tmp_path: Path) -> None:
    """A constant column has no correlation, and two pairs no exact one."""
    data = tmp_path / "d.csv"
    data.write_text("x,y\n1,2\n1,3\n1,1\n")
    for method in ("pearson", "spearman", "kendall"):
        found = finding("p_value", "0.5", data=data, method=method, columns=["x", "y"])
        assert (found.verdict, "constant" in found.why) == ("not checkable", True)


def test_covariates_cost_degrees_of_freedom() -> None:
    """-0.71 with two covariates of nine: df 5, p = 0.0739; without any left over there is no p."""
    keys = {"coefficient": "-0.71", "n": 9}
    found = finding("partial_p", "0.041", covariates=2, **keys)
    assert (found.verdict, found.recomputed) == ("contradicted", "0.07386")
    assert verdict("partial_p", "0.074", covariates=2, **keys) == "reproduced"
    assert verdict("partial_p", "0.074", covariates=7, **keys) == "contradicted"


def test_eta_squared_and_p_of_f() -> None:
    """F = 0.99 with (7, 1792): eta squared 0.00385, p 0.437, as scipy has it."""
    keys = {"f": "0.99", "df1": 7, "df2": 1792}
    eta = 0.99 * 7 / (0.99 * 7 + 1792)
    found = recomputed("effect_size", "0.004", gives="eta_squared", **keys)
    assert found == pytest.approx(eta, rel=1e-3)
    p = recomputed("effect_size", "0.44", gives="p", **keys)
    assert p == pytest.approx(stats.f.sf(0.99, 7, 1792), rel=1e-3)
    assert verdict("effect_size", "0.019", gives="eta_squared", **keys) == "contradicted"
    assert verdict("effect_size", "0.019", gives="eta_squared", f="0.99", df1=7, df2=352) == (
        "reproduced"
    )
