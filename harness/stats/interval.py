"""An interval: two bounds at a confidence level, or the reason why there are none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A lower and an upper bound; both are None, with the reason, or neither is."""

    low: float | None
    high: float | None
    level: float = 0.95
    reason: str | None = None

    @property
    def half_width(self) -> float | None:
        """Give half the distance between the bounds; None where there are none."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2
