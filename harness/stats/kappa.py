"""Chance-corrected agreement over bins: Cohen's kappa, weighted kappa, Fleiss' kappa.

Counts are whole numbers, so neither the order of the items nor that of the judges changes a digit.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

from harness.errors import UsageError
from harness.results import Value

PLACES = 9
EDGES = {"fifths": (0.2, 0.4, 0.6, 0.8), "rubric": (0.35, 0.55, 0.75, 0.95)}

Weights = Literal["unweighted", "linear", "quadratic"]
Bins = Sequence[Sequence[int | None]]


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of two judges, named by their columns, over the items both scored."""

    first: int
    second: int
    kappa: Value


@dataclass(frozen=True)
class Kappas:
    """The kappa of every pair of judges, and their mean; the mean's n counts pairs."""

    pairs: tuple[PairKappa, ...]
    mean: Value


def binned(
    scores: Sequence[Sequence[float | None]], edges: Sequence[float]
) -> list[list[int | None]]:
    """Sort scores, one row an item, into the bins [low, high) between the edges; None stays.

    Scores are compared after rounding to 9 places, so that 0.1 + 0.7 is in the bin of 0.8. EDGES
    names two sets: "fifths", and "rubric", the midpoints between the judges' bands.
    """
    return [
        [None if score is None else bisect_right(edges, round(score, PLACES)) for score in row]
        for row in scores
    ]


def kappa(
    a: Sequence[int | None],
    b: Sequence[int | None],
    categories: int,
    weights: Weights = "unweighted",
) -> Value:
    """Return Cohen's kappa of two judges over bins 0 to categories - 1 (Cohen 1960, 1968).

    1 - sum(w observed) / sum(w expected), where w is 1 off the diagonal, |i - j|, or (i - j)^2, as
    sklearn.metrics.cohen_kappa_score(labels=range(categories)). Categories that never occur count
    for the weights. Items that either judge left out are left out. Undefined without items and
    where both always give the same one bin. Raises UsageError where a bin is not in range or the
    lengths differ.
    """
    if len(a) != len(b):
        raise UsageError(f"the judges have {len(a)} and {len(b)} bins; mark missing with None.")
    both = [(i, j) for i, j in zip(a, b, strict=True) if i is not None and j is not None]
    for bin_ in (bin_ for pair in both for bin_ in pair):
        if not 0 <= bin_ < categories:
            raise UsageError(f"bin {bin_} is not one of {categories}; expected 0 to the last.")
    first, second = Counter(i for i, _ in both), Counter(j for _, j in both)
    observed = len(both) * sum(_weight(i, j, weights) for i, j in both)
    expected = sum(_weight(i, j, weights) * first[i] * second[j] for i in first for j in second)
    if expected == 0:
        reason = "both judges give one and the same bin" if both else "no item scored by both"
        return Value(None, len(both), reason)
    return Value((expected - observed) / expected, len(both))


def pairwise_kappa(bins: Bins, categories: int, weights: Weights = "unweighted") -> Kappas:
    """Return Cohen's kappa of every pair of judges and their mean (Light 1971).

    bins: one row an item, one column a judge. The mean is over the pairs that have a kappa, and its
    reason says how many have none.
    """
    if len({len(row) for row in bins}) > 1:
        raise UsageError("the items have unequal numbers of judges; mark missing bins with None.")
    columns = list(zip(*bins, strict=True))
    pairs = tuple(
        PairKappa(i, j, kappa(columns[i], columns[j], categories, weights))
        for i, j in combinations(range(len(columns)), 2)
    )
    return Kappas(pairs, _mean([pair.kappa for pair in pairs]))


def fleiss(bins: Bins) -> Value:
    """Return Fleiss' kappa over the items that all judges scored, one row an item (Fleiss 1971).

    As statsmodels.stats.inter_rater.fleiss_kappa. Undefined without items, below two judges, and
    where all scores are in one bin.
    """
    complete = [row for row in bins if None not in row]
    judges = len(complete[0]) if complete else 0
    if judges < 2:
        return Value(None, len(complete), "fewer than two judges, or no complete item")
    ratings = len(complete) * judges
    squared = sum(count * count for row in complete for count in Counter(row).values())
    totals = Counter(bin_ for row in complete for bin_ in row)
    agreed = Fraction(squared - ratings, ratings * (judges - 1))
    chance = Fraction(sum(count * count for count in totals.values()), ratings * ratings)
    if chance == 1:
        return Value(None, len(complete), "all scores are in one bin")
    return Value(float((agreed - chance) / (1 - chance)), len(complete))


def _weight(i: int, j: int, weights: Weights) -> int:
    if weights == "unweighted":
        return int(i != j)
    return abs(i - j) if weights == "linear" else (i - j) ** 2


def _mean(kappas: list[Value]) -> Value:
    known = [kappa.value for kappa in kappas if kappa.value is not None]
    missing = len(kappas) - len(known)
    reason = f"{missing} of {len(kappas)} pairs have no kappa" if missing else None
    if not known:
        return Value(None, 0, reason or "fewer than two judges")
    return Value(math.fsum(known) / len(known), len(known), reason)
