"""How few are too few for a statistic over a study's subjects, targets or concepts."""

from __future__ import annotations

FEWEST = 4


def too_few(n: int, what: str = "subjects") -> str | None:
    """Return the reason why a study-level statistic over n of something is undefined, if it is."""
    return f"{n} {what}, at least {FEWEST} are needed" if n < FEWEST else None
