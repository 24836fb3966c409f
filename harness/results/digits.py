"""Numbers in words, the one place: never without n or reason, unless these stand beside them."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results.shared import Interval, Value

UNDEFINED = "undefined"


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
