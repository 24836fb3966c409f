"""Tables on a terminal, and as Markdown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from harness.results.table import Table
from harness.results.text_table import TextTable, markdown, text_table

LONGEST = 32  # letters of a line in a cell, where a terminal has not room for all
LONGEST_WORD = 48
ANY_WIDTH = 100_000
GAP = 2  # blanks behind a column


def show_tables(tables: Iterable[Table]) -> None:
    """Print tables as wide as the terminal, or as wide as they are where there is none.

    A table that is wider goes on below, its first column repeated. Words in brackets are words, no
    markup.
    """
    is_free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    console = Console(width=ANY_WIDTH if is_free else None, highlight=False)
    for table in tables:
        _show(console, text_table(table), [column.kind is str for column in table.columns])


def show_markdown(tables: Iterable[Table]) -> None:
    """Print tables as Markdown."""
    for table in tables:
        click.echo(markdown(text_table(table)))


def _show(console: Console, table: TextTable, is_text: Sequence[bool]) -> None:
    console.print(Text(table.title, "bold"))
    if table.about:
        console.print(Text(table.about))
    if table.rows:
        for number, block in enumerate(_blocks(table, console.width)):
            if number:
                console.print()
            console.print(_grid(table, block, is_text, console.width))
    elif not table.about:
        console.print(Text("None."))
    for number, note in enumerate(table.notes, 1):
        console.print(Text(f"[{number}] {note}"))
    console.print()


def _blocks(table: TextTable, width: int) -> Iterator[list[int]]:
    """Yield the columns that fit beside each other, by place, the first one in every block."""
    first = _width(table, 0, width)
    block, used = [0], first
    for place in range(1, len(table.columns)):
        needed = _width(table, place, width)
        if used + needed > width and len(block) > 1:
            yield block
            block, used = [0], first
        block.append(place)
        used += needed
    yield block


def _width(table: TextTable, place: int, width: int) -> int:
    """Return how wide a column is, with the blanks behind it."""
    cells = [row[place] for row in table.rows]
    texts = [table.columns[place], *cells]
    words = max(cell_len(word) for text in texts for word in text.split() or [""])
    lines = max(map(cell_len, cells))
    if width == ANY_WIDTH:
        return max(words, lines) + GAP
    return max(min(words, LONGEST_WORD), min(lines, LONGEST)) + GAP


def _grid(table: TextTable, block: Sequence[int], is_text: Sequence[bool], width: int) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for place in block:
        grid.add_column(
            Text(table.columns[place]),
            justify="left" if is_text[place] else "right",
            width=_width(table, place, width) - GAP,
            overflow="fold",
        )
    for row in table.rows:
        grid.add_row(*(Text(row[place]) for place in block))
    return grid
