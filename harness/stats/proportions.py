"""Intervals of a share: k of n."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from harness.errors import UsageError
from harness.results import Interval
from harness.stats.columns import FloatArray
from harness.stats.distributions import beta_quantile, normal_quantile, t_quantile


def wilson(k: int, n: int, level: float = 0.95) -> Interval:
    """Return Wilson's score interval of k of n, without continuity correction (Wilson 1927).

    As statsmodels' proportion_confint(method="wilson"); 0 of n starts at exactly 0 and n of n ends
    at exactly 1. Undefined for n = 0.
    """
    if nothing := _nothing(k, n, level):
        return nothing
    z = normal_quantile(0.5 + level / 2)
    centre = (k + z * z / 2) / (n + z * z)
    reach = z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    low, high = centre - reach, centre + reach
    return Interval(0.0 if k == 0 else low, 1.0 if k == n else high, level)


def wald(k: int, n: int, level: float = 0.95) -> Interval:
    """Return the normal approximation's interval of k of n, cut to [0, 1] (Laplace 1812).

    For checking what others printed: it is too narrow for small n and of no width at 0 and n.
    As statsmodels' proportion_confint(method="normal"). Undefined for n = 0.
    """
    if nothing := _nothing(k, n, level):
        return nothing
    reach = normal_quantile(0.5 + level / 2) * math.sqrt(k * (n - k) / n) / n
    return Interval(max(0.0, k / n - reach), min(1.0, k / n + reach), level)


def clopper_pearson(k: int, n: int, level: float = 0.95) -> Interval:
    """Return the exact, conservative interval of k of n (Clopper and Pearson 1934).

    As statsmodels' proportion_confint(method="beta"). Undefined for n = 0.
    """
    if nothing := _nothing(k, n, level):
        return nothing
    return _exact(k, n, level)


def agresti_coull(k: int, n: int, level: float = 0.95) -> Interval:
    """Return the Wald interval of k + z^2 / 2 of n + z^2, cut to [0, 1] (Agresti and Coull 1998).

    As statsmodels' proportion_confint(method="agresti_coull"). Undefined for n = 0.
    """
    if nothing := _nothing(k, n, level):
        return nothing
    z = normal_quantile(0.5 + level / 2)
    size = n + z * z
    centre = (k + z * z / 2) / size
    reach = z * math.sqrt(centre * (1 - centre) / size)
    return Interval(max(0.0, centre - reach), min(1.0, centre + reach), level)


def wilson_corrected(k: int, n: int, level: float = 0.95) -> Interval:
    """Return Wilson's interval of k of n with continuity correction (Newcombe 1998, method 4).

    As R's prop.test, but where k is just n / 2: there R corrects nothing, and gives wilson.
    Undefined for n = 0.
    """
    if nothing := _nothing(k, n, level):
        return nothing
    z = normal_quantile(0.5 + level / 2)
    size = 2 * (n + z * z)
    low_root = z * z - 2 - 1 / n + 4 * k / n * (n - k + 1)
    high_root = z * z + 2 - 1 / n + 4 * k / n * (n - k - 1)
    low = 0.0 if k == 0 else (2 * k + z * z - 1 - z * math.sqrt(low_root)) / size
    high = 1.0 if k == n else (2 * k + z * z + 1 + z * math.sqrt(high_root)) / size
    return Interval(max(0.0, low), min(1.0, high), level)


def jeffreys(k: int, n: int, level: float = 0.95) -> Interval:
    """Return the equal-tailed interval of k of n under the Jeffreys prior Beta(1/2, 1/2).

    Brown, Cai and DasGupta 2001, without their change at 0 and n: as statsmodels'
    proportion_confint(method="jeffreys"), the interval of 0 of n starts above 0. Undefined for
    n = 0.
    """
    if nothing := _nothing(k, n, level):
        return nothing
    tail = (1 - level) / 2
    low, high = (beta_quantile(share, k + 0.5, n - k + 0.5) for share in (tail, 1 - tail))
    return Interval(low, high, level)


def korn_graubard(counts: Sequence[tuple[int, int]], level: float = 0.95) -> Interval:
    """Return the interval of a share whose trials come in clusters, each as (k, n).

    Clopper and Pearson's interval at the effective number of trials: the pooled share's binomial
    variance over its clustered one, times the squared ratio of the t quantiles at n - 1 and at
    G - 1 degrees of freedom for G clusters, at most n (Korn and Graubard, Survey Methodology 24,
    1998, 193-201; as svyciprop(method = "beta") of the R package survey). Where all trials are
    alike no variance can be seen: then each cluster counts as one trial. Undefined below two
    clusters.
    """
    present = [(k, n) for k, n in counts if n]
    for k, n in counts:
        _nothing(k, n, level)
    k, n = sum(k for k, _ in present), sum(n for _, n in present)
    clusters = len(present)
    if clusters < 2:
        return Interval(None, None, level, "fewer than two clusters")
    if k in (0, n):
        return _exact(clusters * k / n, clusters, level)
    share = k / n
    residuals = math.fsum((right - size * share) ** 2 for right, size in present)
    variance = clusters / (clusters - 1) * residuals / n**2
    tail = 0.5 + level / 2
    ratio = (t_quantile(tail, n - 1) / t_quantile(tail, clusters - 1)) ** 2
    effective = min(float(n), share * (1 - share) / variance * ratio if variance else float(n))
    return _exact(share * effective, effective, level)


def _exact(k: float, n: float, level: float) -> Interval:
    tail = (1 - level) / 2
    low = beta_quantile(tail, k, n - k + 1) if k > 0 else 0.0
    high = beta_quantile(1 - tail, k + 1, n - k) if k < n else 1.0
    return Interval(low, high, level)


def jeffreys_draws(
    ks: Sequence[int], ns: Sequence[int], generator: np.random.Generator, draws: int
) -> FloatArray:
    """Draw shares from the Jeffreys posterior of each k of n, shape (draws, len(ks)).

    Each is the quantile at a uniform draw, so that the same seed gives the same shares wherever
    uniform draws are the same.
    """
    k, n = np.asarray(ks), np.asarray(ns)
    uniform = generator.random((draws, len(k)))
    return np.asarray(special.betaincinv(k + 0.5, n - k + 0.5, uniform), dtype=np.float64)


def _nothing(k: int, n: int, level: float) -> Interval | None:
    if not 0 <= k <= n:
        raise UsageError(f"{k} of {n} is no share; expected 0 <= k <= n.")
    return Interval(None, None, level, "no observations") if n == 0 else None
