"""Kendall's tau-b: concordant against discordant pairs, corrected for ties."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.results import Value
from harness.stats import ranks
from harness.stats.columns import IntArray, Numbers, constant, pair
from harness.stats.distributions import p_of_z

LARGEST_EXACT = 33


@dataclass(frozen=True)
class Kendall:
    """Kendall's tau-b, its two-sided p, and how the p came about: "exact" or "normal"."""

    coefficient: Value
    p: Value
    p_method: str


class Ties(NamedTuple):
    """Sums over groups of t tied values: of t(t-1)/2, t(t-1)(t-2) and t(t-1)(2t+5)."""

    pairs: int
    triples: int
    weighted: int


def kendall(x: Numbers, y: Numbers) -> Kendall:
    """Correlate two columns of n numbers by Kendall's tau-b (Kendall 1945).

    p is exact where there are no ties and either n <= 33 or at most one pair is out of order, else
    by the tie-corrected normal approximation, as scipy.stats.kendalltau(method="auto"). Undefined
    below two pairs and where a column is constant.
    """
    first, second = pair(x, y)
    n = len(first)
    if n < 2 or constant(first) or constant(second):
        reason = "fewer than two pairs" if n < 2 else "x or y is constant"
        return Kendall(Value(None, n, reason), Value(None, n, reason), "undefined")
    score = _score(ranks.codes(first), ranks.codes(second))
    ties = _ties(first), _ties(second)
    pairs = n * (n - 1) // 2
    tau = score / math.sqrt((pairs - ties[0].pairs) * (pairs - ties[1].pairs))
    p, method = _p(score, n, *ties)
    return Kendall(Value(max(-1.0, min(1.0, tau)), n), Value(p, n), method)


def untied_tau(discordant: int, n: int) -> float:
    """Return tau of two untied rankings of n items from the pairs out of order (Kendall 1938)."""
    return 1 - 4 * discordant / (n * (n - 1))


def exact_p(discordant: int, n: int) -> float:
    """Return the two-sided exact p of two untied rankings of n items.

    Twice the share of the n! orders with at most as many pairs out of order as the rarer tail
    (Kendall, Rank Correlation Methods, 1970), at most 1.
    """
    fewest = min(discordant, n * (n - 1) // 2 - discordant)
    return min(1.0, 2 * sum(_inversions(n, fewest)) / math.factorial(n))


def _inversions(n: int, most: int) -> list[int]:
    """Count the orders of n items with 0, 1, ... most inversions (the Mahonian numbers)."""
    counts = [1] + [0] * most
    for size in range(2, n + 1):
        counts = [sum(counts[max(0, k - size + 1) : k + 1]) for k in range(most + 1)]
    return counts


def _score(x: IntArray, y: IntArray) -> int:
    """Return concordant minus discordant pairs; row by row, so that memory stays n."""
    rows = range(len(x) - 1)
    return sum(int((np.sign(x[i + 1 :] - x[i]) * np.sign(y[i + 1 :] - y[i])).sum()) for i in rows)


def _ties(values: list[float]) -> Ties:
    sizes = Counter(values).values()
    return Ties(
        sum(t * (t - 1) // 2 for t in sizes),
        sum(t * (t - 1) * (t - 2) for t in sizes),
        sum(t * (t - 1) * (2 * t + 5) for t in sizes),
    )


def _p(score: int, n: int, x: Ties, y: Ties) -> tuple[float, str]:
    pairs = n * (n - 1) // 2
    discordant = (pairs - score) // 2
    few = n <= LARGEST_EXACT or min(discordant, pairs - discordant) <= 1
    if x.pairs == 0 and y.pairs == 0 and few:
        return exact_p(discordant, n), "exact"
    return p_of_z(score / math.sqrt(_variance(n, x, y))), "normal"


def _variance(n: int, x: Ties, y: Ties) -> float:
    """Return the variance of the score under independence, with ties (Kendall 1970)."""
    m = n * (n - 1)
    both = 2 * x.pairs * y.pairs / m
    triples = x.triples * y.triples / (9 * m * (n - 2)) if n > 2 else 0.0
    return (m * (2 * n + 5) - x.weighted - y.weighted) / 18 + both + triples
