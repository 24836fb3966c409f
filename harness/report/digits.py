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
    """The reasons of a table's undefined values, each numbered and said once under the table."""

    def __init__(self) -> None:
        self._reasons: list[str] = []

    @property
    def reasons(self) -> list[str]:
        """Give the reasons in the order of their numbers."""
        return list(self._reasons)

    def null(self, reason: str | None) -> str:
        """Give the mark of an undefined value: "null" and the number of its reason."""
        reason = reason or "no reason is given"
        if reason not in self._reasons:
            self._reasons.append(reason)
        return f"{NULL} [{self._reasons.index(reason) + 1}]"

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
        """Give a bootstrap's interval, and how many resamples it is over where not all count."""
        shown = self.interval(found.interval)
        if not found.dropped or found.interval.low is None:
            return shown
        return f"{shown} of {found.resamples - found.dropped:,} in {found.resamples:,} resamples"

    def estimate(self, value: Value, interval: Interval) -> str:
        """Give a value with its interval and its n; the reason of a missing interval too."""
        if value.value is None:
            return self.null(value.reason)
        return f"{value.value:.3f} {self.interval(interval)} (n={value.n:,})"

    def share(self, share: Share) -> str:
        """Give a count of n as a share."""
        if share.share.value is None:
            return self.null(share.share.reason)
        return f"{share.share.value:.3f} ({share.count:,} of {share.share.n:,})"


def listed(names: Sequence[str]) -> str:
    """Give names in a row, "none" where there are none."""
    return ", ".join(names) or "none"
