"""The p of a printed rank coefficient, by each test that programs use."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

import numpy as np

from harness.audit.lattice import lattice
from harness.audit.printed import Printed, Rounding, Span, reach
from harness.stats import kendall, permutation
from harness.stats.columns import FloatArray
from harness.stats.correlation import p_of_r
from harness.stats.distributions import normal_share, p_of_z
from harness.stats.permutation import exact_untied

EXACT_UP_TO = {"spearman": permutation.LARGEST, "kendall": kendall.LARGEST_EXACT}
EDGEWORTH_UP_TO = 1290  # R's cor.test uses the series below this many pairs
ENUMERATED_TIES = 6


class RankP(NamedTuple):
    """A two-sided p over the rounding of the coefficient, and the test it is by."""

    span: Span
    test: str


def rank_ps(method: str, figure: Printed, n: int, rounding: Rounding) -> list[RankP]:
    """Return p by the usual approximation, and without ties exactly or by Edgeworth's series.

    Spearman: t with n - 2 (Kendall 1970; scipy), all n! rankings up to n = 9, above that AS 89
    (Best and Roberts 1975; R's cor.test). Kendall: the normal (Kendall 1970), and all rankings up
    to n = 33.
    """
    low, high = (max(-1.0, min(1.0, float(end))) for end in figure.span_under(rounding).ends)
    middle = float(figure.value)
    usual: list[float | None]
    places = [middle, low, high, *([0.0] if low < 0 < high else [])]
    values = lattice(method, n)
    span = figure.span_under(rounding)
    if values.count(span) == 1:
        places[0] = float(values.within(span)[0].value)
    if method == "kendall":
        usual, name = [_normal(tau, n) for tau in places], "the normal approximation"
    else:
        usual, name = [p_of_r(rho, n - 2).value for rho in places], "the t approximation"
    ranges = [(reach(usual, usual[0]), name)]
    if n <= EXACT_UP_TO[method]:
        ranges.append((_exact(method, span, n), "the exact test without ties"))
    elif method == "spearman" and n < EDGEWORTH_UP_TO:
        series = [edgeworth_p(rho, n) for rho in places]
        ranges.append((reach(series, series[0]), "Edgeworth's series without ties (R)"))
    return [RankP(p, name) for p, name in ranges if p is not None]


def edgeworth_p(rho: float, n: int) -> float:
    """Return the two-sided p of an untied rho by Edgeworth's series (AS 89, Best and Roberts 1975).

    As R's cor.test above 9 pairs: twice the tail of sum(d^2), at most 1.
    """
    total = round((n**3 - n) * (1 - abs(rho)) / 6)
    even = total + total % 2  # a sum of squared differences of two rankings is even
    inverse = 1 / n
    x = -(6 * (even + 1) * inverse / (n * n - 1) - 1) * math.sqrt(n - 1)
    y = x * x
    inner = 0.0072 - 0.0831 * inverse + y * inverse * (0.0131 - 4.6e-4 * y)
    high = y * inverse * (0.0879 + 0.0151 * inverse - y * inner)
    u = (
        x
        * inverse
        * (
            0.2274
            + inverse * (0.2531 + 0.1745 * inverse)
            + y * (-0.0758 + inverse * (0.1033 + 0.3932 * inverse) - high)
        )
    )
    tail = u / math.exp(y / 2) + normal_share(-x)
    return min(1.0, 2 * max(0.0, tail))


def tied_ps(method: str, figure: Printed, n: int) -> set[float] | None:
    """Return the exact p of every ranking with ties that gives the coefficient; None for large n.

    All pairs of tie patterns are enumerated, for Spearman's rho of up to six items.
    """
    if method != "spearman" or n > ENUMERATED_TIES:
        return None
    low, high = (float(end) for end in figure.span.ends)
    return {p for rho, p in _tied_rhos(n) if low - 1e-12 <= rho <= high + 1e-12}


@cache
def _tied_rhos(n: int) -> frozenset[tuple[float, float]]:
    """Return rho and exact p of all rankings of n items, for every pattern of ties in both."""
    orders = np.array(list(permutations(range(n))))
    patterns = [pattern for pattern in _patterns(n) if len(set(pattern)) > 1]
    pairs = set()
    for x in patterns:
        for y in patterns:
            rhos = np.round(_rhos(np.array(x), np.array(y)[orders]), 12)
            for rho in np.unique(rhos):
                p = float(np.mean(np.abs(rhos) >= abs(rho) - 1e-10))
                pairs.add((float(rho), p))
    return frozenset(pairs)


def _rhos(x: FloatArray, ys: FloatArray) -> FloatArray:
    """Return Pearson's r of x with each row of ys."""
    centred, centred_ys = x - x.mean(), ys - ys.mean(axis=1, keepdims=True)
    sizes = np.sqrt((centred**2).sum() * (centred_ys**2).sum(axis=1))
    return np.asarray((centred_ys @ centred) / sizes, dtype=np.float64)


def _patterns(n: int) -> list[tuple[float, ...]]:
    """Return the mean ranks of n sorted items, for each way in which neighbours can be tied."""
    patterns = []
    for size in range(n):
        for cuts in combinations(range(1, n), size):
            ends = [0, *cuts, n]
            patterns.append(
                tuple(
                    (start + end - 1) / 2
                    for start, end in pairwise(ends)
                    for _ in range(end - start)
                )
            )
    return patterns


def _exact(method: str, span: Span, n: int) -> Span | None:
    """Return the exact p of the attainable coefficients; it falls with their size."""
    values = lattice(method, n)
    attained = values.within(span)
    ps = [
        kendall.exact_p(coefficient.total, n)
        if method == "kendall"
        else exact_untied(float(coefficient.value), n).p.value
        for coefficient in attained
    ]
    return reach(ps)


def _normal(tau: float, n: int) -> float:
    """Return p of an untied tau by z = 3 tau sqrt(n (n - 1) / (2 (2 n + 5))) (Kendall 1970)."""
    return p_of_z(3 * tau * math.sqrt(n * (n - 1) / (2 * (2 * n + 5))))
