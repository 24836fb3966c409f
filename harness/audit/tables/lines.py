"""Columns that follow from the others of a table: averages, differences, gains, totals.

A table prints no formula. So one is tried after the other, and a figure is only contradicted where
more than half of its column, and at least three, follow a formula and it does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

from harness.audit.box import difference, mean, relative_gain, total, weighted_mean
from harness.audit.fields import MOST
from harness.audit.printed import Printed, Rounding, Span, printed
from harness.audit.tables.grid import Grid
from harness.audit.tables.weights import weights_exist

AVERAGE = re.compile(r"\b(?:avg|average|mean|macro|micro|overall)\b", re.IGNORECASE)
MACRO = re.compile(r"\bmacro\b", re.IGNORECASE)
DIFFERENCE = re.compile(
    r"[ΔΔδ]|\b(?:delta|diff|difference|gain|gap|drop|improvement|change)\b", re.IGNORECASE
)
TOTAL = re.compile(r"\b(?:total|sum|all)\b", re.IGNORECASE)
SIZE = re.compile(r"^(?:#|n|N|size|count|items|questions|samples|examples|# ?\w+|num\.? \w+)$")
OUTCOMES = re.compile(r"\b(?:wins?|ties?|tied|loss|losses|lose|draws?)\b", re.IGNORECASE)
FEWEST = 3
MOST_PAIRS = 400

Formula = Callable[[Sequence[Span]], Span | None]


@dataclass(frozen=True)
class Proposal:
    """A claim that a table makes: the keys of its check, and where its figure stands."""

    kind: str
    says: str
    place: str
    check: dict[str, Any]


@dataclass(frozen=True)
class Candidate:
    """A formula over some columns: its name, and the keys of the claim for the row's figures."""

    words: str
    columns: tuple[int, ...]
    formula: Formula
    claim: Callable[[list[Printed]], dict[str, Any]]


def derived(grid: Grid, direction: str) -> Iterator[Proposal]:
    """Yield a claim for every figure of every derived column; direction: "column" or "row"."""
    for column, name in enumerate(grid.columns):
        if AVERAGE.search(name):
            yield from _averages(grid, column, direction)
        elif DIFFERENCE.search(name):
            yield from _of_best(grid, column, _differences(grid, column), direction)
        elif TOTAL.search(name):
            yield from _of_best(grid, column, _totals(grid, column), direction)
    yield from _hundreds(grid)


def fits(published: Printed, figures: Sequence[Printed], formula: Formula) -> bool:
    """Tell whether a formula over printed figures can give a printed one."""
    for rounding in Rounding:
        span = formula([figure.span_under(rounding) for figure in figures])
        if span is not None and published.allows(span, rounding):
            return True
    return False


def figures_of(grid: Grid, row: int, columns: Sequence[int]) -> list[Printed] | None:
    """Return the figures of a row in these columns; None where one is missing."""
    cells = [grid.rows[row].cells[column] for column in columns]
    figures = [cell.figure for cell in cells if cell.figure is not None]
    return figures if len(figures) == len(columns) else None


def _averages(grid: Grid, column: int, direction: str) -> Iterator[Proposal]:
    """Yield the claims of an average column: plain, weighted by a column of sizes, or unknown."""
    name = grid.columns[column]
    candidates = list(_means(grid, column))
    if not candidates:
        return
    best = max(candidates, key=lambda candidate: len(_fitting(grid, column, candidate)))
    fitting = _fitting(grid, column, best)
    rows = _complete(grid, column, best)
    evident = _evident(fitting, rows)
    neighbour = "" if evident else _shifted(grid, column)
    if evident and len(fitting) < len(rows):
        evident = not _weighted_otherwise(grid, column)
    stated = bool(MACRO.search(name)) and _sizes(grid) is not None
    for row in rows:
        figures = figures_of(grid, row, best.columns)
        assert figures is not None
        check = best.claim(figures)
        if not (evident or neighbour or stated or row in fitting):
            check.pop("weights", None)
        remark = _remark(grid, row, column, best, fitting, rows, neighbour)
        yield _proposal(grid, row, column, direction, "average", f"{best.words}{remark}", check)
    yield from _of_those_printed(grid, column, best, direction)


def _of_those_printed(
    grid: Grid, column: int, best: Candidate, direction: str
) -> Iterator[Proposal]:
    """Yield the averages of rows in which a figure is missing, of the figures that are there."""
    for row in range(len(grid.rows)):
        cells = [grid.rows[row].cells[index] for index in best.columns]
        figures = [cell.figure for cell in cells if cell.figure is not None]
        label = grid.rows[row].label
        if grid.rows[row].cells[column].figure is None or _derived_name(label):
            continue
        if 2 <= len(figures) < len(cells):
            words = f"the mean of the {len(figures)} figures that are printed"
            check = _mean_claim(figures, None)
            yield _proposal(grid, row, column, direction, "average", words, check)


def _remark(
    grid: Grid,
    row: int,
    column: int,
    best: Candidate,
    fitting: list[int],
    rows: list[int],
    neighbour: str,
) -> str:
    """Say what else the figure could be: another row's average, or another column."""
    if row in fitting:
        return ""
    words = f", as in {len(fitting)} of {len(rows)}"
    if neighbour:
        return f"{words}; {neighbour} is the average in every row: are the headers shifted?"
    published = grid.rows[row].cells[column].figure
    for candidate_row in rows:
        figures = figures_of(grid, candidate_row, best.columns)
        if (
            published
            and figures
            and candidate_row != row
            and fits(published, figures, best.formula)
        ):
            return f"{words}; it would be the average of {grid.rows[candidate_row].label}"
    return words


def _means(grid: Grid, column: int) -> Iterator[Candidate]:
    """Yield the means that an average may be: of all columns, of those since the last average."""
    plain = [
        index
        for index, name in enumerate(grid.columns)
        if index != column and not _derived_name(name) and _numeric(grid, index)
    ]
    previous = max((i for i in range(column) if _derived_name(grid.columns[i])), default=-1)
    choices = [plain, [index for index in plain if previous < index < column]]
    choices += [[index for index in plain if index < column]]
    choices += [[index for index in plain if index > column]]
    for columns in dict.fromkeys(tuple(choice) for choice in choices):
        if len(columns) >= 2:
            words = f"the mean of {_listed(grid, columns)}"
            yield Candidate(words, columns, mean, lambda figures: _mean_claim(figures, "equal"))
            sizes = _sizes(grid)
            if sizes is not None and not MACRO.search(grid.columns[column]):
                yield _weighted(grid, columns, [sizes[index] for index in columns])


def _weighted(grid: Grid, columns: tuple[int, ...], weights: list[int]) -> Candidate:
    return Candidate(
        f"the mean of {_listed(grid, columns)}, weighted by their sizes",
        columns,
        lambda spans: weighted_mean(spans, weights),
        lambda figures: _mean_claim(figures, weights),
    )


def _mean_claim(figures: list[Printed], weights: object) -> dict[str, Any]:
    keys: dict[str, Any] = {"check": "mean_of", "parts": [figure.text for figure in figures]}
    return keys if weights is None else {**keys, "weights": weights}


def _sizes(grid: Grid) -> list[int] | None:
    """Return the counts of a row of sizes, by column; None where there is no such row."""
    for row in grid.rows:
        counts = [
            int(cell.figure.value)
            if cell.figure and cell.figure.places <= 0 and 0 < cell.figure.value <= MOST
            else 0
            for cell in row.cells
        ]
        if SIZE.match(row.label) and sum(map(bool, counts)) >= 2:
            return [count or 1 for count in counts]
    return None


def _differences(grid: Grid, column: int) -> Iterator[Candidate]:
    columns = [
        index
        for index, name in enumerate(grid.columns)
        if index != column and not DIFFERENCE.search(name) and _numeric(grid, index)
    ]
    for new, old in list(permutations(columns, 2))[:MOST_PAIRS]:
        names = grid.columns[new], grid.columns[old]
        yield Candidate(
            f"{names[0]} less {names[1]}",
            (new, old),
            lambda spans: difference(*spans),
            lambda figures: _arithmetic("a - b", figures),
        )
        yield Candidate(
            f"the gain of {names[0]} over {names[1]} in percent",
            (new, old),
            lambda spans: _percent(relative_gain(*spans)),
            lambda figures: _arithmetic("100 * (a - b) / b", figures),
        )


def _percent(gain: Span | None) -> Span | None:
    return None if gain is None else Span(100 * Fraction(gain.low), 100 * Fraction(gain.high))


def _arithmetic(expression: str, figures: list[Printed]) -> dict[str, Any]:
    inputs = {name: figure.text for name, figure in zip("ab", figures, strict=True)}
    return {"check": "arithmetic", "expression": expression, "inputs": inputs}


def _totals(grid: Grid, column: int) -> Iterator[Candidate]:
    plain = tuple(
        index
        for index, name in enumerate(grid.columns)
        if index != column and not _derived_name(name) and _numeric(grid, index)
    )
    if len(plain) >= 2:
        words = f"the sum of {_listed(grid, plain)}"
        yield Candidate(words, plain, total, _sum_claim)


def _sum_claim(figures: list[Printed]) -> dict[str, Any]:
    of_counts = all(figure.places <= 0 for figure in figures)
    keys = {"check": "sum_of", "parts": [figure.text for figure in figures]}
    return {**keys, "counts": True} if of_counts else keys


def _of_best(
    grid: Grid, column: int, candidates: Iterator[Candidate], direction: str
) -> Iterator[Proposal]:
    """Yield the claims of the formula that most rows fit, where it is evident."""
    ranked = sorted(candidates, key=lambda candidate: -len(_fitting(grid, column, candidate)))
    if not ranked:
        return
    best = ranked[0]
    fitting, rows = _fitting(grid, column, best), _complete(grid, column, best)
    if not _evident(fitting, rows):
        rows = fitting
    for row in rows:
        figures = figures_of(grid, row, best.columns)
        assert figures is not None
        remark = "" if row in fitting else f", as in {len(fitting)} of {len(rows)}"
        yield _proposal(
            grid, row, column, direction, "formula", best.words + remark, best.claim(figures)
        )


def _hundreds(grid: Grid) -> Iterator[Proposal]:
    """Yield the sums of win, tie and loss, where most rows make 100 of them."""
    columns = [index for index, name in enumerate(grid.columns) if OUTCOMES.search(name)]
    if len(columns) < 2:
        return
    rows = [row for row in range(len(grid.rows)) if figures_of(grid, row, columns)]
    sums = {row: figures_of(grid, row, columns) or [] for row in rows}
    places = max((figure.places for row in rows for figure in sums[row]), default=0)
    hundred = printed(f"{100:.{max(places, 0)}f}")
    fitting = [row for row in rows if fits(hundred, sums[row], total)]
    if not _evident(fitting, rows):
        return
    for row in rows:
        names = _listed(grid, columns)
        keys = {"check": "sum_of", "published": hundred.text, "parts": [f.text for f in sums[row]]}
        place = f"{grid.name}, {grid.rows[row].label}"
        yield Proposal("sum", f"{names} make 100, as in {len(fitting)} of {len(rows)}", place, keys)


def _proposal(
    grid: Grid, row: int, column: int, direction: str, kind: str, says: str, check: dict[str, Any]
) -> Proposal:
    figure = grid.rows[row].cells[column].figure
    assert figure is not None
    names = grid.rows[row].label, grid.columns[column]
    if direction == "row":
        names = names[1], names[0]
    place = f"{grid.name}, line {grid.rows[row].line}: {names[0]}, {names[1]}"
    return Proposal(kind, says, place, {**check, "published": figure.text})


def _fitting(grid: Grid, column: int, candidate: Candidate) -> list[int]:
    """Return the rows whose figure a formula gives."""
    matching = []
    for row in _complete(grid, column, candidate):
        figures = figures_of(grid, row, candidate.columns)
        published = grid.rows[row].cells[column].figure
        if figures and published and fits(published, figures, candidate.formula):
            matching.append(row)
    return matching


def _complete(grid: Grid, column: int, candidate: Candidate) -> list[int]:
    """Return the rows that print all that a formula needs, and are no average or size."""
    return [
        row
        for row in range(len(grid.rows))
        if figures_of(grid, row, (*candidate.columns, column))
        and not _derived_name(grid.rows[row].label)
        and not SIZE.match(grid.rows[row].label)
    ]


def _evident(fitting: Sequence[int], rows: Sequence[int]) -> bool:
    return len(fitting) >= FEWEST and 2 * len(fitting) > len(rows)


def _shifted(grid: Grid, column: int) -> str:
    """Name the column beside an average that is the plain mean of the rest in every row."""
    for beside in (column - 1, column + 1):
        if not 0 <= beside < len(grid.columns) or not _numeric(grid, beside):
            continue
        columns = tuple(
            index
            for index, name in enumerate(grid.columns)
            if index != beside
            and (index == column or not _derived_name(name))
            and _numeric(grid, index)
        )
        if len(columns) < 2:
            continue
        candidate = Candidate("", columns, mean, lambda figures: _mean_claim(figures, "equal"))
        rows = _complete(grid, beside, candidate)
        if len(rows) >= FEWEST and len(_fitting(grid, beside, candidate)) == len(rows):
            return "" if _weighted_otherwise(grid, column) else grid.columns[beside]
    return ""


def _weighted_otherwise(grid: Grid, column: int) -> bool:
    """Tell whether one set of weights, the same in all rows, gives the whole column."""
    columns = [
        index
        for index, name in enumerate(grid.columns)
        if index != column and not _derived_name(name) and _numeric(grid, index)
    ]
    rows = []
    for row in range(len(grid.rows)):
        figures = figures_of(grid, row, [*columns, column])
        label = grid.rows[row].label
        if figures and not _derived_name(label) and not SIZE.match(label):
            rows.append((figures[:-1], figures[-1]))
    return weights_exist(rows)


def _derived_name(name: str) -> bool:
    return any(pattern.search(name) for pattern in (AVERAGE, DIFFERENCE, TOTAL)) or bool(
        SIZE.match(name)
    )


def _numeric(grid: Grid, column: int) -> bool:
    figures = sum(row.cells[column].figure is not None for row in grid.rows)
    return figures * 2 >= len(grid.rows) and figures > 0


def _listed(grid: Grid, columns: Sequence[int]) -> str:
    names = [grid.columns[index] for index in columns]
    if len(names) > 4:
        return f"{names[0]} to {names[-1]} ({len(names)} figures)"
    return ", ".join(names)
