"""How well scores tell two groups apart: the area under the ROC curve, and balanced accuracy."""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy import optimize

from harness.results import Interval, Value
from harness.stats.columns import Numbers
from harness.stats.distributions import normal_quantile
from harness.stats.proportions import wilson

NEARLY_ONE = 1 - 1e-9


class Separation(NamedTuple):
    """A measure of how well two groups are told apart, and its interval."""

    value: Value
    interval: Interval


def auc(high: Numbers, low: Numbers, level: float = 0.95) -> Separation:
    """Return the area under the ROC curve of two groups of scores, and Newcombe's interval.

    The area is the share of pairs in which the score of `high` is above that of `low`, ties
    counted as a half (Mann and Whitney 1947; as scikit-learn's roc_auc_score). n counts scores.
    The interval is method 5 of Newcombe (Statistics in Medicine 25, 2006, 559-573): the score
    interval with the variance of Hanley and McNeil 1982 at equal group sizes. Unlike DeLong's it
    keeps a width where the groups are apart altogether. Undefined where a group is empty.
    """
    n = len(high) + len(low)
    if not len(high) or not len(low):
        nothing = "one of the two groups has no score"
        return Separation(Value(None, n, nothing), Interval(None, None, level, nothing))
    wins = sum((h > other) + (h == other) / 2 for h in high for other in low)
    area = float(wins) / (len(high) * len(low))
    below = _lower(area, len(high), len(low), level)
    above = 1 - _lower(1 - area, len(high), len(low), level)
    return Separation(Value(area, n), Interval(below, above, level))


def balanced_accuracy(
    hits: int, positives: int, rejections: int, negatives: int, level: float = 0.95
) -> Separation:
    """Return the mean of sensitivity and specificity, and its interval by square and add.

    hits of positives and rejections of negatives are right. The interval puts the two Wilson
    intervals together as Newcombe (Statistics in Medicine 17, 1998, 873-890, method 10) does for a
    difference of shares, here of the sensitivity and of one minus the specificity; as statsmodels'
    confint_proportions_2indep(method="newcomb"). Undefined where a group is empty.
    """
    n = positives + negatives
    if not positives or not negatives:
        nothing = "one of the two groups has no verdict"
        return Separation(Value(None, n, nothing), Interval(None, None, level, nothing))
    shares = [hits / positives, rejections / negatives]
    bounds = [wilson(hits, positives, level), wilson(rejections, negatives, level)]
    down = math.hypot(*(s - (b.low or 0.0) for s, b in zip(shares, bounds, strict=True))) / 2
    up = math.hypot(*((b.high or 0.0) - s for s, b in zip(shares, bounds, strict=True))) / 2
    mean = sum(shares) / 2
    return Separation(Value(mean, n), Interval(max(0.0, mean - down), min(1.0, mean + up), level))


def _lower(area: float, m: int, n: int, level: float) -> float:
    """Return the area whose upper limit of normal error just reaches the one that was seen."""
    if area == 0:
        return 0.0
    z2 = normal_quantile(0.5 + level / 2) ** 2

    def excess(theta: float) -> float:
        return (area - theta) ** 2 - z2 * _variance(theta, m, n)

    return float(optimize.brentq(excess, 0.0, min(area, NEARLY_ONE)))


def _variance(theta: float, m: int, n: int) -> float:
    """Return the variance of an AUC, for exponential scores and both groups of the mean size."""
    others = (m + n) / 2 - 1
    spread = 1 + others * (1 - theta) / (2 - theta) + others * theta / (1 + theta)
    return theta * (1 - theta) * spread / (m * n)
