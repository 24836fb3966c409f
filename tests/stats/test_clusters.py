"""Means over clusters, differences and shares equal what well-kept libraries give."""

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from statsmodels.stats.proportion import proportion_confint

from harness.errors import UsageError
from harness.stats import means
from harness.stats.jackknife import jackknife_interval, jackknife_se
from harness.stats.proportions import korn_graubard

SEEDS = range(4)


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_mean_of_clusters_is_scipys(seed: int) -> None:
    """With one value a cluster it is Student's interval."""
    values = generator(seed).normal(size=7)
    known = scipy.stats.ttest_1samp(values, 0.0)
    found = means.mean_of(values.tolist())
    assert (found.interval.low, found.interval.high) == pytest.approx(
        tuple(known.confidence_interval())
    )
    assert found.confidence_above(0).value == pytest.approx(
        scipy.stats.ttest_1samp(values, 0.0, alternative="less").pvalue
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_pooled_mean_is_statsmodels(seed: int) -> None:
    """With clusters of unequal size it is the clustered interval of a regression on 1."""
    sizes = [3, 5, 9, 2, 6]
    labels = np.repeat(np.arange(5), sizes)
    values = generator(seed).normal(size=5)[labels] + generator(seed + 9).normal(size=25)
    known = sm.OLS(values, np.ones(25)).fit(
        cov_type="cluster", cov_kwds={"groups": labels}, use_t=True
    )
    sums = [(float(values[labels == label].sum()), n) for label, n in enumerate(sizes)]
    found = means.clustered_mean(sums)
    assert found.se.value == pytest.approx(known.bse[0])
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(known.conf_int()[0]))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_crossed_mean_is_statsmodels(seed: int) -> None:
    """The error of a table is that of two-way clusters, or of one way where that is larger."""
    draws = generator(seed)
    table = draws.normal(size=(6, 1)) + draws.normal(size=(1, 8)) + draws.normal(size=(6, 8))
    rows, columns = (axis.ravel() for axis in np.indices(table.shape))

    def error(groups: object) -> float:
        fit = sm.OLS(table.ravel(), np.ones(48)).fit(cov_type="cluster", cov_kwds=groups)
        return float(fit.bse[0])

    both = error({"groups": np.stack([rows, columns], axis=1)})
    largest = max(both, error({"groups": rows}), error({"groups": columns}))
    found = means.crossed_mean(table.tolist())
    assert found.se.value == pytest.approx(largest)
    assert found.df == 5


@pytest.mark.parametrize("seed", SEEDS)
def test_welch_is_scipys(seed: int) -> None:
    """The interval of a difference is Welch's."""
    high, low = generator(seed).normal(size=3), generator(seed + 5).normal(1, 2, size=6)
    known = scipy.stats.ttest_ind(high, low, equal_var=False)
    found = means.welch(high.tolist(), low.tolist())
    bounds = tuple(known.confidence_interval())
    assert (found.interval.low, found.interval.high) == pytest.approx(bounds)
    assert found.df == pytest.approx(known.df)


def test_a_clustered_share_is_clopper_pearsons_at_fewer_trials() -> None:
    """Alike clusters give the exact interval; unlike ones that of fewer trials."""
    assert korn_graubard([(2, 10)] * 6).low == pytest.approx(
        proportion_confint(12, 60, 0.05, "beta")[0]
    )
    counts = [(1, 10), (9, 10), (2, 10), (8, 10), (5, 10)]
    residuals = sum((k - 5) ** 2 for k, _ in counts)
    ratio = (scipy.stats.t.ppf(0.975, 49) / scipy.stats.t.ppf(0.975, 4)) ** 2
    effective = 0.25 / (5 / 4 * residuals / 50**2) * ratio
    known = proportion_confint(effective / 2, effective, 0.05, "beta")
    found = korn_graubard(counts)
    assert (found.low, found.high) == pytest.approx(known)
    assert korn_graubard([(0, 10)] * 5).high == pytest.approx(
        proportion_confint(0, 5, 0.05, "beta")[1]
    )


def test_the_jackknife_of_a_mean_is_its_error() -> None:
    """Leaving each of n values out of a mean gives the classical error and interval."""
    values = generator(3).normal(size=8)
    left_out = [float(np.delete(values, place).mean()) for place in range(8)]
    assert jackknife_se(left_out).value == pytest.approx(scipy.stats.sem(values))
    found, known = (
        jackknife_interval(float(values.mean()), left_out),
        means.mean_of(values.tolist()),
    )
    assert (found.low, found.high) == pytest.approx((known.interval.low, known.interval.high))


def test_what_is_undefined_says_why() -> None:
    """One cluster, no observation, a small group and a ragged table are named."""
    assert means.mean_of([0.5]).interval.reason == "fewer than two clusters"
    assert means.clustered_mean([(0.0, 0)]).mean.reason == "no observation"
    assert means.mean_of([0.5, 0.5]).confidence_above(0.4).reason == "the clusters do not differ"
    assert means.crossed_mean([[1.0, 2.0]]).interval.reason == "fewer than two rows or columns"
    assert means.welch([], [1.0]).mean.reason == "one of the two groups is empty"
    few = "2 in one of the groups, at least 3 are needed"
    assert means.welch([1.0, 2.0], [1.0, 3.0, 4.0]).interval.reason == few
    assert means.welch([1.0] * 3, [2.0] * 3).interval.reason == "neither group varies"
    assert korn_graubard([(1, 5)]).reason == "fewer than two clusters"
    assert jackknife_interval(1.0, [1.0]).reason == "fewer than two clusters"
    assert jackknife_interval(1.0, [1.0, 1.0]).reason == "the clusters do not differ"
    with pytest.raises(UsageError, match="unequal lengths"):
        means.crossed_mean([[1.0], [1.0, 2.0]])
