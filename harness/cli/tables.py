"""Tables on a terminal, and as Markdown."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from harness.results.table import Table
from harness.results.text_table import TextTable, markdown, text_table

LONGEST_LINES = (32, 24, 18)  # letters of a line in a cell, where there is not room for all
LONGEST_WORD = 48
NAME_LINES = (2, 3, 9)  # that a column's name takes, the fewest for which there is room
ANY_WIDTH = 100_000
GAP = 2  # blanks behind a column


def show_tables(tables: Iterable[Table]) -> None:
    """Print tables as wide as the terminal, or as wide as they are where there is none.

    A table that is wider goes on below, the columns that name a row repeated. Words in brackets are
    words, no markup.
    """
    console = _console()
    with console.capture() as capture:
        for table in tables:
            _show(console, text_table(table))
    _echo(capture.get())


def show_findings(sentences: Sequence[str], *, as_markdown: bool) -> None:
    """Print what a study found, a sentence a line; lines are broken at a terminal's width."""
    if not sentences:
        return
    if as_markdown:
        click.echo("\n".join(["### Findings", "", *(f"- {text}" for text in sentences), ""]))
        return
    console = _console()
    grid = Grid(box=None, show_header=False, padding=(0, 1, 0, 0))
    for text in sentences:
        grid.add_row("-", Text(text))
    with console.capture() as capture:
        console.print(Text("Findings", "bold"))
        console.print(grid)
    _echo(f"{capture.get()}\n")


def show_markdown(tables: Iterable[Table]) -> None:
    """Print tables as Markdown."""
    for table in tables:
        click.echo(markdown(text_table(table)))


def _echo(text: str) -> None:
    """Print lines without the blanks behind them."""
    click.echo("\n".join(line.rstrip() for line in text.split("\n")), nl=False)


def _console() -> Console:
    is_free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(width=ANY_WIDTH if is_free else None, highlight=False)


def _show(console: Console, table: TextTable) -> None:
    console.print(Text(table.title, "bold"))
    if table.about:
        console.print(Text(table.about))
    if table.rows:
        widths = _widths(table, console.width)
        for number, block in enumerate(_blocks(table, widths, console.width)):
            if number:
                console.print()
            console.print(_grid(table, block, widths))
    elif table.empty:
        console.print(Text(table.empty))
    if table.undefined:
        console.print(Text(table.undefined))
    for number, note in enumerate(table.notes, 1):
        console.print(Text(f"[{number}] {note}"))
    console.print()


def _widths(table: TextTable, width: int) -> list[int]:
    """Return how wide each column is, with the blanks behind it: so that all fit, if they can."""
    if width == ANY_WIDTH:
        return _widths_for(table, ANY_WIDTH, 1)
    for longest, lines in itertools.product(LONGEST_LINES, NAME_LINES):
        widths = _widths_for(table, longest, lines)
        if sum(widths) <= width:
            return widths
    return _widths_for(table, LONGEST_LINES[1], NAME_LINES[1])


def _widths_for(table: TextTable, longest: int, lines: int) -> list[int]:
    """Return the columns' widths where cells have lines so long at most, and names so many."""
    return [
        max(_cells_width(table, place, longest), _name_width(column.name, lines)) + GAP
        for place, column in enumerate(table.columns)
    ]


def _cells_width(table: TextTable, place: int, longest: int) -> int:
    """Return how wide a column's cells are; words stay whole, and so do numbers."""
    cells = [row[place] for row in table.rows]
    unbroken = (
        cells if table.columns[place].is_number else [w for cell in cells for w in cell.split()]
    )
    words = min(max(map(cell_len, unbroken), default=0), LONGEST_WORD)
    return max(words, min(max(map(cell_len, cells)), longest))


def _name_width(name: str, lines: int) -> int:
    """Return how wide a column must be for its name to take so many lines, its words whole."""
    widest = max(map(cell_len, name.split()), default=0)
    widths = range(widest, cell_len(name) + 1)
    return next((width for width in widths if len(wrap(name, width)) <= lines), widest)


def _blocks(table: TextTable, widths: Sequence[int], width: int) -> Iterator[list[int]]:
    """Yield the columns that fit beside each other, those that name a row in every block."""
    names = _naming(table, widths, width)
    block = list(names)
    for place in range(len(names), len(widths)):
        if sum(widths[column] for column in [*block, place]) > width and len(block) > len(names):
            yield block
            block = list(names)
        block.append(place)
    yield block


def _naming(table: TextTable, widths: Sequence[int], width: int) -> range:
    """Return the first columns that tell the rows apart, as far as another has room beside them."""
    for count in range(1, len(widths)):
        if sum(widths[: count + 1]) > width:
            return range(max(1, count - 1))
        if len({tuple(row[:count]) for row in table.rows}) == len(table.rows):
            return range(count)
    return range(1)


def _grid(table: TextTable, block: Sequence[int], widths: Sequence[int]) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for place in block:
        name, is_number = table.columns[place]
        grid.add_column(
            Text(name),
            justify="right" if is_number else "left",
            width=widths[place] - GAP,
            overflow="fold",
        )
    for row in table.rows:
        grid.add_row(*(Text(row[place]) for place in block))
    return grid
