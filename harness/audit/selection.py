"""Which numbers of a table a claim is about, and what they may have been before rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.audit.dataset import Dataset, Row, number
from harness.audit.fields import Column, FromData, Where
from harness.audit.printed import MOST_DIGITS, Span, point, printed, reach
from harness.audit.verdicts import CheckOutcome, unchecked
from harness.errors import UsageError
from harness.stats.columns import mean
from harness.stats.correlation import Partial, partial_correlation

PASSES = 20

Unit = tuple[str, ...]
Numbers = list[list[float]]
Statistic = Callable[[Numbers], float | None]


class RoundedCell(NamedTuple):
    """A number, and the least and most that it may have been before it was rounded."""

    value: float
    low: float
    high: float


def selected(dataset: Dataset, selection: FromData) -> list[list[RoundedCell]]:
    """Return the columns that a claim names, over the units that have a number in all of them."""
    columns = [
        {unit: _mean(cells) for unit, cells in grouped(dataset, selection, column).items()}
        for column in selection.columns
    ]
    units = [unit for unit in columns[0] if all(unit in column for column in columns)]
    return [[column[unit] for unit in units] for column in columns]


def grouped(dataset: Dataset, selection: FromData, column: Column) -> dict[Unit, list[RoundedCell]]:
    """Return the numbers of a column by unit; holes are left out, and units of holes alone."""
    minuends = _by_unit(dataset, selection, column, column.where)
    if not column.minus:
        return minuends
    subtrahends = _by_unit(dataset, selection, column, column.minus)
    return {
        unit: [_difference(_mean(cells), _mean(subtrahends[unit]))]
        for unit, cells in minuends.items()
        if unit in subtrahends
    }


def needs_data(selection: FromData) -> CheckOutcome:
    """Say which columns a claim needs, where there are no data."""
    names = dict.fromkeys(column.of for column in selection.columns)
    return unchecked(f"needs data with the columns {', '.join(names)} (--data)")


def correlated(columns: Numbers, method: str) -> Partial:
    """Correlate two columns, "pearson" or "spearman", without enumerating all pairings.

    That is a partial correlation with nothing held fixed; p is by t with df = n - 2.
    """
    x, y = columns
    return partial_correlation(x, y, [], method)


def plain(columns: Sequence[Sequence[RoundedCell]]) -> Numbers:
    """Return the numbers as they stand in the data."""
    return [[cell.value for cell in column] for column in columns]


def over_rounding(statistic: Statistic, columns: Sequence[Sequence[RoundedCell]]) -> Span | None:
    """Return the least and the most that a statistic can be over the rounding of its numbers.

    None where it is undefined for the numbers as they stand.
    """
    ends = [statistic(extreme(statistic, columns, sign)) for sign in (-1, 1)]
    return reach(ends, statistic(plain(columns)))


def extreme(statistic: Statistic, columns: Sequence[Sequence[RoundedCell]], sign: int) -> Numbers:
    """Move each number, within its rounding, so that the statistic falls (-1) or rises (1) most.

    One number at a time until none moves: exact for means, and for correlations as far as they
    are monotone in each number over so small a range.
    """
    chosen = plain(columns)
    loose = [(c, r) for c, col in enumerate(columns) for r, cell in enumerate(col) if _loose(cell)]
    best = statistic(chosen)
    for _ in range(PASSES):
        before = best
        for c, r in loose:
            best = _better(statistic, chosen, (c, r), columns[c][r], best, sign)
        if best == before:
            break
    return chosen


def _better(
    statistic: Statistic,
    chosen: Numbers,
    place: tuple[int, int],
    cell: RoundedCell,
    best: float | None,
    sign: int,
) -> float | None:
    column, row = place
    for value in (cell.low, cell.high):
        previous, chosen[column][row] = chosen[column][row], value
        score = statistic(chosen)
        if score is not None and (best is None or sign * score > sign * best):
            best = score
        else:
            chosen[column][row] = previous
    return best


def _loose(cell: RoundedCell) -> bool:
    return cell.low < cell.high


def _by_unit(
    dataset: Dataset, selection: FromData, column: Column, where: Where
) -> dict[Unit, list[RoundedCell]]:
    for name in (column.of, *selection.per, *selection.where, *selection.without, *where):
        dataset.has(name)
    conditions = {**selection.where, **where}
    rows = [(place, row) for place, row in enumerate(dataset.rows) if _fits(row, conditions)]
    if selection.without:
        rows = [(place, row) for place, row in rows if not _fits(row, selection.without)]
    if not rows:
        raise UsageError(f"no row of {dataset.source} has {conditions}")
    rounded, cells = column.of in dataset.rounded, dict[Unit, list[RoundedCell]]()
    for place, row in rows:
        unit = tuple(row[name] for name in selection.per) or (str(place),)
        if row[column.of]:
            cells.setdefault(unit, []).append(_cell(row[column.of], column, rounded))
    return cells


def _fits(row: Row, where: Where) -> bool:
    return all(
        row[name] == text or (number(text) is not None and number(row[name]) == number(text))
        for name, text in where.items()
    )


def _cell(text: str, column: Column, rounded: bool) -> RoundedCell:
    value = number(text)
    if value is None:
        raise UsageError(
            f"{text[:80]!r} in the column {column.of!r} is no number, or none below "
            f"1e{MOST_DIGITS}; a hole is empty"
        )
    span = printed(text).span if rounded else point(value)
    cell = RoundedCell(value, float(span.low), float(span.high))
    if not column.log10:
        return cell
    if cell.low <= 0:
        raise UsageError(f"{text!r} in the column {column.of!r} has no logarithm")
    return RoundedCell(*map(math.log10, cell))


def _mean(cells: Sequence[RoundedCell]) -> RoundedCell:
    return RoundedCell(*(mean(values) for values in zip(*cells, strict=True)))


def _difference(minuend: RoundedCell, subtrahend: RoundedCell) -> RoundedCell:
    return RoundedCell(
        minuend.value - subtrahend.value,
        minuend.low - subtrahend.high,
        minuend.high - subtrahend.low,
    )
