"""A printed number stands for what rounds to it; nothing else is a number."""

from fractions import Fraction

import pytest

from harness.audit.printed import Span, figure, point, printed, shown, span_shown


def test_a_number_stands_for_all_that_rounds_to_it() -> None:
    """ "0.083" is 0.0825 to 0.0835, exactly, and "0.50" is not "0.5"."""
    assert printed("0.083").span.ends == (Fraction("0.0825"), Fraction("0.0835"))
    assert printed("0.5").span.ends == (Fraction("0.45"), Fraction("0.55"))
    assert printed("0.50").span.ends == (Fraction("0.495"), Fraction("0.505"))
    assert printed("1800").span.ends == (Fraction("1799.5"), Fraction("1800.5"))
    assert printed("6.4e-14").span.ends == (Fraction("6.35e-14"), Fraction("6.45e-14"))


@pytest.mark.parametrize("text", ["0.83", "-.5", "+2", "−0.817", "1e-3", "<0.01", "> 0.90", ">= 3"])
def test_what_papers_print_is_read(text: str) -> None:
    """Signs, a typeset minus, exponents and bounds."""
    assert printed(text).text == text


@pytest.mark.parametrize("text", ["", "nan", "inf", "1,800", "5%", "about 3", "1_000", "0x1", "."])
def test_what_is_no_number_is_refused(text: str) -> None:
    """With the text that was found."""
    with pytest.raises(ValueError, match="is not a number as printed"):
        printed(text)


@pytest.mark.parametrize("bare", [0.5, 3, None, True])
def test_a_number_without_quotes_is_refused(bare: object) -> None:
    """Since its zeros are lost."""
    with pytest.raises(ValueError, match="in quotes"):
        printed(bare)


def test_both_ends_could_have_been_printed_so() -> None:
    """Nobody says which way a half goes; a hair beyond the half is too far."""
    number = printed("0.12")
    assert number.allows(point(0.115))
    assert number.allows(point(0.125))
    assert number.allows(Span(0.0, 0.2))
    assert not number.allows(point(0.1149))
    assert not number.allows(point(0.1251))


def test_a_bound_is_strict_where_its_sign_is() -> None:
    """< and > leave out the number itself, <= and >= do not."""
    assert not printed("< 0.01").allows(point(Fraction("0.01")))
    assert printed("<= 0.01").allows(point(Fraction("0.01")))
    assert not printed("> 0.90").allows(point(Fraction("0.90")))
    assert printed(">= 0.90").allows(point(Fraction("0.90")))
    assert printed("> 0.90").allows(Span(0.5, 0.95))


def test_a_bound_is_no_figure() -> None:
    """Where a number is needed, a bound is refused."""
    with pytest.raises(ValueError, match="is a bound"):
        figure("< 0.01")


def test_numbers_are_shown_with_one_place_more() -> None:
    """Or with four digits; trailing zeros only as far as printed."""
    assert shown(1 / 3, 3) == "0.3333"
    assert shown(0.0107694, 2) == "0.01077"
    assert shown(18.5, 1) == "18.5"
    assert shown(Fraction(1800), 0) == "1800"
    assert shown(6.3577e-14, 15) == "6.358e-14"
    assert shown(0, 2) == "0.00"
    assert span_shown(Span(0.1, 0.2), 1) == "0.1 to 0.2"
    assert span_shown(Span(0.1, 0.2, 0.15), 1) == "0.15"
