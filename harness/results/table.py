"""A table as a protocol hands it over, for whoever shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.results.answers import KINDS, AnswerCounts, words_of
from harness.results.shared import Interval, Value


class Table(NamedTuple):
    """A title, the columns' names, and rows of as many texts."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def answers_table(counts: AnswerCounts) -> list[Table]:
    """Return the table of missing answers by model and kind; none where none is missing."""
    if not counts.whole.missing:
        return []
    kinds = [kind for kind in KINDS if counts.whole.missing_kinds.get(kind)]
    others = sorted(set(counts.whole.missing_kinds) - set(kinds))
    rows = [
        [
            part.of,
            f"{part.missing} of {part.answers}",
            f"{part.share:.1%}",
            *(str(part.missing_kinds.get(kind, 0)) for kind in [*kinds, *others]),
        ]
        for part in counts.models
    ]
    columns = ("model", "missing", "share", *map(words_of, [*kinds, *others]))
    return [Table("Missing answers", columns, rows)]


def number(value: Value) -> str:
    """Give a value as a table shows it: with its n, or why there is none."""
    if value.value is None:
        return f"null ({value.reason})"
    return f"{value.value:.3f} (n={value.n})"


def between(interval: Interval) -> str:
    """Give an interval as a table shows it: its bounds, or why there are none."""
    if interval.low is None or interval.high is None:
        return f"null ({interval.reason})"
    return f"[{interval.low:.3f}, {interval.high:.3f}]"
