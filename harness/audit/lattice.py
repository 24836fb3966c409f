"""The values that a rank coefficient of n untied items can have."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from harness.audit.claims import Attainable
from harness.audit.finding import Outcome, unchecked
from harness.audit.printed import Printed, Span, point, shown

MOST_SHOWN = 3


class Attained(NamedTuple):
    """A coefficient, and the whole number it comes from: sum of d^2, or pairs out of order."""

    value: Fraction
    total: int


class Lattice(NamedTuple):
    """Coefficients 1 - 2 k / most, for k from 0 to most; step: what one k counts."""

    most: int
    step: int
    gap: int | None = None

    def within(self, span: Span) -> list[Attained]:
        """Give the coefficients between two bounds, from the highest."""
        first = max(0, math.ceil(self._place(min(span.high, 1))))
        last = min(self.most, math.floor(self._place(max(span.low, -1))))
        return [self._at(k) for k in range(first, last + 1) if k != self.gap]

    def around(self, value: Fraction) -> list[Attained]:
        """Give the nearest coefficients below and above a value."""
        place = self._place(value)
        below = next((k for k in range(math.ceil(place), self.most + 1) if k != self.gap), None)
        above = next((k for k in range(math.floor(place), -1, -1) if k != self.gap), None)
        return [self._at(k) for k in (below, above) if k is not None and 0 <= k <= self.most]

    def unattainable(self, printed: Printed) -> str:
        """Say that no untied ranking gives a printed coefficient, and what the nearest are."""
        nearest = [shown(each.value, printed.places) for each in self.around(printed.value)]
        return f"not attainable without ties (nearest {' and '.join(nearest)})"

    def _place(self, value: float | Fraction) -> Fraction:
        return (1 - Fraction(value)) * self.most / 2

    def _at(self, k: int) -> Attained:
        return Attained(1 - Fraction(2 * k, self.most), k * self.step)


def lattice(method: str, n: int) -> Lattice:
    """Give the coefficients of two untied rankings of n items, at least 2.

    Spearman: 1 - 6 sum(d^2) / (n^3 - n), the sum any even number up to (n^3 - n) / 3, but 4 of
    three items (Kendall, Rank Correlation Methods, 1970, chapter 2). Kendall: 1 - 4 k / (n^2 - n),
    k any number of the pairs.
    """
    if method == "kendall":
        return Lattice(n * (n - 1) // 2, 1)
    return Lattice((n**3 - n) // 6, 2, 2 if n == 3 else None)


def attainable(claim: Attainable) -> Outcome:
    """Ask whether two untied rankings of n items can have this coefficient; see lattice.

    One that they cannot have is contradicted only where the claim rules ties out: with ties more
    values can be had, and nobody could tell without the scores.
    """
    known, printed = lattice(claim.method, claim.n), claim.published
    near = known.within(printed.span)
    found = [each for each in near if printed.allows(point(each.value))]
    if not found:
        why = known.unattainable(printed)
        if claim.ties == "none":
            return Outcome("contradicted", "", why)
        return unchecked(f"{why}; whether there are ties is not said")
    first, more = found[:MOST_SHOWN], len(found) - MOST_SHOWN
    values = " or ".join(shown(each.value, printed.places) for each in first)
    totals = " or ".join(str(each.total) for each in first)
    sums = (
        f"sum of d^2 = {totals}" if claim.method == "spearman" else f"{totals} pairs out of order"
    )
    rest = f", or {more} more values" if more > 0 else ""
    return Outcome("reproduced", values, f"possible: {sums}{rest}")
