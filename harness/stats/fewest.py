"""How few are too few for a statistic over a study's subjects, targets or concepts."""

from __future__ import annotations

from harness.results import Interval

FEWEST = 4


def too_few(n: int, what: str = "subjects") -> str | None:
    """Return the reason why a study-level statistic over n of something is undefined, if it is."""
    return f"{n} {what}, at least {FEWEST} are needed" if n < FEWEST else None


def where_enough(interval: Interval, n: int, what: str) -> Interval:
    """Return an interval, or an undefined one with the reason where n of something are too few."""
    reason = too_few(n, what)
    return Interval(None, None, reason=reason) if reason else interval
