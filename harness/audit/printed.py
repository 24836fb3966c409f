"""A number as it was printed, and the values that it stands for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import NamedTuple

Real = float | Fraction

FORM = re.compile(r"(<=|>=|<|>)?\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
MOST_DIGITS, MOST_PLACES = 100, 300  # so that a float can hold it, its square, and its unit
TOO_FAR = (
    f"is out of bounds: expected less than 1e{MOST_DIGITS}, and at most {MOST_PLACES} decimals"
)
SLACK = Fraction(1, 10**9)  # of a printed unit: what floats may be off by


class Span(NamedTuple):
    """All values from low to high; middle: the one of numbers taken as they stand."""

    low: Real
    high: Real
    middle: Real | None = None

    @property
    def ends(self) -> tuple[Real, Real]:
        """Give the lowest and the highest value."""
        return self.low, self.high


@dataclass(frozen=True)
class Printed:
    """A number as printed: its bound sign, if it has one, its value, and its decimal places."""

    text: str
    bound: str
    value: Fraction
    places: int

    @property
    def span(self) -> Span:
        """Give the values that round to the printed one, or that the bound leaves.

        "0.083" stands for 0.0825 to 0.0835, both included: nobody prints which way a half goes.
        """
        if self.bound:
            below = self.bound.startswith("<")
            return Span(-math.inf, self.value) if below else Span(self.value, math.inf)
        half = self.unit / 2
        return Span(self.value - half, self.value + half, self.value)

    @property
    def unit(self) -> Fraction:
        """Give one unit of the last printed place."""
        return Fraction(10) ** -self.places

    def allows(self, found: Span) -> bool:
        """Tell whether a value between the bounds found could have been printed so."""
        if self.bound in ("<", ">"):
            return found.low < self.value if self.bound == "<" else found.high > self.value
        slack = self.unit * SLACK
        return found.low <= self.span.high + slack and found.high >= self.span.low - slack


def printed(text: object) -> Printed:
    """Read a number in quotes, as printed; raises ValueError where it is none."""
    if not isinstance(text, str):
        raise ValueError(f'write {text} in quotes, as printed: the zeros of "0.50" count')
    found = FORM.fullmatch(text.strip().replace("−", "-"))
    if found is None:
        raise ValueError(f'{text!r} is no number as printed, such as "0.083", "< 0.01", "6.4e-14"')
    value, places = _read(found[2])
    return Printed(text, found[1] or "", value, places)


def _read(digits: str) -> tuple[Fraction, int]:
    """Give a number and its decimal places; what is out of all bounds is never expanded."""
    try:
        number = Decimal(digits)
    except InvalidOperation:
        raise ValueError(f"{digits!r} {TOO_FAR}") from None
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    if number.adjusted() >= MOST_DIGITS or exponent < -MOST_PLACES:
        raise ValueError(f"{digits:.40} {TOO_FAR}")
    return Fraction(number), -exponent


def figure(text: object) -> Printed:
    """Read a number as printed that is no bound; raises ValueError where it is one."""
    found = printed(text)
    if found.bound:
        raise ValueError(f"{text!r} is a bound; a number is needed here")
    return found


def coefficient(text: object) -> Printed:
    """Read a printed correlation; raises ValueError where it is outside [-1, 1]."""
    found = figure(text)
    if abs(found.value) > 1:
        raise ValueError(f"{text!r} is no correlation; one is from -1 to 1")
    return found


def point(value: Real) -> Span:
    """Give the span of one value."""
    return Span(value, value, value)


def reach(values: Iterable[float | None], middle: float | None = None) -> Span | None:
    """Give the span of some values; None where there are none."""
    known = [value for value in values if value is not None]
    return Span(min(known), max(known), middle) if known else None


def shown(value: Real, places: int) -> str:
    """Write a value with a place more than printed, or four digits; no zeros beyond the printed."""
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    if 0 < abs(number) < 1e-4:
        return f"{number:.3e}"
    digits = 3 - math.floor(math.log10(abs(number))) if number else 0
    whole, _, decimals = f"{number:.{max(places + 1, digits, 0)}f}".partition(".")
    kept = decimals.rstrip("0").ljust(max(places, 0), "0")
    return f"{whole}.{kept}" if kept else whole


def span_shown(span: Span, places: int) -> str:
    """Write a span: its middle, if it has one, or from where to where."""
    if span.middle is not None:
        return shown(span.middle, places)
    low, high = shown(span.low, places), shown(span.high, places)
    return low if low == high else f"{low} to {high}"
