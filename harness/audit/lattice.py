"""The values that a rank coefficient of n untied items can have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Literal, NamedTuple

from harness.audit.claim import Claim
from harness.audit.fields import Number, Several
from harness.audit.printed import Printed, Rounding, Span, point, shown
from harness.audit.verdicts import CheckOutcome, unchecked

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
        """Return the coefficients between two bounds, from the highest; no more than the limit."""
        first, last = self._ends(span)
        return [self._at(k) for k in islice(self._from(first, last), limit)]

    def count(self, span: Span) -> int:
        """Return how many coefficients there are between two bounds, without listing them."""
        first, last = self._ends(span)
        left_out = self.gap is not None and first <= self.gap <= last
        return max(0, last + 1 - first) - left_out

    def around(self, value: Fraction) -> list[Attained]:
        """Return the nearest coefficients below and above a value."""
        place = min(max(self._place(value), Fraction(0)), Fraction(self.most))
        below = next(self._from(math.ceil(place), self.most))
        above = next(k for k in range(math.floor(place), -1, -1) if k != self.gap)
        return [self._at(k) for k in dict.fromkeys((below, above))]

    def unattainable(self, printed: Printed) -> str:
        """Say that no untied ranking gives a printed coefficient, and what the nearest are."""
        nearest = [shown(attained.value, printed.places) for attained in self.around(printed.value)]
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
    """Return the coefficients of two untied rankings of n items, at least 2.

    Spearman: 1 - 6 sum(d^2) / (n^3 - n), the sum any even number up to (n^3 - n) / 3, but 4 of
    three items (Kendall, Rank Correlation Methods, 1970, chapter 2). Kendall: 1 - 4 k / (n^2 - n),
    k any number of the pairs.
    """
    if method == "kendall":
        return Lattice(n * (n - 1) // 2, 1)
    return Lattice((n**3 - n) // 6, 2, 2 if n == 3 else None)


class AttainableClaim(Claim):
    """A rank coefficient of n items. ties: whether the source rules them out."""

    check: Literal["attainable"]
    published: Number
    method: Literal["spearman", "kendall"]
    n: Several
    ties: Literal["possible", "none"] = "possible"


def attainable(claim: AttainableClaim) -> CheckOutcome:
    """Ask whether two untied rankings of n items can have this coefficient; see lattice.

    One that they cannot have is contradicted only where the claim rules ties out: with ties more
    values can be had, and nobody could tell without the scores.
    """
    values, printed = lattice(claim.method, claim.n), claim.published
    fitting = {rounding: _fitting(values, printed, rounding) for rounding in Rounding}
    roundings = frozenset(rounding for rounding, attained in fitting.items() if attained)
    if fitting[Rounding.NEAREST]:
        return CheckOutcome("possible", *_named(claim, values, Rounding.NEAREST), roundings)
    if roundings:
        words, reason = _named(claim, values, Rounding.CUT_OFF)
        return CheckOutcome("reproduced*", words, f"only if cut off; {reason}", roundings)
    reason = values.unattainable(printed)
    if claim.ties == "none":
        return CheckOutcome("contradicted", "", reason, roundings)
    return unchecked(f"{reason}; whether there are ties is not said")


def _fitting(values: Lattice, printed: Printed, rounding: Rounding) -> list[Attained]:
    near = values.within(printed.span_under(rounding), MOST_SHOWN + 2)
    return [
        coefficient for coefficient in near if printed.allows(point(coefficient.value), rounding)
    ][:MOST_SHOWN]


def _named(claim: AttainableClaim, values: Lattice, rounding: Rounding) -> tuple[str, str]:
    """Name the first attainable values with the sums that they come from, and count the others."""
    printed = claim.published
    attained, span = _fitting(values, printed, rounding), printed.span_under(rounding)
    ends = {end for end in span.ends if math.isfinite(end)}
    touching = [end for end in ends if not printed.allows(point(Fraction(end)), rounding)]
    outside = sum(values.count(point(end)) for end in touching)
    unnamed = values.count(span) - outside - len(attained)
    totals = " or ".join(str(coefficient.total) for coefficient in attained)
    sums = (
        f"sum of d^2 = {totals}" if claim.method == "spearman" else f"{totals} pairs out of order"
    )
    words = " or ".join(shown(coefficient.value, printed.places) for coefficient in attained)
    return words, f"{sums}{f', or {unnamed} more values' if unnamed > 0 else ''}"
