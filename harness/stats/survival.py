"""Survival from shares: products, their sums, their errors, and the Kaplan-Meier estimator.

A share A(d) is of those that came to d, so S(d) = A(1)...A(d). This product is the Kaplan-Meier
estimator of subjects that enter at d - 1 and leave at d, with or without an event (Kaplan and Meier
1958; with late entry, Klein and Moeschberger, Survival Analysis, 2003, section 4.6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.results import Value
from harness.stats.columns import FloatArray, Numbers, pair

PLACES = 9


class Step(NamedTuple):
    """The curve from `time` on: S, its Greenwood standard error, and what it stepped down by."""

    time: float
    at_risk: int
    events: int
    survival: float
    se: float


def products(shares: Sequence[float | None]) -> list[float | None]:
    """Return S(1), S(2), ...: the product of the shares so far; None from the first None on."""
    found: list[float | None] = []
    product: float | None = 1.0
    for share in shares:
        product = None if product is None or share is None else product * share
        found.append(product)
    return found


def is_below(survival: float, bound: float) -> bool:
    """Compare after rounding to 9 places: (18/30)(10/30) is 0.2, though floats disagree."""
    return round(survival, PLACES) < round(bound, PLACES)


def sums(shares: FloatArray, stop_below: float | None = None) -> FloatArray:
    """Sum the products of each row of shares, shape (rows, depths) in.

    stop_below: a row ends with its first product below this bound, compared as `is_below` does,
    which is still counted.
    """
    survival = np.cumprod(shares, axis=1)
    if stop_below is not None:
        below = np.round(survival, PLACES) < round(stop_below, PLACES)
        survival = np.where(np.cumsum(below, axis=1) > below, 0.0, survival)
    return np.asarray(survival.sum(axis=1))


def delta_se(correct: Sequence[int], asked: Sequence[int]) -> Value:
    """Return the standard error of S(1) + ... + S(D) from independent binomial shares.

    sqrt(sum over i of (1 - A(i)) / (n(i) A(i)) (S(i) + ... + S(D))^2), the delta method with
    Greenwood's variance of a product (Greenwood 1926). A share of 0 or 1 adds nothing, as if it
    were known. n counts answers; undefined where nothing was asked at a depth.
    """
    n = sum(asked)
    if not asked or 0 in asked:
        return Value(None, n, "nothing was asked at a depth")
    shares = [k / size for k, size in zip(correct, asked, strict=True)]
    survival = np.cumprod(shares)
    after = np.cumsum(survival[::-1])[::-1]
    terms = [
        (1 - share) / (size * share) * float(rest) ** 2
        for share, size, rest in zip(shares, asked, after, strict=True)
        if share > 0
    ]
    return Value(math.sqrt(math.fsum(terms)), n)


def kaplan_meier(
    durations: Numbers, observed: Sequence[bool | int], entries: Numbers | None = None
) -> list[Step]:
    """Return the curve's step at every time with an event (Kaplan and Meier 1958).

    observed: whether the event was seen, or the subject left without it. entries: when each began
    to be at risk, if not from the start; at risk at t are those with entry < t <= duration. The
    error is Greenwood's, 0 where S is 0. As lifelines.KaplanMeierFitter, which starts with a row
    S(0) = 1. Raises UsageError where the columns are not of one length.
    """
    before = [min(durations, default=0) - 1] * len(durations)
    ends, begins = pair(durations, before if entries is None else entries)
    rows = list(zip(begins, ends, observed, strict=True))
    steps: list[Step] = []
    survival, variance = 1.0, 0.0
    for time in sorted({end for _, end, seen in rows if seen}):
        at_risk = sum(begin < time <= end for begin, end, _ in rows)
        events = sum(bool(seen) for _, end, seen in rows if end == time)
        survival *= 1 - events / at_risk
        variance += events / (at_risk * (at_risk - events)) if events < at_risk else 0.0
        steps.append(Step(time, at_risk, events, survival, survival * math.sqrt(variance)))
    return steps


def restricted_mean(steps: Sequence[Step], horizon: float) -> float:
    """Return the area under the curve from 0 to a horizon, the restricted mean survival time.

    With failures at depth d coded as time d - 1, the last depth that held, this is the sum of S(1)
    to S(D); coded as d it is more by 1 - S(D) (Royston and Parmar 2013 on the restricted mean).
    """
    times = [0.0, *(step.time for step in steps if step.time < horizon), horizon]
    heights = [1.0, *(step.survival for step in steps if step.time < horizon)]
    widths = np.diff(times)
    return math.fsum(float(w) * h for w, h in zip(widths, heights, strict=True))


def median_time(steps: Sequence[Step]) -> Value:
    """Return the first time with S <= 0.5, as lifelines; R's survfit averages where S is 0.5."""
    for step in steps:
        if not is_below(0.5, step.survival):
            return Value(step.time, len(steps))
    return Value(None, len(steps), "S stays above 0.5")
