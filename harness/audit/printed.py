"""A number as it was printed, and the values that it stands for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

Real = float | Fraction

FORM = re.compile(r"(<=|>=|<|>)?\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
MOST_DIGITS, MOST_PLACES = 100, 300  # so that a float can hold it, its square, and its unit
TOO_FAR = (
    f"is out of bounds: expected less than 1e{MOST_DIGITS}, and at most {MOST_PLACES} decimals"
)
SLACK = Fraction(1, 10**9)  # of a printed unit: what floats may be off by


class Rounding(StrEnum):
    """How figures were brought to their printed places; one table has one way.

    NEAREST leaves open which way a half goes: the same program prints 0.125 as 0.12 (half even),
    another as 0.13 (half up), and binary floats print some halves down; see half_named.
    """

    NEAREST = "rounded to the nearest"
    CUT_OFF = "cut off"


class Span(NamedTuple):
    """All values from low to high; middle: the one of numbers taken as they stand."""

    low: Real
    high: Real
    middle: Real | None = None

    @property
    def ends(self) -> tuple[Real, Real]:
        """Return the lowest and the highest value."""
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
        """Return the values that round to the printed one, or that the bound leaves.

        "0.083" stands for 0.0825 to 0.0835, both included: nobody prints which way a half goes.
        """
        if self.bound:
            below = self.bound.startswith("<")
            return Span(-math.inf, self.value) if below else Span(self.value, math.inf)
        half = self.unit / 2
        return Span(self.value - half, self.value + half, self.value)

    def span_under(self, rounding: Rounding) -> Span:
        """Return the values that are printed so, both ends included; a bound as it stands.

        Cut off, "0.083" stands for 0.083 to 0.084, "-0.083" for -0.084 to -0.083, and "0.0" for
        -0.1 to 0.1.
        """
        if self.bound or rounding is Rounding.NEAREST:
            return self.span
        low = self.value - self.unit if self.negative or not self.value else self.value
        high = self.value if self.negative else self.value + self.unit
        return Span(low, high, self.value)

    def could_be(self, value: Fraction, rounding: Rounding) -> bool:
        """Tell whether one exact value would be printed so."""
        low, high = self.span_under(rounding).ends
        if not low <= value <= high:
            return False
        if self.bound in ("<", ">"):
            return value != self.value
        # What is cut off never reaches the next printed value.
        return rounding is Rounding.NEAREST or abs(value - self.value) < self.unit

    @property
    def negative(self) -> bool:
        """Tell whether it has a minus; "-0.0" has."""
        return self.text.strip().startswith(("-", "\u2212"))

    @property
    def unit(self) -> Fraction:
        """Return one unit of the last printed place."""
        return Fraction(10) ** -self.places

    def allows(self, values: Span, rounding: Rounding = Rounding.NEAREST) -> bool:
        """Tell whether one of these values could have been printed so.

        One exact value is compared exactly; floats with a slack of a billionth of a printed unit.
        """
        if self.bound in ("<", ">"):
            return values.low < self.value if self.bound == "<" else values.high > self.value
        if values.low == values.high and isinstance(values.low, Fraction):
            return self.could_be(values.low, rounding)
        slack, span = self.unit * SLACK, self.span_under(rounding)
        if rounding is Rounding.NEAREST or self.bound:
            return values.low <= span.high + slack and values.high >= span.low - slack
        # What is cut off never reaches the next printed value, which is the end farther from 0.
        return values.low < span.high + (slack if self.negative else -slack) and (
            values.high > span.low + (-slack if self.value and not self.negative else slack)
        )


def printed(text: object) -> Printed:
    """Read a number in quotes, as printed; raises ValueError where it is not one."""
    if not isinstance(text, str):
        raise ValueError(f'write {text} in quotes, as printed: the zeros of "0.50" count')
    match = FORM.fullmatch(text.strip().replace("−", "-"))
    if match is None:
        raise ValueError(
            f'{text!r} is not a number as printed, such as "0.083", "< 0.01", "6.4e-14"'
        )
    value, places = _read(match[2])
    return Printed(text, match[1] or "", value, places)


def _read(digits: str) -> tuple[Fraction, int]:
    """Return a number and its decimal places; what is out of all bounds is never expanded."""
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
    number = printed(text)
    if number.bound:
        raise ValueError(f"{text!r} is a bound; a number is needed here")
    return number


def coefficient(text: object) -> Printed:
    """Read a printed correlation; raises ValueError where it is outside [-1, 1]."""
    correlation = figure(text)
    if abs(correlation.value) > 1:
        raise ValueError(f"{text!r} is no correlation; one is from -1 to 1")
    return correlation


def half_named(figure: Printed, value: Fraction) -> str:
    """Name the rule that rounds a value to a figure, where the value is just a half; else "".

    Half up is away from 0.
    """
    steps = value / figure.unit
    if figure.bound or steps.denominator != 2:
        return ""
    up = abs(figure.value) > abs(value)
    even = (figure.value / figure.unit) % 2 == 0
    if up:
        return "half up or half even" if even else "half up"
    return "half even" if even else "half down, as binary floats can"


def point(value: Real) -> Span:
    """Return the span of one value."""
    return Span(value, value, value)


def reach(values: Iterable[float | None], middle: float | None = None) -> Span | None:
    """Return the span of some values; None where there are none."""
    defined = [value for value in values if value is not None]
    return Span(min(defined), max(defined), middle) if defined else None


def shown(value: Real, places: int) -> str:
    """Write a value with a place more than printed, or four digits; no zeros beyond the printed."""
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    if 0 < abs(number) < 1e-4:
        return f"{number:.3e}"
    digits = 3 - math.floor(math.log10(abs(number))) if number else 0
    digits_before, _, decimals = f"{number:.{max(places + 1, digits, 0)}f}".partition(".")
    decimals = decimals.rstrip("0").ljust(max(places, 0), "0")
    return f"{digits_before}.{decimals}" if decimals else digits_before


def span_shown(span: Span, places: int) -> str:
    """Write a span: its middle, if it has one, or from where to where."""
    if span.middle is not None:
        return shown(span.middle, places)
    low, high = shown(span.low, places), shown(span.high, places)
    return low if low == high else f"{low} to {high}"
