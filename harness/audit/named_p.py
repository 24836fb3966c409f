"""A two-sided p by the name of its test, and what a source may print of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.audit.printed import Printed, Rounding, Span, reach
from harness.audit.verdicts import Reading
from harness.stats.distributions import p_of_binomial, p_of_chi_squared


class NamedP(NamedTuple):
    """A two-sided p over the rounding of its inputs, by the name of its test; "" is the test."""

    span: Span
    test: str = ""


def sided(ps: Sequence[NamedP], tails: int | None) -> list[Reading]:
    """Return two-sided readings, and one-sided ones as a convention where nothing is stated."""
    two = [Reading(p.span, p.test) for p in ps]
    halves = [
        Span(*(None if end is None else end / 2 for end in p.span))  # type: ignore[arg-type]
        for p in ps
    ]
    stated = tails == 1
    one_sided = [
        Reading(span, " and ".join(filter(None, ("" if stated else "one-sided p", p.test))))
        for span, p in zip(halves, ps, strict=True)
    ]
    if tails is None:
        return [*two, *one_sided]
    return one_sided if stated else two


def spread(
    figure: Printed,
    rounding: Rounding,
    lowest: float,
    highest: float,
    computed: Callable[[float], float | None],
) -> Span:
    """Return what falls or rises with a figure's size, over what the figure stands for."""
    low, high = (max(lowest, min(highest, float(end))) for end in figure.span_under(rounding).ends)
    middle = max(lowest, min(highest, float(figure.value)))
    places = [middle, low, high, *([0.0] if low < 0 < high else [])]
    values = [computed(place) for place in places]
    return reach(values, values[0]) or Span(0, 0)


def impossible(published: Printed) -> str:
    """Say why no p can be what is printed; "" where one can."""
    if published.value < 0 or (published.bound == "<" and published.value == 0):
        return "no p is below 0"
    above = published.value > 1 and published.bound not in ("<", "<=")
    return "no p is above 1" if above else ""


def mcnemar(b: int, c: int) -> list[NamedP]:
    """Return p of b and c discordant pairs: as chi-squared, corrected, and exactly.

    McNemar 1947; Edwards 1948; as statsmodels.stats.contingency_tables.mcnemar.
    """
    statistics = {
        "McNemar's chi-squared": (b - c) ** 2 / (b + c),
        "McNemar's chi-squared, continuity corrected": max(0, abs(b - c) - 1) ** 2 / (b + c),
    }
    ps = {name: p_of_chi_squared(x, 1) for name, x in statistics.items()}
    ps["the exact McNemar test"] = p_of_binomial(b, b + c)
    mid = ps["the exact McNemar test"] - math.comb(b + c, b) / 2 ** (b + c)
    ps["the mid-p McNemar test"] = mid if b != c else 1.0
    return [NamedP(Span(p, p, p), name) for name, p in ps.items()]
