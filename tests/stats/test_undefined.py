"""Nothing is ever silently 0: what is undefined is None with a reason, what is wrong is refused."""

from typing import Any

import numpy as np
import pytest

from harness.errors import UsageError
from harness.results import Value
from harness.stats import (
    agreement,
    correlation,
    kappa,
    kendall,
    multiple,
    permutation,
    proportions,
    resampling,
    variance,
)

NAN = float("nan")


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize(("x", "y"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3])])
def test_correlations(x: list[float], y: list[float]) -> None:
    """No coefficient, p or interval below two pairs or of a constant column."""
    for found in (correlation.pearson(x, y), correlation.spearman(x, y)):
        assert found.coefficient.value is None
        assert found.p.value is None
        assert found.exact.p.value is None
        assert found.coefficient.reason
        assert found.p.reason
        assert found.exact.p.reason
    assert kendall.kendall(x, y).coefficient.reason
    assert correlation.pearson(x, y).interval.reason


def test_perfect_correlation() -> None:
    """At |r| = 1 there is no Fisher interval, and p by t is 0 beside an exact one that is not."""
    found = correlation.pearson([1, 2, 3, 4, 5], [2, 4, 6, 8, 10])
    assert found.coefficient.value == 1
    assert found.interval.reason == "Fisher's z is infinite at |r| = 1"
    assert found.exact.p.value == 2 / 120


@pytest.mark.parametrize(
    ("rho", "n", "reason"),
    [
        (0.5, 6, "fewer than 7 pairs"),
        (1.0, 20, "Fisher's z is infinite at |rho| = 1"),
        (-1.0, 20, "Fisher's z is infinite at |rho| = 1"),
    ],
)
def test_no_interval_of_a_rank_correlation(rho: float, n: int, reason: str) -> None:
    """Below seven pairs and at |rho| = 1 Spearman's interval is null, with the reason."""
    found = correlation.spearman_interval(rho, n)
    assert (found.low, found.high, found.reason) == (None, None, reason)


def test_ten_pairs_are_not_enumerated() -> None:
    """Above nine pairs the exact p says so."""
    found = correlation.spearman(range(10), range(10)).exact
    assert found == permutation.Exact(Value(None, 10, "more than 9 pairs"))


def test_partial_correlation() -> None:
    """No partial correlation of columns that covariates determine, or of none left to judge by."""
    x, y, z = generator(1).normal(size=(3, 8))
    found = correlation.partial_correlation(x, y, [z, 2 * z - 1])
    assert found.coefficient.reason == "the covariates are collinear"
    found = correlation.partial_correlation(x, y, [3 * x])
    assert found.coefficient.reason == "the covariates determine x or y"
    found = correlation.partial_correlation(x, y, [[1] * 8])
    assert found.coefficient.reason == "a column is constant"
    found = correlation.partial_correlation(x[:3], y[:3], [z[:3]])
    assert (found.df, found.p.value, found.p.reason) == (0, None, "no degrees of freedom")


def test_small_samples_detect_nothing() -> None:
    """Up to three pairs no coefficient is large enough, nor is there an interval."""
    assert correlation.smallest_detectable(3) == Value(None, 3, "fewer than four pairs")
    assert correlation.fisher_interval(0.5, 3).half_width is None


def test_bootstrap() -> None:
    """Where no resample gives a number there is no interval, and all are counted as dropped."""
    indices = resampling.draw(4, generator(1), 50)
    found = resampling.bootstrap_spearman([1, 1, 1, 1], [1, 2, 3, 4], indices)
    assert (found.dropped, found.resamples) == (50, 50)
    assert found.interval.reason == found.se.reason == "only 0 of 50 resamples give a number"
    found = resampling.bootstrap_pearson([0.1] * 4, [1, 2, 3, 4], indices, most_undefined=1.0)
    assert (found.dropped, found.interval.reason) == (50, "0 of 50 resamples give a number")


def test_bootstrap_with_many_undefined_resamples() -> None:
    """With more than 5 of 100 undefined there is no interval, but by the rule of before."""
    flag, ci = [0, 0, 0, 1], [1, 2, 3, 4]
    indices = resampling.draw(4, generator(1), 400)
    found = resampling.bootstrap_pearson(flag, ci, indices)
    assert found.dropped > 0.05 * 400
    assert found.interval.low is found.se.value is None
    assert found.interval.reason == f"only {400 - found.dropped} of 400 resamples give a number"
    before = resampling.bootstrap_pearson(flag, ci, indices, most_undefined=1.0)
    assert before.interval.low is not None


def test_agreement() -> None:
    """No agreement among equal scores, single judges or nothing, and a reason for each number."""
    for scores in ([[0.3, 0.3], [0.3, 0.3]], [[0.1], [0.2]], [], [[0.1, None], [None, 0.2]]):
        found = agreement.agreement(scores)
        values = [found.alpha, *found.icc.values()]
        assert all(value.value is None and value.reason for value in values)


def test_one_form_of_icc() -> None:
    """Items of equal means have no reliability of the mean, though the other forms exist."""
    found = agreement.icc([[0.0, 1.0], [1.0, 0.0], [0.2, 0.8]])
    assert found["ICC(1,k)"].reason == "the denominator is zero: items do not differ"
    assert found["ICC(1,1)"].value == pytest.approx(-1)


def test_kappa() -> None:
    """No kappa where both judges know one bin; the mean over the other pairs says so."""
    assert kappa.kappa([1, 1], [1, 1], 5).reason == "both judges give one and the same bin"
    assert kappa.kappa([1, None], [None, 1], 5).reason == "no item scored by both"
    mean = kappa.pairwise_kappa([[1, 1, 2], [1, 1, 1]], 5).mean
    assert mean == Value(0.0, 2, "1 of 3 pairs have no kappa")
    assert kappa.fleiss([[1, 1], [1, 1]]).reason == "all scores are in one bin"
    assert kappa.fleiss([[1, None]]).value is None


@pytest.mark.parametrize("groups", [[], [[1, 2]], [[1, 2], []], [[1], [2]], [[1, 1], [2, 2]]])
def test_one_way(groups: list[list[float]]) -> None:
    """No F without groups, without more numbers than groups, or without variance within."""
    found = variance.one_way(groups)
    assert (found.f.value, found.p.value, found.eta_squared.value, found.ss) == (None,) * 4
    assert found.f.reason


@pytest.mark.parametrize("rows", [[], [[1, 2]], [[1], [2]], [[0.1, 0.2], [0.3, 0.4]]])
def test_repeated_measures(rows: list[list[float]]) -> None:
    """No F of one subject, one condition, or subjects that only differ in level."""
    found = variance.repeated_measures(rows)
    assert found.anova.f.value is None
    assert found.epsilon.reason == found.p_corrected.reason == found.anova.f.reason


def test_printed_f() -> None:
    """No p and no eta squared without degrees of freedom."""
    assert variance.f_p(1.0, 0, 5).reason == "no degrees of freedom"
    assert variance.f_eta_squared(1.0, 2, 0).value is None


def test_families_count_what_was_tested() -> None:
    """An untested hypothesis stays None and does not make the others' correction harder."""
    assert multiple.holm([0.01, None, 0.02]) == [0.02, None, 0.02]
    assert multiple.bonferroni([0.01, None, 0.02]) == [0.02, None, 0.04]


REFUSED: list[Any] = [
    lambda: correlation.pearson([1, 2], [1, 2, 3]),
    lambda: correlation.spearman([1, NAN, 2], [1, 2, 3]),
    lambda: kendall.kendall([1, 2, 3], [1, float("inf"), 3]),
    lambda: correlation.point_biserial([0, 2], [1, 2]),
    lambda: correlation.partial_correlation([1, 2], [1, 2], [], "kendall"),
    lambda: correlation.p_of_r(1.2, 5),
    lambda: agreement.agreement([[0.1, 0.2], [0.1]]),
    lambda: agreement.alpha([[0.1, NAN], [0.1, 0.2]]),
    lambda: kappa.kappa([5], [1], 5),
    lambda: kappa.kappa([1, 2], [1], 5),
    lambda: kappa.pairwise_kappa([[1, 2], [1]], 5),
    lambda: variance.one_way([[1, NAN], [2, 3]]),
    lambda: variance.repeated_measures([[1, 2], [3]]),
    lambda: multiple.holm([0.1, 1.2]),
    lambda: multiple.bonferroni([NAN]),
    lambda: proportions.wilson(3, 2),
    lambda: proportions.jeffreys(-1, 2),
    lambda: resampling.draw(0, generator(1)),
    lambda: resampling.bootstrap_pearson([1, 2], [1, 2], resampling.draw(3, generator(1), 5)),
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: Any) -> None:
    """A hole in disguise, unpaired columns and impossible numbers are refused."""
    with pytest.raises(UsageError):
        call()
