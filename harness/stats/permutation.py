"""Exact permutation p of a correlation: every pairing of x with y, for up to nine pairs.

Two-sided, as the share of the n! pairings whose |coefficient| is at least the observed one (Pitman
1937; Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 2005). Where the null
distribution is symmetric this is also twice the one-sided p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.results import Value
from harness.stats import ranks
from harness.stats.columns import Numbers, constant, mean, pair

LARGEST = 9
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Exact:
    """A p, and the pairings it counts: count of total; both None where p is undefined."""

    p: Value
    count: int | None = None
    total: int | None = None


def exact_pearson(x: Numbers, y: Numbers) -> Exact:
    """Enumerate Pearson's r over all pairings; |r| counts as equal within 1e-12.

    Undefined below 2 and above 9 pairs, and where x or y is constant.
    """
    first, second = pair(x, y)
    if reason := _undefined(first, second):
        return Exact(Value(None, len(first), reason))
    first, second = _unit(first), _unit(second)
    return _counted(np.asarray(first), np.asarray(second), TOLERANCE)


def exact_spearman(x: Numbers, y: Numbers) -> Exact:
    """Enumerate Spearman's rho over all pairings, in whole numbers, so that ties are exact.

    Undefined below 2 and above 9 pairs, and where x or y is constant.
    """
    first, second = pair(x, y)
    if reason := _undefined(first, second):
        return Exact(Value(None, len(first), reason))
    return _counted(np.asarray(ranks.centred(first)), np.asarray(ranks.centred(second)), 0)


def exact_untied(rho: float, n: int) -> Exact:
    """Count the rankings of n untied items whose |Spearman rho| is at least |rho|.

    For a printed coefficient, without its data: what R's cor.test(exact = TRUE) gives up to 9.
    Undefined below 2 and above 9 items.
    """
    if reason := _size(n):
        return Exact(Value(None, n, reason))
    sums = np.abs(_sums(np.arange(n) * 2 - n + 1, np.arange(n) * 2 - n + 1))
    return _share(int((sums >= (abs(rho) - TOLERANCE) * sums.max()).sum()), n)


def _undefined(x: list[float], y: list[float]) -> str | None:
    if reason := _size(len(x)):
        return reason
    return "x or y is constant" if constant(x) or constant(y) else None


def _size(n: int) -> str | None:
    if n < 2:
        return "fewer than two pairs"
    return f"more than {LARGEST} pairs" if n > LARGEST else None


def _unit(values: list[float]) -> list[float]:
    centre = mean(values)
    length = math.hypot(*sorted(value - centre for value in values))
    return [(value - centre) / length for value in values]


def _counted(x: npt.NDArray[Any], y: npt.NDArray[Any], tolerance: float) -> Exact:
    observed = abs(float(sum(a * b for a, b in zip(x.tolist(), y.tolist(), strict=True))))
    return _share(int((np.abs(_sums(x, y)) >= observed - tolerance).sum()), len(x))


def _share(count: int, n: int) -> Exact:
    total = math.factorial(n)
    return Exact(Value(count / total, n), count, total)


def _sums(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sum of products under each pairing: n steps over n! numbers, little memory."""
    orders = _orders(len(x))
    total = x[0] * y[orders[0]]
    for value, places in zip(x[1:], orders[1:], strict=True):
        total = total + value * y[places]
    return np.asarray(total)


@lru_cache(maxsize=2)
def _orders(n: int) -> npt.NDArray[np.int8]:
    """Return all orders of range(n), a column each: a first place before orders of the rest."""
    if n == 1:
        return np.zeros((1, 1), dtype=np.int8)
    rest = _orders.__wrapped__(n - 1)
    blocks = [
        np.vstack([np.full((1, rest.shape[1]), first), rest + (rest >= first)])
        for first in range(n)
    ]
    return np.concatenate(blocks, axis=1).astype(np.int8)
