"""Arithmetic over printed figures is exact, for figures rounded to the nearest and cut off."""

from fractions import Fraction

from harness.audit.box import (
    counts_giving,
    difference,
    mean,
    relative_gain,
    spans_of,
    weighted_mean,
)
from harness.audit.printed import Rounding, Span, half_named, printed

NEAREST, CUT_OFF = Rounding.NEAREST, Rounding.CUT_OFF


def test_a_difference_of_rounded_figures_is_a_range() -> None:
    """87.6 - 83.3 may be printed 4.2 to 4.4, not 4.5; and cut off the same of other values."""
    gain = difference(*spans_of([printed("87.6"), printed("83.3")], NEAREST))
    assert gain == Span(Fraction("4.2"), Fraction("4.4"), Fraction("4.3"))
    assert [text for text in ("4.1", "4.2", "4.3", "4.4", "4.5") if printed(text).allows(gain)] == [
        "4.2",
        "4.3",
        "4.4",
    ]


def test_a_relative_gain_is_a_range_of_its_corners() -> None:
    """100 (45.1 - 40.3) / 40.3 may be printed 12.1; a base that may be 0 has no gain."""
    gain = relative_gain(*spans_of([printed("45.1"), printed("40.3")], NEAREST))
    assert gain is not None
    assert float(gain.low) < 0.1165 < 0.1214 < float(gain.high)
    assert relative_gain(*spans_of([printed("0.1"), printed("0.0")], NEAREST)) is None


def test_means_are_macro_or_weighted() -> None:
    """80.0 and 90.0 over 100 and 300 items are 87.5 weighted and 85.0 not."""
    spans = spans_of([printed("80.0"), printed("90.0")], NEAREST)
    assert mean(spans).middle == 85
    assert weighted_mean(spans, [100, 300]).middle == Fraction("87.5")


def test_counts_are_those_whose_share_is_printed_so() -> None:
    """2 of 3 is 66.7, and 66.6 only if cut off; a whole next unit is not cut off to this one."""
    assert list(counts_giving(printed("66.7"), 3, 100, NEAREST)) == [2]
    assert list(counts_giving(printed("66.6"), 3, 100, NEAREST)) == []
    assert list(counts_giving(printed("66.6"), 3, 100, CUT_OFF)) == [2]
    assert list(counts_giving(printed("65"), 3, 100, CUT_OFF)) == []
    assert list(counts_giving(printed("49"), 2, 100, CUT_OFF)) == []


def test_cut_off_goes_towards_zero() -> None:
    """-0.817 cut off stands for -0.818 to -0.817, and 0.0 for both sides."""
    assert printed("-0.817").span_under(CUT_OFF).ends == (Fraction("-0.818"), Fraction("-0.817"))
    assert printed("0.0").span_under(CUT_OFF).ends == (Fraction("-0.1"), Fraction("0.1"))
    assert printed("< 0.1").span_under(CUT_OFF) == printed("< 0.1").span


def test_the_way_of_a_half_is_named() -> None:
    """0.125 is 0.13 half up and 0.12 half even; 0.375 is 0.38 by both, 0.37 by neither."""
    assert half_named(printed("0.13"), Fraction("0.125")) == "half up"
    assert half_named(printed("0.12"), Fraction("0.125")) == "half even"
    assert half_named(printed("0.38"), Fraction("0.375")) == "half up or half even"
    assert half_named(printed("0.37"), Fraction("0.375")) == "half down, as binary floats can"
    assert half_named(printed("-0.13"), Fraction("-0.125")) == "half up"
    assert half_named(printed("0.13"), Fraction("0.126")) == ""
