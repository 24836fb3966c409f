"""Survival equals lifelines' where both say the same thing, and plain sums everywhere."""

from random import Random
from typing import Any

import lifelines
import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from depthcharge.simulated_runs import TIERS, drill, uneven
from lifelines.utils import restricted_mean_survival_time
from statsmodels.duration.survfunc import SurvfuncRight

from harness.stats import distributions, proportions, survival

SEEDS = range(4)


def close(expected: Any) -> Any:
    """Give what a value must equal but for rounding."""
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def fitted(ends: Any, seen: Any, entries: Any = None) -> Any:
    fitter = lifelines.KaplanMeierFitter()
    return fitter.fit(np.asarray(ends), np.asarray(seen), entry=entries)


def at(fitter: Any, times: list[float]) -> list[float]:
    return [float(value) for value in fitter.survival_function_at_times(times)]


def cohort(seed: int, n: int = 40) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Give durations with ties, and which ended with an event."""
    draws = generator(seed)
    return draws.integers(1, 9, size=n), draws.uniform(size=n) < 0.6


@pytest.mark.parametrize("seed", SEEDS)
def test_kaplan_meier_is_lifelines_and_statsmodels(seed: int) -> None:
    """Curve, median and restricted mean of a censored cohort; Greenwood's error of statsmodels."""
    ends, seen = cohort(seed)
    steps, fitter = survival.kaplan_meier(ends, list(seen)), fitted(ends, seen)
    times = [step.time for step in steps]
    assert [step.survival for step in steps] == close(at(fitter, times))
    known = SurvfuncRight(ends, seen.astype(int))
    assert times == list(known.surv_times)
    errors = np.nan_to_num(known.surv_prob_se)  # NaN where S is 0, here 0
    assert [step.se for step in steps] == close(list(errors))
    median = survival.median_time(steps).value
    assert (np.inf if median is None else median) == fitter.median_survival_time_
    assert survival.restricted_mean(steps, 6) == close(restricted_mean_survival_time(fitter, t=6))


@pytest.mark.parametrize("seed", SEEDS)
def test_late_entry_is_lifelines(seed: int) -> None:
    """Those that enter late are at risk from then on."""
    ends, seen = cohort(seed)
    entries = np.floor(generator(seed).uniform(size=len(ends)) * ends)
    steps = survival.kaplan_meier(ends, list(seen), entries)
    known = at(fitted(ends, seen, entries), [step.time for step in steps])
    assert [step.survival for step in steps] == close(known)


@pytest.mark.parametrize("seed", SEEDS)
def test_s_of_a_drill_is_kaplan_meiers_of_its_questions(seed: int) -> None:
    """A question at depth d enters at d - 1 and leaves at d: then the product is Kaplan-Meier's."""
    answers = drill(uneven(TIERS, 1.0), Random(seed))
    depths = range(1, answers[-1].depth + 1)
    right = [sum(a.correct for a in answers if a.depth == d) / 30 for d in depths]
    ends = [a.depth for a in answers]
    fitter = fitted(ends, [not a.correct for a in answers], [end - 1 for end in ends])
    products = survival.products(right)
    assert products == close(at(fitter, [float(d) for d in depths]))
    shares = np.asarray([right])
    assert survival.sums(shares)[0] == close(sum(at(fitter, [float(d) for d in depths])))


def test_a_cohort_without_top_up_has_evd_as_its_restricted_mean() -> None:
    """Failures coded as the last depth that held: the area to D is S(1) + ... + S(D)."""
    draws = generator(5)
    failed = np.minimum(draws.geometric(0.3, size=30), 7)  # at depth 7 all who are left leave
    seen = failed < 7
    shares = [float(np.mean(failed[failed >= d] > d)) for d in range(1, 7)]
    evd = float(survival.sums(np.asarray([shares]))[0])
    fitter = fitted(failed - 1, seen)
    assert evd == close(restricted_mean_survival_time(fitter, t=6))
    steps = survival.kaplan_meier(failed - 1, list(seen))
    assert evd == close(survival.restricted_mean(steps, 6))


@pytest.mark.parametrize("correct", [[27, 20, 12], [30, 15], [24, 0]])
def test_the_delta_error_is_the_gradients(correct: list[int]) -> None:
    """It is the root of the sum of squared slopes times each share's variance."""
    shares = np.asarray(correct) / 30
    slopes = [
        float(survival.sums(np.asarray([shares + step]))[0] - survival.sums(shares[None])[0]) / 1e-6
        for step in 1e-6 * np.eye(len(correct))
    ]
    variance = sum(s**2 * a * (1 - a) / 30 for s, a in zip(slopes, shares, strict=True))
    found = survival.delta_se(correct, [30] * len(correct))
    assert found.value == pytest.approx(variance**0.5, rel=1e-5)
    assert found.n == 30 * len(correct)


def test_a_bound_is_met_by_what_equals_it() -> None:
    """(18/30)(10/30) is 0.2 and not below it, in whatever order, alone and in rows."""
    for shares in ([18 / 30, 10 / 30, 0.5], [10 / 30, 18 / 30, 0.5]):
        tie = survival.products(shares)[1]
        assert tie is not None
        assert not survival.is_below(tie, 0.2)
        whole = float(survival.sums(np.asarray([shares]))[0])
        assert survival.sums(np.asarray([shares]), 0.2)[0] == whole
    assert survival.sums(np.asarray([[0.6, 0.3, 1.0]]), 0.2)[0] == close(0.6 + 0.18)


def test_products_end_with_what_is_unknown() -> None:
    """From the first share that is undefined on, so are the products."""
    assert survival.products([0.5, None, 0.5]) == [0.5, None, None]
    assert survival.products([]) == []


def test_what_is_undefined_says_why() -> None:
    """No error without answers, no median above a half, and no step without an event."""
    assert survival.delta_se([3, 0], [30, 0]).reason == "nothing was asked at a depth"
    assert survival.delta_se([], []).reason == "nothing was asked at a depth"
    assert survival.median_time(survival.kaplan_meier([3, 3], [0, 1])).value == 3
    assert survival.median_time(survival.kaplan_meier([3, 3, 3], [0, 0, 1])).reason
    assert survival.kaplan_meier([], []) == survival.kaplan_meier([1, 2], [0, 0]) == []
    assert survival.restricted_mean([], 4) == 4


@pytest.mark.parametrize(("k", "n"), [(0, 30), (7, 30), (30, 30)])
def test_jeffreys_draws_are_from_the_posterior(k: int, n: int) -> None:
    """Draws of k of n are those of Beta(k + 1/2, n - k + 1/2)."""
    draws = proportions.jeffreys_draws([k, 3], [n, 5], generator(1), 2000)
    assert draws.shape == (2000, 2)
    assert scipy.stats.kstest(draws[:, 0], scipy.stats.beta(k + 0.5, n - k + 0.5).cdf).pvalue > 0.01


def test_quantiles_are_scipys() -> None:
    """Student's quantile and the normal share are those of scipy.stats."""
    assert distributions.t_quantile(0.975, 29) == close(scipy.stats.t.ppf(0.975, 29))
    assert distributions.normal_share(-2.08) == close(scipy.stats.norm.cdf(-2.08))
