"""Numbers as a reader sees them: never without their n, an undefined one with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results import Interval, Share, Value
from harness.stats.resampling import Bootstrap

NULL = "null"


def decimal(number: float | None, places: int = 3) -> str:
    """Give a number with so many places; "null" of None."""
    return NULL if number is None else f"{number:.{places}f}"


def between(interval: Interval) -> str:
    """Give an interval in brackets; "" where there is none."""
    if interval.low is None or interval.high is None:
        return ""
    return f"[{interval.low:.3f}, {interval.high:.3f}]"


def plural(count: int, noun: str) -> str:
    """Give a count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class Notes:
    """What there is to say of a table's cells, each numbered and said once under the table."""

    def __init__(self) -> None:
        self._said: list[str] = []

    @property
    def said(self) -> list[str]:
        """Give the notes in the order of their numbers."""
        return list(self._said)

    def mark(self, note: str) -> str:
        """Give a note's number in brackets."""
        if note not in self._said:
            self._said.append(note)
        return f"[{self._said.index(note) + 1}]"

    def null(self, reason: str | None) -> str:
        """Give an undefined value, with the number of its reason."""
        return f"{NULL} {self.mark(reason or 'no reason is given')}"

    def number(self, value: Value, places: int = 3) -> str:
        """Give a value with its n."""
        if value.value is None:
            return self.null(value.reason)
        return f"{value.value:.{places}f} (n={value.n:,})"

    def bare(self, value: Value, places: int = 3) -> str:
        """Give a value without its n, which stands beside it in the row."""
        return self.null(value.reason) if value.value is None else f"{value.value:.{places}f}"

    def interval(self, interval: Interval) -> str:
        """Give an interval."""
        return between(interval) or self.null(interval.reason)

    def bootstrap(self, found: Bootstrap) -> str:
        """Give a bootstrap's interval; a note says so where some resamples gave no number."""
        shown = self.interval(found.interval)
        if not found.dropped or found.interval.low is None:
            return shown
        over = f"over the {found.resamples - found.dropped:,} of {found.resamples:,} resamples"
        return f"{shown} {self.mark(f'{over} that give a number')}"

    def estimate(self, value: Value, interval: Interval) -> str:
        """Give a value with its interval and its n."""
        if value.value is None:
            return self.null(value.reason)
        around = between(interval) or f"without interval {self.mark(str(interval.reason))}"
        return f"{value.value:.3f} (n={value.n:,}) {around}"

    def share(self, share: Share) -> str:
        """Give a count of n as a share."""
        if share.share.value is None:
            return self.null(share.share.reason)
        return f"{share.share.value:.3f} ({share.count:,} of {share.share.n:,})"


def listed(names: Sequence[str]) -> str:
    """Give names in a row, "none" where there are none."""
    return ", ".join(names) or "none"
