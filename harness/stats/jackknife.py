"""The jackknife over clusters: the interval of a smooth statistic with few clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.results import Interval, Value
from harness.stats.columns import numbers, squares
from harness.stats.distributions import t_quantile


def jackknife_se(left_out: Sequence[float]) -> Value:
    """Return the standard error of a statistic from its values with each of G clusters left out.

    The root of (G - 1) / G times the sum of squared deviations from their mean (Tukey 1958; Miller,
    Biometrika 61, 1974, 1-15); of a mean it is the classical error. Undefined below two clusters.
    """
    values = numbers(left_out, "left_out")
    if len(values) < 2:
        return Value(None, len(values), "fewer than two clusters")
    return Value(math.sqrt(squares(values) * (len(values) - 1) / len(values)), len(values))


def jackknife_interval(estimate: float, left_out: Sequence[float], level: float = 0.95) -> Interval:
    """Return the estimate plus or minus t times its jackknife error, G - 1 degrees of freedom.

    Undefined below two clusters, and where leaving one out never changes the statistic.
    """
    se = jackknife_se(left_out)
    if se.value is None:
        return Interval(None, None, level, se.reason)
    if se.value == 0:
        return Interval(None, None, level, "the clusters do not differ")
    reach = t_quantile(0.5 + level / 2, se.n - 1) * se.value
    return Interval(estimate - reach, estimate + reach, level)
