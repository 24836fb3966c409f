"""Exact arithmetic over printed figures: each stands for all values that would be printed so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from harness.audit.printed import Printed, Rounding, Span


def spans_of(figures: Sequence[Printed], rounding: Rounding) -> list[Span]:
    """Return what each figure stands for; none may be a bound."""
    return [figure.span_under(rounding) for figure in figures]


def total(spans: Sequence[Span]) -> Span:
    """Return the range of a sum."""
    return weighted_sum(spans, [Fraction(1)] * len(spans))


def difference(minuend: Span, subtrahend: Span) -> Span:
    """Return the range of a difference, such as a gain in points."""
    return weighted_sum([minuend, subtrahend], [Fraction(1), Fraction(-1)])


def mean(spans: Sequence[Span]) -> Span:
    """Return the range of the mean in which each counts the same (macro average)."""
    return weighted_mean(spans, [Fraction(1)] * len(spans))


def weighted_mean(spans: Sequence[Span], weights: Sequence[Fraction | int]) -> Span:
    """Return the range of a mean with exact weights; weighted by the counts it is micro average."""
    weight_sum = sum(map(Fraction, weights), Fraction(0))
    return weighted_sum(spans, [Fraction(weight) / weight_sum for weight in weights])


def weighted_sum(spans: Sequence[Span], weights: Sequence[Fraction]) -> Span:
    """Return the range of a sum of weighted values; the middle is of the figures as they stand."""
    pairs = list(zip(spans, weights, strict=True))
    low = sum(((s.low if w >= 0 else s.high) * w for s, w in pairs), Fraction(0))
    high = sum(((s.high if w >= 0 else s.low) * w for s, w in pairs), Fraction(0))
    middles = [span.middle for span in spans]
    if any(middle is None for middle in middles):
        return Span(low, high)
    middle = sum((m * w for m, w in zip(middles, weights, strict=True) if m), Fraction(0))
    return Span(low, high, middle)


def relative_gain(new: Span, old: Span) -> Span | None:
    """Return the range of (new - old) / old; None where old can be 0 or changes its sign."""
    if old.low <= 0 <= old.high:
        return None
    corners = [Fraction(n) / Fraction(o) - 1 for n in new.ends for o in old.ends]
    middle = None
    if new.middle is not None and old.middle is not None:
        middle = Fraction(new.middle) / Fraction(old.middle) - 1
    return Span(min(corners), max(corners), middle)


def counts_giving(figure: Printed, n: int, scale: int, rounding: Rounding) -> range:
    """Return the counts k for which whole * k / n would be printed so.

    whole: 100 for a percentage, 1 for a share or a mean of n whole numbers. GRIM (Brown and
    Heathers 2017) asks whether there is one.
    """
    step = Fraction(scale, n)
    low, high = figure.span_under(rounding).ends
    first, last = math.ceil(low / step), math.floor(high / step)
    return range(*_trimmed(figure, step, first, last, rounding))


def _trimmed(
    figure: Printed, step: Fraction, first: int, last: int, rounding: Rounding
) -> tuple[int, int]:
    """Leave out an end of the range that only touches what the figure stands for."""
    while first <= last and not figure.could_be(step * first, rounding):
        first += 1
    while first <= last and not figure.could_be(step * last, rounding):
        last -= 1
    return first, last + 1
