"""What single cells of a table claim: marks, counts, intervals, shares of n."""

from __future__ import annotations

from collections.abc import Iterator

from harness.audit.tables.grid import Grid, TableCell, TableRow
from harness.audit.tables.lines import DIFFERENCE, SIZE, Proposal

ARROWS = {"↑": "higher", "↓": "lower"}


def of_cells(grid: Grid, n: int | None) -> Iterator[Proposal]:
    """Yield the claims of single cells; n: of how many all percentages of the table are."""
    for row in grid.rows:
        for column, cell in enumerate(row.cells):
            place = f"{grid.name}, line {row.line}: {row.label}, {grid.columns[column]}"
            yield from _of_counts(cell, place)
            yield from _of_interval(cell, place)
            if n is not None and not SIZE.match(grid.columns[column]):
                yield from _of_share(cell, n, place)
    yield from _of_count_columns(grid)
    for place_of in (1, 2):
        yield from _of_marks(grid, place_of)


def _of_counts(cell: TableCell, place: str) -> Iterator[Proposal]:
    if cell.counts is None or cell.figure is None or cell.counts[1] == 0:
        return
    yield _share_claim(cell.counts, cell, place)


def _share_claim(counts: tuple[int, int], cell: TableCell, place: str) -> Proposal:
    k, n = counts
    assert cell.figure is not None
    percent = "100 * " if cell.figure.value > 1 or "%" in cell.text else ""
    keys = {
        "check": "arithmetic",
        "published": cell.figure.text,
        "expression": f"{percent}{k} / {n}",
        "counts": True,
    }
    return Proposal("share", f"{k} of {n}", place, keys)


def _of_count_columns(grid: Grid) -> Iterator[Proposal]:
    """Yield the shares that stand in the column behind one of counts without shares."""
    for column in range(len(grid.columns) - 1):
        rows = [row for row in grid.rows if _bare_counts(row, column)]
        holding = [row for row in rows if _holds(row, column)]
        if len(holding) < 3 or 2 * len(holding) <= len(rows):
            continue
        for row in rows:
            counts, cell = row.cells[column].counts, row.cells[column + 1]
            assert counts is not None
            names = f"{row.label}, {grid.columns[column + 1]}"
            yield _share_claim(counts, cell, f"{grid.name}, line {row.line}: {names}")


def _bare_counts(row: TableRow, column: int) -> bool:
    cell, share = row.cells[column], row.cells[column + 1]
    plain = cell.counts is not None and cell.counts[1] > 0 and cell.figure is None
    return plain and share.figure is not None and share.counts is None


def _holds(row: TableRow, column: int) -> bool:
    counts, figure = row.cells[column].counts, row.cells[column + 1].figure
    assert counts is not None
    assert figure is not None
    share = float(figure.value) / (100 if figure.value > 1 else 1)
    return abs(counts[0] / counts[1] - share) < 0.01


def _of_interval(cell: TableCell, place: str) -> Iterator[Proposal]:
    if cell.interval is None or cell.figure is None:
        return
    low, high = cell.interval
    inputs = {"estimate": cell.figure.text}
    for end, name, expression in (
        (low, "low", "estimate - low"),
        (high, "high", "high - estimate"),
    ):
        keys = {
            "check": "arithmetic",
            "published": ">= 0",
            "expression": expression,
            "inputs": {**inputs, name: end.text},
        }
        words = f"{cell.figure.text} is inside its interval, {low.text} to {high.text}"
        yield Proposal("interval", words, place, keys)


def _of_share(cell: TableCell, n: int, place: str) -> Iterator[Proposal]:
    if cell.figure is None or not 0 <= cell.figure.value <= 100 or cell.figure.places < 1:
        return
    keys = {"check": "granularity", "published": cell.figure.text, "n": n, "percent": True}
    yield Proposal("granularity", f"a percentage of {n}", place, keys)


def _of_marks(grid: Grid, place_of: int) -> Iterator[Proposal]:
    """Yield the marked figures as the best (bold) or the second (underlined) of their groups."""
    rows = [
        row
        for row in grid.rows
        if not _all_marked(row, place_of) and not DIFFERENCE.search(row.label)
    ]
    by_row = _marks_are_of_rows(rows, place_of)
    competing = _without_references(rows)
    for row in rows:
        for column, cell in enumerate(row.cells):
            if cell.figure is None or not _marked(cell, place_of):
                continue
            same = [rival for rival in rows if rival.block == row.block]
            among = {
                "column": _figures(rows, row, column, place_of),
                "block": _figures(same, row, column, place_of),
                "row": [neighbour.figure.text for neighbour in row.cells if neighbour.figure]
                if by_row
                else [],
            }
            among = {name: figures for name, figures in among.items() if len(figures) > 1}
            if not among:
                continue
            better = [word for arrow, word in ARROWS.items() if arrow in grid.columns[column]]
            keys = {
                "check": "marked",
                "published": cell.figure.text,
                "place_of": place_of,
                "among": among,
                "without": _figures(competing, row, column, place_of),
                **({"better": better[0]} if len(better) == 1 else {}),
            }
            word = "bold" if place_of == 1 else "underlined"
            place = f"{grid.name}, line {row.line}: {row.label}, {grid.columns[column]}"
            yield Proposal(
                "marked", f"{word}, so the {'best' if place_of == 1 else 'second'}", place, keys
            )


def _without_references(rows: list[TableRow]) -> list[TableRow]:
    """Leave out the rows without any mark at the top and at the bottom.

    There stand references that do not compete: people, an oracle, a model of another size.
    """
    marked = [
        number
        for number, row in enumerate(rows)
        if any(cell.bold or cell.underlined for cell in row.cells)
    ]
    return rows[marked[0] : marked[-1] + 1] if marked else []


def _marks_are_of_rows(rows: list[TableRow], place_of: int) -> bool:
    """Tell whether a mark may mean the best of its row.

    One table marks in one way: the best of rows only where that explains as many marks as the best
    of columns or blocks does, or two marks that these do not explain.
    """
    of_row = of_column = only_row = 0
    for row in rows:
        for column, cell in enumerate(row.cells):
            if cell.figure is None or not _marked(cell, place_of):
                continue
            same = [rival for rival in rows if rival.block == row.block]
            in_row = _is_extreme(cell, list(row.cells), place_of)
            in_column = any(
                _is_extreme(cell, [rival.cells[column] for rival in group], place_of)
                for group in (rows, same)
            )
            of_row += in_row
            of_column += in_column
            only_row += in_row and not in_column
    return of_row >= of_column or only_row >= 2


def _is_extreme(cell: TableCell, cells: list[TableCell], place_of: int) -> bool:
    assert cell.figure is not None
    values = {cell_beside.figure.value for cell_beside in cells if cell_beside.figure is not None}
    above = sum(value > cell.figure.value for value in values)
    return min(above, len(values) - 1 - above) < place_of


def _figures(rows: list[TableRow], marked_row: TableRow, column: int, place_of: int) -> list[str]:
    """Return the figures that a marked one competes with: its own, and those not marked so."""
    return [
        figure.text
        for row in rows
        if (figure := row.cells[column].figure) is not None
        and (row is marked_row or not _marked(row.cells[column], place_of))
    ]


def _marked(cell: TableCell, place_of: int) -> bool:
    return cell.bold if place_of == 1 else cell.underlined and not cell.bold


def _all_marked(row: TableRow, place_of: int) -> bool:
    figures = [cell for cell in row.cells if cell.figure is not None]
    return len(figures) > 1 and all(_marked(cell, place_of) for cell in figures)
