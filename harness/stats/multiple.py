"""Corrections for testing a family of hypotheses.

A p of None was not tested: it stays None and does not count towards the family.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.errors import UsageError


def bonferroni(ps: Sequence[float | None]) -> list[float | None]:
    """Multiply each p by how many there are, at most 1 (Dunn 1961)."""
    tested = _tested(ps)
    return [None if p is None else min(1.0, p * len(tested)) for p in ps]


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Adjust each p by Holm's step-down rule, in the order given (Holm 1979).

    The i-th smallest of m is multiplied by m - i + 1, is at least the one before, and at most 1;
    as statsmodels.stats.multitest.multipletests(method="holm").
    """
    tested = sorted(_tested(ps))
    adjusted: dict[float, float] = {}
    largest = 0.0
    for rank, p in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - rank)))
        adjusted.setdefault(p, largest)
    return [None if p is None else adjusted[p] for p in ps]


def benjamini_hochberg(ps: Sequence[float | None]) -> list[float | None]:
    """Adjust each p by Benjamini and Hochberg's step-up rule, in the order given (1995).

    The i-th smallest of m is multiplied by m / i, and is at most the one after, and at most 1; as
    statsmodels.stats.multitest.multipletests(method="fdr_bh").
    """
    tested = sorted(_tested(ps))
    adjusted: dict[float, float] = {}
    smallest = 1.0
    for rank, p in reversed(list(enumerate(tested, 1))):
        smallest = min(smallest, p * len(tested) / rank)
        adjusted.setdefault(p, smallest)
    return [None if p is None else adjusted[p] for p in ps]


def _tested(ps: Sequence[float | None]) -> list[float]:
    for place, p in enumerate(ps):
        if p is not None and not 0 <= p <= 1:
            raise UsageError(f"ps[{place}] is {p}; expected a probability, or None if untested.")
    return [p for p in ps if p is not None]
