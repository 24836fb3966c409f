"""Tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

import rich.table
from rich.console import Console
from rich.text import Text

from harness.results.table import Table


def show_tables(tables: Iterable[Table]) -> None:
    """Print tables, as wide as the terminal is; words in brackets are words, no markup."""
    console = Console(soft_wrap=False)
    for table in tables:
        shown = rich.table.Table(title=Text(table.title, "table.title"), title_justify="left")
        for number, column in enumerate(table.columns):
            shown.add_column(
                Text(column), justify="left" if number == 0 else "right", overflow="fold"
            )
        for row in table.rows:
            shown.add_row(*map(Text, row))
        console.print(shown)
