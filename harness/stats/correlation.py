"""Correlations of two columns: Pearson, Spearman, point-biserial, partial, and what n can detect.

Sums are exactly rounded (math.fsum) or whole numbers, so the order of the rows changes no digit.
Kendall's tau is in kendall.py, the enumeration behind the exact p in permutation.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import UsageError
from harness.results import Interval, Value
from harness.stats import permutation, ranks
from harness.stats.columns import Numbers, constant, mean, pair
from harness.stats.distributions import normal_quantile, p_of_t
from harness.stats.permutation import Exact

COLLINEAR, PERFECT = 1e-10, 1e-12
FEWEST_RANKED = 7  # pairs, before an interval of Spearman's rho means anything


@dataclass(frozen=True)
class Pearson:
    """Pearson's r, its p by t, Fisher's interval, and the exact permutation p."""

    coefficient: Value
    p: Value
    interval: Interval
    exact: Exact


@dataclass(frozen=True)
class Spearman:
    """Spearman's rho, its p by the t approximation, and the exact permutation p."""

    coefficient: Value
    p: Value
    exact: Exact


@dataclass(frozen=True)
class Partial:
    """A partial correlation, its p, and the degrees of freedom n - 2 - k."""

    coefficient: Value
    p: Value
    df: int


def pearson(x: Numbers, y: Numbers, level: float = 0.95) -> Pearson:
    """Correlate two columns of n numbers by Pearson's product moment.

    p is two-sided, by t = r sqrt(df / (1 - r^2)) with df = n - 2 (Fisher, Statistical Methods for
    Research Workers, 1925; as scipy.stats.pearsonr). Of two pairs r is always 1 or -1, so p is 1.
    r is undefined below two pairs and where a column is constant.
    """
    first, second = pair(x, y)
    n, r = len(first), _product_moment(first, second)
    p = Value(1.0, n) if n == 2 and r.value is not None else _p(r, n - 2)
    return Pearson(r, p, _fisher(r, level), permutation.exact_pearson(first, second))


def point_biserial(flags: Sequence[bool | int], y: Numbers, level: float = 0.95) -> Pearson:
    """Correlate a column of flags (0 or 1) with numbers: Pearson's r of the two (Tate 1954).

    As scipy.stats.pointbiserialr; undefined where all flags are equal. Raises UsageError where a
    flag is neither 0 nor 1.
    """
    for place, flag in enumerate(flags):
        if flag not in (0, 1):
            raise UsageError(f"flags[{place}] is {flag!r}; expected 0 or 1.")
    return pearson([float(flag) for flag in flags], y, level)


def spearman(x: Numbers, y: Numbers) -> Spearman:
    """Correlate the average ranks of two columns of n numbers (Spearman 1904).

    p is two-sided by t with df = n - 2, undefined at n = 2 (Kendall and Stuart, The Advanced
    Theory of Statistics, vol. 2, 1973, section 31.18; as scipy.stats.spearmanr). `exact` holds the
    permutation p up to n = 9, which is the one to report there. Undefined where pearson is.
    """
    first, second = pair(x, y)
    rho = _rank_correlation(first, second)
    return Spearman(rho, _p(rho, len(first) - 2), permutation.exact_spearman(first, second))


def partial_correlation(
    x: Numbers, y: Numbers, covariates: Sequence[Numbers], method: str = "pearson"
) -> Partial:
    """Correlate x and y with k covariates held fixed; "spearman" ranks every column first.

    Pivots the correlation matrix on each covariate (Anderson, An Introduction to Multivariate
    Statistical Analysis, 2003, section 2.5); p by t with df = n - 2 - k, as pingouin.partial_corr.
    Undefined where a column is constant, the covariates are collinear, or they determine x or y.
    """
    columns = [*pair(x, y), *(pair(x, column)[1] for column in covariates)]
    df = len(columns[0]) - 2 - len(covariates)
    coefficient = _partial(columns, method)
    return Partial(coefficient, _p(coefficient, df), df)


def t_of_r(r: float, df: int) -> float:
    """Return t = r sqrt(df / (1 - r^2)) of a correlation; infinite at |r| = 1 (Fisher 1925)."""
    rest = (1 - r) * (1 + r)
    return r * math.sqrt(df / rest) if rest > 0 else math.copysign(math.inf, r)


def p_of_r(r: float, df: int) -> Value:
    """Return the two-sided p of a coefficient by t; df is n - 2, less one for each covariate.

    Undefined below one degree of freedom. The Value's n is df + 2. Raises UsageError where |r| > 1.
    """
    if not -1 <= r <= 1:
        raise UsageError(f"a correlation of {r} is outside [-1, 1].")
    if df < 1:
        return Value(None, df + 2, "no degrees of freedom")
    return Value(p_of_t(t_of_r(r, df), df), df + 2)


def fisher_interval(r: float, n: int, level: float = 0.95) -> Interval:
    """Return the confidence interval of Pearson's r over n pairs by Fisher's z (Fisher 1921).

    tanh(atanh(r) +- z / sqrt(n - 3)), as scipy.stats.pearsonr(...).confidence_interval().
    Undefined for n <= 3 and within 1e-12 of |r| = 1, where z is infinite and no width is left.
    """
    if n <= 3:
        return Interval(None, None, level, "fewer than four pairs")
    if abs(r) > 1 - PERFECT:
        return Interval(None, None, level, "Fisher's z is infinite at |r| = 1")
    reach = normal_quantile(0.5 + level / 2) / math.sqrt(n - 3)
    return _around(r, reach, level)


def spearman_interval(rho: float, n: int, level: float = 0.95) -> Interval:
    """Return the confidence interval of Spearman's rho over n pairs by Fisher's z.

    The variance of z is (1 + rho^2 / 2) / (n - 3): Bonett and Wright, Psychometrika 65, 2000,
    23-28; as ci.spear of the R package statpsych. Approximate where there are many ties. Undefined
    for n < 7 and within 1e-12 of |rho| = 1, where z is infinite and no width is left.
    """
    if n < FEWEST_RANKED:
        return Interval(None, None, level, f"fewer than {FEWEST_RANKED} pairs")
    if abs(rho) > 1 - PERFECT:
        return Interval(None, None, level, "Fisher's z is infinite at |rho| = 1")
    reach = normal_quantile(0.5 + level / 2) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return _around(rho, reach, level)


def smallest_detectable(n: int, alpha: float = 0.05, power: float = 0.8) -> Value:
    """Return the smallest |r| that a two-sided test over n pairs detects with this power.

    tanh((z(1 - alpha/2) + z(power)) / sqrt(n - 3)): Hulley et al., Designing Clinical Research,
    4th ed., appendix 6C, solved for r; about 0.02 more than the exact one at n = 9. For Spearman's
    rho it is optimistic, since the variance of its z is about 1.06 / (n - 3) (Fieller, Hartley and
    Pearson 1957). Undefined for n <= 3.
    """
    if n <= 3:
        return Value(None, n, "fewer than four pairs")
    reach = normal_quantile(1 - alpha / 2) + normal_quantile(power)
    return Value(math.tanh(reach / math.sqrt(n - 3)), n)


def _around(r: float, reach: float, level: float) -> Interval:
    """Return the interval of a coefficient from how far it reaches on the scale of Fisher's z."""
    return Interval(math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach), level)


def _p(coefficient: Value, df: int) -> Value:
    if coefficient.value is None:
        return coefficient
    p = p_of_r(coefficient.value, df)
    return Value(p.value, coefficient.n, p.reason)


def _fisher(r: Value, level: float) -> Interval:
    if r.value is None:
        return Interval(None, None, level, r.reason)
    return fisher_interval(r.value, r.n, level)


def _undefined(x: list[float], y: list[float]) -> str | None:
    if len(x) < 2:
        return "fewer than two pairs"
    if constant(x) or constant(y):
        return f"{'x' if constant(x) else 'y'} is constant"
    return None


def _product_moment(x: list[float], y: list[float]) -> Value:
    if reason := _undefined(x, y):
        return Value(None, len(x), reason)
    first, second = _centred(x), _centred(y)
    products = math.fsum(a * b for a, b in zip(first, second, strict=True))
    scale = math.sqrt(math.fsum(a * a for a in first) * math.fsum(b * b for b in second))
    return Value(max(-1.0, min(1.0, products / scale)), len(x))


def _centred(values: list[float]) -> list[float]:
    """Return the deviations from the mean, divided by the largest, so that no square underflows."""
    centre = mean(values)
    largest = max(abs(value - centre) for value in values)
    return [(value - centre) / largest for value in values]


def _rank_correlation(x: list[float], y: list[float]) -> Value:
    if reason := _undefined(x, y):
        return Value(None, len(x), reason)
    first, second = ranks.centred(x), ranks.centred(y)
    products = sum(a * b for a, b in zip(first, second, strict=True))
    scale = math.sqrt(sum(a * a for a in first) * sum(b * b for b in second))
    return Value(max(-1.0, min(1.0, products / scale)), len(x))


def _partial(columns: list[list[float]], method: str) -> Value:
    n, size = len(columns[0]), range(len(columns))
    one = {"pearson": _product_moment, "spearman": _rank_correlation}.get(method)
    if one is None:
        raise UsageError(f"method is {method!r}; expected 'pearson' or 'spearman'.")
    values = [[one(columns[i], columns[j]) for j in size] for i in size]
    for value in (value for row in values for value in row):
        if value.value is None:
            return Value(None, n, "a column is constant" if n > 1 else value.reason)
    matrix = [[float(value.value or 0) for value in row] for row in values]
    return _pivoted(matrix, n)


def _pivoted(matrix: list[list[float]], n: int) -> Value:
    size = range(len(matrix))
    for c in size[2:]:
        pivot = matrix[c][c]
        if pivot < COLLINEAR:
            return Value(None, n, "the covariates are collinear")
        matrix = [[matrix[i][j] - matrix[i][c] * matrix[c][j] / pivot for j in size] for i in size]
    if min(matrix[0][0], matrix[1][1]) < COLLINEAR:
        return Value(None, n, "the covariates determine x or y")
    r = matrix[0][1] / math.sqrt(matrix[0][0] * matrix[1][1])
    return Value(max(-1.0, min(1.0, r)), n)
