"""The values that a rank coefficient of n untied items can have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
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

    def within(self, span: Span, limit: int | None = None) -> list[Attained]:
        """Give the coefficients between two bounds, from the highest; no more than the limit."""
        first, last = self._ends(span)
        return [self._at(k) for k in islice(self._from(first, last), limit)]

    def count(self, span: Span) -> int:
        """Give how many coefficients there are between two bounds, without listing them."""
        first, last = self._ends(span)
        left_out = self.gap is not None and first <= self.gap <= last
        return max(0, last + 1 - first) - left_out

    def around(self, value: Fraction) -> list[Attained]:
        """Give the nearest coefficients below and above a value."""
        place = min(max(self._place(value), Fraction(0)), Fraction(self.most))
        below = next(self._from(math.ceil(place), self.most))
        above = next(k for k in range(math.floor(place), -1, -1) if k != self.gap)
        return [self._at(k) for k in dict.fromkeys((below, above))]

    def unattainable(self, printed: Printed) -> str:
        """Say that no untied ranking gives a printed coefficient, and what the nearest are."""
        nearest = [shown(each.value, printed.places) for each in self.around(printed.value)]
        return f"not attainable without ties (nearest {' and '.join(nearest)})"

    def _ends(self, span: Span) -> tuple[int, int]:
        first = max(0, math.ceil(self._place(min(span.high, 1))))
        return first, min(self.most, math.floor(self._place(max(span.low, -1))))

    def _from(self, first: int, last: int) -> Iterator[int]:
        return (k for k in range(first, last + 1) if k != self.gap)

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
    near = known.within(printed.span, MOST_SHOWN + 1)
    found = [each for each in near if printed.allows(point(each.value))][:MOST_SHOWN]
    if not found:
        why = known.unattainable(printed)
        if claim.ties == "none":
            return Outcome("contradicted", "", why)
        return unchecked(f"{why}; whether there are ties is not said")
    at_bound = known.count(point(printed.value)) if printed.bound in ("<", ">") else 0
    more = known.count(printed.span) - at_bound - len(found)
    values = " or ".join(shown(each.value, printed.places) for each in found)
    totals = " or ".join(str(each.total) for each in found)
    sums = (
        f"sum of d^2 = {totals}" if claim.method == "spearman" else f"{totals} pairs out of order"
    )
    rest = f", or {more} more values" if more > 0 else ""
    return Outcome("reproduced", values, f"possible: {sums}{rest}")
