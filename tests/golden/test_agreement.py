"""Kappas, alpha, intraclass correlations and spreads equal four libraries'; real judges too."""

import csv
import json
from collections import defaultdict
from typing import Any

import pytest
from golden.cases import SHARED, cases, needs_shared, same

from harness.stats import agreement, correlation, kappa
from harness.stats.columns import mean

KNOWN = cases("agreement")
TABLES = [case for case in KNOWN if "bin_edges" in case.values[0]["inputs"]]
WEIGHTS: list[kappa.Weights] = ["unweighted", "linear", "quadratic"]
FORMS = {"ICC(A,1)": "ICC(2,1)", "ICC(C,1)": "ICC(3,1)", "ICC(A,k)": "ICC(2,k)"}
FORMS |= {"ICC(C,k)": "ICC(3,k)", "ICC(1,1)": "ICC(1,1)", "ICC(1,k)": "ICC(1,k)"}


def one(name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(c.values[0] for c in KNOWN if c.values[0]["id"] == name)
    return found


@pytest.mark.parametrize("name", ["fifths", "rubric"])
@pytest.mark.parametrize("case", TABLES)
def test_kappas(case: dict[str, Any], name: str) -> None:
    """Bins, the kappa of every pair, their mean and Fleiss' kappa agree, for each weighting."""
    expected, tolerance = case["expected"][name], case["tol"]
    assert list(kappa.EDGES[name]) == case["inputs"]["bin_edges"][name]
    bins = kappa.binned(case["inputs"]["scores_items_by_judges"], kappa.EDGES[name])
    assert bins == expected["bins"]
    assert same(kappa.fleiss(bins).value, expected["fleiss"], tolerance)
    for weights in WEIGHTS:
        found = kappa.pairwise_kappa(bins, 5, weights)
        for pair in found.pairs:
            known = expected["pairwise"][f"{pair.first}{pair.second}"][weights]
            assert same(pair.kappa.value, known, tolerance)
        assert same(found.mean.value, expected["mean_pairwise"][weights], tolerance)
        assert (found.mean.n, found.mean.reason) == (3, None)


@pytest.mark.parametrize("case", TABLES)
def test_scales(case: dict[str, Any]) -> None:
    """Alpha, the six intraclass correlations and the mean squares agree."""
    scores = case["inputs"]["scores_items_by_judges"]
    expected, tolerance = case["expected"], case["tol"]
    assert same(agreement.alpha(scores).value, expected["kripp_interval"], tolerance)
    for name, value in agreement.icc(scores).items():
        assert same(value.value, expected["icc"][FORMS[name]]["icc"], tolerance)
    squares = agreement.mean_squares(scores)
    assert same(squares.rows, expected["mean_squares"]["MSR"], tolerance)
    assert same(squares.columns, expected["mean_squares"]["MSC"], tolerance)
    assert same(squares.error, expected["mean_squares"]["MSE"], tolerance)


@pytest.mark.parametrize("case", TABLES)
def test_spreads(case: dict[str, Any]) -> None:
    """Variances, and mean deviations about mean, median and each other, agree."""
    scores = case["inputs"]["scores_items_by_judges"]
    expected, tolerance = case["expected"], case["tol"]
    found = agreement.agreement(scores)
    assert same(found.variance.value, expected["mean_var_ddof0"], tolerance)
    assert same(found.variance_ddof1.value, expected["mean_var_ddof1"], tolerance)
    assert same(found.mean_absolute_deviation.value, expected["mad_about_mean"], tolerance)
    median = agreement.mean_median_deviation(scores)
    assert same(median.value, expected["mad_about_median"], tolerance)
    pairs = agreement.mean_pair_difference(scores)
    assert same(pairs.value, expected["mean_pairwise_absdiff"], tolerance)
    for row, variance in zip(scores, expected["per_item_var_ddof1_first5"], strict=False):
        assert same(agreement.mean_variance([row], 1).value, variance, tolerance)


def test_alpha_with_missing_scores() -> None:
    """Items with fewer than two scores carry nothing; the others count by what they have."""
    case = one("agreement/krippendorff_missing")
    scores = case["inputs"]["scores_items_by_judges"]
    found = agreement.alpha(scores)
    assert same(found.value, case["expected"]["interval"], case["tol"])
    assert found.n == 7
    whole = agreement.agreement(scores)
    assert (whole.n, whole.n_complete, whole.variance.n) == (8, 4, 4)


def test_categories_that_never_occur() -> None:
    """Weights are spaced by all categories, not by those that happen to occur."""
    case = one("agreement/weighted_kappa_absent_category_trap")
    a, b, expected = case["inputs"]["a"], case["inputs"]["b"], case["expected"]
    count = len(case["inputs"]["categories"])
    for weights in WEIGHTS[1:]:
        found = kappa.kappa(a, b, count, weights).value
        assert same(found, expected[f"{weights}_labels0to4"], case["tol"])


REAL = SHARED / "data" / "cdct_judgements.csv"
ROWS = list(csv.DictReader(REAL.open(encoding="utf-8"))) if REAL.is_file() else []


def table(arm: str, scale: str) -> list[list[float | None]]:
    """Give a scale's scores of an arm: one row an item, one column a judge."""
    judges = sorted({row["judge"] for row in ROWS})
    items: dict[tuple[str, ...], dict[str, float | None]] = defaultdict(dict)
    for row in ROWS:
        if row["arm"] == arm:
            place = (row["model"], row["concept"], row["level"])
            items[place][row["judge"]] = float(row[scale]) if row[scale] else None
    return [[item[judge] for judge in judges] for item in items.values()]


def consensus(scale: str, level: float) -> dict[tuple[str, str], float]:
    """Give the published consensus of the baseline at one level, by model and concept."""
    return {
        (row["model"], row["concept"]): float(row[f"consensus_{scale}"])
        for row in ROWS
        if row["arm"] == "baseline" and float(row["level"]) == level
    }


def expected_of_real() -> dict[str, Any]:
    known: dict[str, Any] = json.loads((SHARED / "data" / "cdct_expected.json").read_text("utf-8"))
    return known


@needs_shared
@pytest.mark.parametrize(("arm", "scale"), [("baseline", "CC"), ("ablation", "FC")])
def test_real_judges(arm: str, scale: str) -> None:
    """Three real judges of 440 answers agree as krippendorff and pingouin say."""
    expected, found = expected_of_real()[f"{scale}_{arm}"], agreement.agreement(table(arm, scale))
    assert (found.n, found.n_complete) == (expected["n"], expected["n_complete"])
    assert same(found.alpha.value, expected["alpha_interval"], 1e-9)
    assert same(found.variance.value, expected["mean_variance_ddof0"], 1e-9)
    assert same(found.mean_absolute_deviation.value, expected["mean_abs_dev"], 1e-9)
    assert {name: value.value for name, value in found.icc.items()} == pytest.approx(
        expected["icc"], abs=1e-9
    )


@needs_shared
def test_a_published_variance_is_a_standard_deviation() -> None:
    """The printed mean variance 0.0680 is the mean SD; the mean variance is 0.0125."""
    scores = table("baseline", "CC")
    sd, variance = agreement.mean_sd(scores), agreement.agreement(scores).variance
    assert (round(sd.value or 0, 4), sd.n) == (0.0680, 440)
    assert (round(variance.value or 0, 4), variance.n) == (0.0125, 437)


@needs_shared
def test_real_scores_correlate_as_published() -> None:
    """CC and SA at level 0.5 correlate with the published r and p over 88 pairs."""
    r, p, n = expected_of_real()["cc_sa_at_half"]
    cc, sa = consensus("CC", 0.5), consensus("SA", 0.5)
    found = correlation.pearson([cc[key] for key in cc], [sa[key] for key in cc])
    assert same(found.coefficient.value, r, 1e-9)
    assert found.p.value == pytest.approx(p, rel=1e-9)
    assert found.coefficient.n == n


@needs_shared
def test_real_curves_dip() -> None:
    """CC is lower at level 0.5 than at both ends in 87 of 88 pairs; its level means as printed."""
    curves = [consensus("CC", level) for level in (0.0, 0.25, 0.5, 0.75, 1.0)]
    dips = [min(curves[0][key], curves[4][key]) > curves[2][key] for key in curves[2]]
    assert [sum(dips), len(dips)] == expected_of_real()["u_curve"]
    means = [mean([v for (model, _), v in c.items() if model != "MiniMax-M2.5"]) for c in curves]
    assert means == pytest.approx([0.9413, 0.7644, 0.2060, 0.9615, 0.9788], abs=5.1e-5)
