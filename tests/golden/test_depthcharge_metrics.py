"""S(d), EVD, its errors and Kaplan-Meier equal values of exact arithmetic and lifelines."""

from typing import Any

import numpy as np
import pytest
from depthcharge.finished_runs import depths_of
from golden.cases import cases, same

from harness.protocols.depthcharge.metrics import formulas as metrics
from harness.protocols.depthcharge.metrics import uncertainty
from harness.protocols.depthcharge.metrics.uncertainty import ErrorAndInterval, Stop
from harness.stats import survival

KM = cases("km")
COHORTS = [case for case in KM if "durations" in case.values[0]["inputs"]]
TOP_UPS = [case for case in KM if "depth2" in case.values[0]["inputs"]]


def test_every_case_is_tested() -> None:
    """The two kinds of Kaplan-Meier cases are all there are."""
    assert len(COHORTS) + len(TOP_UPS) == len(KM) == 2


@pytest.mark.parametrize("case", cases("evd"))
def test_evd(case: dict[str, Any]) -> None:
    """A run stops at the right depth, and its curve, EVD and median are those of fractions."""
    inputs, expected, tolerance = case["inputs"], case["expected"], case["tol"]
    whole = depths_of(inputs["correct"], inputs["n"])
    stop = metrics.administered(metrics.known(whole), inputs["threshold"])
    assert (stop is not None) == (expected["stopped_by"] == "threshold")
    depths = whole[: stop or inputs["max_depth"]]
    assert len(depths) == expected["depths_administered"]
    assert metrics.known(depths) == pytest.approx(expected["S"], abs=tolerance)
    assert same(depths[-1].survival.value, expected["S_final"], tolerance)
    assert same(metrics.evd(depths).value, expected["evd_inclusive"], tolerance)
    exclusive = metrics.evd_exclusive(depths, inputs["threshold"])
    assert same(exclusive.value, expected["evd_exclusive"], tolerance)
    median = metrics.median_survival_depth(depths)
    assert same(median.value, expected["median_survival_depth"], tolerance)


def agrees(found: ErrorAndInterval, expected: dict[str, Any], rule: str, tolerance: float) -> bool:
    low, high = expected[f"ci95_{rule}"]
    se = expected[f"se_{rule}_ddof1"]
    bounds = same(found.interval.low, low, tolerance) and same(found.interval.high, high, tolerance)
    return bounds and same(found.se.value, se, tolerance)


@pytest.mark.parametrize("case", cases("evd_bootstrap"))
def test_binomial(case: dict[str, Any]) -> None:
    """The draws, their mean, error and interval agree, with the depths fixed and restopped."""
    inputs, expected, tolerance = case["inputs"], case["expected"], case["tol"]
    correct, seed = inputs["correct"], inputs["seed"]
    asked = [inputs["n"]] * len(correct)
    shares = uncertainty.binomial_shares(correct, asked, seed, inputs["n_boot"])
    counts = np.rint(shares * inputs["n"])
    assert counts[:3].tolist() == expected["first3_rows"]
    assert counts.sum() == expected["K_sum"]
    assert same(float(survival.sums(shares).mean()), expected["mean_fixed_D"], tolerance)
    assert same(float(survival.sums(shares, 0.2).mean()), expected["mean_restop"], tolerance)
    within = Stop(0.2, len(correct))
    fixed = uncertainty.binomial(correct, asked, seed)
    assert agrees(fixed, expected, "fixed_D", tolerance)
    restopped = uncertainty.binomial(correct, asked, seed, within)
    assert agrees(restopped, expected, "restop", tolerance)
    assert same(survival.delta_se(correct, asked).value, expected["se_delta"], tolerance)
    assert same(metrics.evd(depths_of(correct)).value, expected["evd"], tolerance)


@pytest.mark.parametrize("case", COHORTS)
def test_a_cohort(case: dict[str, Any]) -> None:
    """With one question a path, S(d) is Kaplan-Meier's, and EVD the area under its curve."""
    ends, seen = case["inputs"]["durations"], case["inputs"]["event_observed"]
    expected, tolerance = case["expected"], case["tol"]
    steps = survival.kaplan_meier(ends, seen)
    assert [step.survival for step in steps] == pytest.approx(expected["S"], abs=tolerance)
    errors = [step.se for step in steps]
    assert errors == pytest.approx(expected["greenwood_se"], abs=tolerance)
    assert survival.median_time(steps).value == expected["median"]
    area = survival.restricted_mean(steps, 4)
    assert same(area, expected["rmst_to_4"], tolerance)
    held = survival.kaplan_meier([end - event for end, event in zip(ends, seen, strict=True)], seen)
    coded = survival.restricted_mean(held, 4)
    assert same(coded, expected["rmst_to_4_time_coded_as_last_valid_depth"], tolerance)
    at_risk = [sum(end >= depth for end in ends) for depth in range(1, 5)]
    failed = [sum(seen[i] for i, end in enumerate(ends) if end == d) for d in range(1, 5)]
    right = [n - k for n, k in zip(at_risk, failed, strict=True)]
    assert same(metrics.evd(depths_of(right, at_risk)).value, expected["evd_inclusive"], tolerance)


@pytest.mark.parametrize("case", TOP_UPS)
def test_a_top_up(case: dict[str, Any]) -> None:
    """With several questions a path, S(d) counts questions and is not Kaplan-Meier's of paths."""
    first, second = case["inputs"]["depth1"], case["inputs"]["depth2"]
    expected, tolerance = case["expected"], case["tol"]
    survived = first["paths"] - first["paths_failed"]
    wrong, failed = 8, 7  # questions and paths, by the case's note
    right = second["questions"] - wrong
    depths = depths_of([survived, right], [first["paths"], second["questions"]])
    assert same(depths[1].accuracy.value, expected["A2_question_level"], tolerance)
    assert same(depths[1].survival.value, expected["S2_product_question_level"], tolerance)
    ends = [1] * first["paths_failed"] + [2] * second["paths"]
    seen = [1] * (first["paths_failed"] + failed) + [0] * (second["paths"] - failed)
    of_paths = survival.kaplan_meier(ends, seen)[1].survival
    assert same(of_paths, expected["S2_km_path_fails_if_any_wrong"], tolerance)
