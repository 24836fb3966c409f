"""Intervals of means whose observations come in clusters: by t, with few clusters in mind.

The percentile bootstrap over so few clusters is too narrow (it covers 79 of 100 at four); these
are the classical intervals, and what they cover is measured by scripts/coverage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import UsageError
from harness.results import Interval, Value
from harness.stats.columns import mean, numbers, squares
from harness.stats.distributions import t_quantile, t_share

FEWEST_IN_GROUP = 3


@dataclass(frozen=True)
class ClusteredMean:
    """A mean over clusters, its standard error, degrees of freedom and interval by t.

    n of the mean counts observations, n of the standard error clusters.
    """

    mean: Value
    se: Value
    df: float
    interval: Interval

    def confidence_above(self, bound: float) -> Value:
        """Return the one-sided t confidence that the mean reaches a bound.

        It is 1 - p of the one-sided t test of "the mean is below the bound", the confidence
        distribution at the bound (Xie and Singh, International Statistical Review 81, 2013, 3-39).
        No probability of the bound. Undefined where there is no standard error, or it is 0.
        """
        if self.mean.value is None or self.se.value is None:
            return Value(None, self.se.n, self.se.reason or self.mean.reason)
        if self.se.value == 0:
            return Value(None, self.se.n, "the clusters do not differ")
        return Value(t_share((self.mean.value - bound) / self.se.value, self.df), self.se.n)


def mean_of(values: Sequence[float], level: float = 0.95) -> ClusteredMean:
    """Return the mean of one value a cluster with Student's interval (Student 1908).

    As scipy.stats.ttest_1samp(...).confidence_interval(). Undefined below two clusters.
    """
    return clustered_mean([(value, 1) for value in values], level)


def clustered_mean(clusters: Sequence[tuple[float, int]], level: float = 0.95) -> ClusteredMean:
    """Return the pooled mean of clusters, each as the sum of its observations and their number.

    The variance is G / (G - 1) times the sum of squared sums of residuals of the G clusters, over
    n^2 (Cameron and Miller, Journal of Human Resources 50, 2015, 317-372; for a mean
    as statsmodels' OLS(y, 1).fit(cov_type="cluster", use_t=True)); t has G - 1 degrees of freedom.
    Clusters without an observation do not count. Undefined below two clusters.
    """
    present = [(total, n) for total, n in clusters if n]
    size, count = sum(n for _, n in present), len(present)
    if not size:
        return _undefined(Value(None, 0, "no observation"), count, "no observation", level)
    centre = math.fsum(numbers([total for total, _ in present], "sums")) / size
    if count < 2:
        return _undefined(Value(centre, size), count, "fewer than two clusters", level)
    residuals = math.fsum((total - n * centre) ** 2 for total, n in present)
    se = math.sqrt(count / (count - 1) * residuals) / size
    return _by_t(Value(centre, size), se, count, count - 1, level)


def crossed_mean(table: Sequence[Sequence[float]], level: float = 0.95) -> ClusteredMean:
    """Return the mean of a complete table, rows and columns both clusters.

    The two-way clustered variance: by rows plus by columns less by cells (Cameron, Gelbach and
    Miller, Journal of Business & Economic Statistics 29, 2011, 238-249), and no less than either
    way alone, since with few clusters it can be too small or below 0 (the largest of the three:
    MacKinnon, Nielsen and Webb, Jackknife inference with two-way clustering, arXiv 2406.08880); t
    has the degrees of freedom of the smaller number of clusters less 1. n of the standard error is
    that smaller number. Undefined below two rows or columns. Raises UsageError on unequal rows.
    """
    rows = [numbers(row, f"rows[{place}]") for place, row in enumerate(table)]
    if len({len(row) for row in rows}) > 1:
        raise UsageError("the rows have unequal lengths; keep the complete ones.")
    cells = [value for row in rows for value in row]
    fewest = min(len(rows), len(rows[0]) if rows else 0)
    if not cells:
        return _undefined(Value(None, 0, "no complete row"), 0, "no complete row", level)
    centre = Value(mean(cells), len(cells))
    if fewest < 2:
        return _undefined(centre, fewest, "fewer than two rows or columns", level)
    by_row = _variance_of_mean([mean(row) for row in rows])
    by_column = _variance_of_mean([mean(column) for column in zip(*rows, strict=True)])
    both = by_row + by_column - _variance_of_mean(cells)
    return _by_t(centre, math.sqrt(max(by_row, by_column, both)), fewest, fewest - 1, level)


def welch(high: Sequence[float], low: Sequence[float], level: float = 0.95) -> ClusteredMean:
    """Return the difference of two groups' means with Welch's interval (Welch 1947).

    Degrees of freedom by Satterthwaite, not rounded: as
    scipy.stats.ttest_ind(high, low, equal_var=False).confidence_interval(). n counts both groups.
    Undefined with fewer than three in a group, where it covers 89 to 91 of 100 only, and where
    neither group varies.
    """
    first, second = numbers(high, "high"), numbers(low, "low")
    n, fewest = len(first) + len(second), min(len(first), len(second))
    if fewest == 0:
        reason = "one of the two groups is empty"
        return _undefined(Value(None, n, reason), n, reason, level)
    difference = Value(mean(first) - mean(second), n)
    if fewest < FEWEST_IN_GROUP:
        reason = f"{fewest} in one of the groups, at least {FEWEST_IN_GROUP} are needed"
        return _undefined(difference, n, reason, level)
    variances = [_variance_of_mean(group) for group in (first, second)]
    total = sum(variances)
    if total == 0:
        return _undefined(difference, n, "neither group varies", level)
    slack = sum(
        variance**2 / (len(group) - 1)
        for variance, group in zip(variances, (first, second), strict=True)
    )
    return _by_t(difference, math.sqrt(total), n, total**2 / slack, level)


def _variance_of_mean(values: Sequence[float]) -> float:
    return squares(values) / (len(values) - 1) / len(values)


def _by_t(centre: Value, se: float, clusters: int, df: float, level: float) -> ClusteredMean:
    reach = t_quantile(0.5 + level / 2, df) * se
    value = centre.value or 0.0
    interval = Interval(value - reach, value + reach, level)
    return ClusteredMean(mean=centre, se=Value(se, clusters), df=df, interval=interval)


def _undefined(centre: Value, clusters: int, reason: str, level: float) -> ClusteredMean:
    nothing = Interval(None, None, level, reason)
    return ClusteredMean(mean=centre, se=Value(None, clusters, reason), df=0, interval=nothing)
