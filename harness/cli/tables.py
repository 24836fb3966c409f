"""Tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

import rich.table
from rich.console import Console

from harness.results.table import Table


def show_tables(tables: Iterable[Table]) -> None:
    """Print tables, as wide as the terminal is."""
    console = Console(soft_wrap=False)
    for table in tables:
        shown = rich.table.Table(title=table.title, title_justify="left")
        for number, column in enumerate(table.columns):
            shown.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)
