"""Numbers in words, the one place: never without n or reason, unless these stand beside them."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results.shared import Interval, Value

UNDEFINED = "undefined"
MOST_NAMED = 4  # values that a sentence lists one by one


def decimal(number: float | None, places: int = 3) -> str:
    """Return a number with so many decimal places; "undefined" for None."""
    return UNDEFINED if number is None else f"{number:.{places}f}"


def between(interval: Interval, places: int = 3) -> str:
    """Return an interval in brackets; "" where there is none."""
    if interval.low is None or interval.high is None:
        return ""
    return f"[{interval.low:.{places}f}, {interval.high:.{places}f}]"


def number(value: Value) -> str:
    """Return a value with its n, or with the reason why there is none, in one line of text."""
    if value.value is None:
        return f"{UNDEFINED} ({value.reason})"
    return f"{value.value:.3f} (n={value.n:,})"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Return names separated by commas, "none" where there are none."""
    return ", ".join(names) or "none"


def conjoined(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: "a", "a and b", "a, b and c"."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def named_values(values: Sequence[tuple[str, Value]], digits: int = 3) -> str:
    """Return defined values with their names as a sentence lists them.

    Of more than MOST_NAMED the smallest and the largest: "between 0.1 (a, n=5) and 0.9 (b, n=5)".
    """
    texts = [_named_value(name, value, digits) for name, value in values]
    if len(texts) <= MOST_NAMED:
        return conjoined(texts)
    ordered = sorted(values, key=lambda pair: pair[1].value or 0)
    ends = [_named_value(name, value, digits) for name, value in (ordered[0], ordered[-1])]
    return f"between {ends[0]} and {ends[1]}"


def _named_value(name: str, value: Value, digits: int) -> str:
    return f"{decimal(value.value, digits)} ({name}, n={value.n:,})"
