"""How far a recording is: one moving line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from harness.run.tally import Tally


@contextmanager
def progress(tally: Tally) -> Iterator[None]:
    """Show how far a recording is: one moving line on a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        tally.changed, tally.noted = _plainprogress(), _noted
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        total = max(1, (tally.planned - tally.finished) * tally.calls_a_cell)
        task = progress.add_task(_words(tally), total=total)

        def changed(tally_now: Tally) -> None:
            progress.update(task, completed=tally_now.calls, description=_words(tally_now))

        tally.changed, tally.noted = changed, _noted_above(progress.console)
        yield


def _noted(words: str) -> None:
    click.echo(f"note: {words}", err=True)


def _noted_above(console: Console) -> Callable[[str], None]:
    return lambda words: console.print(f"note: {words}", markup=False, highlight=False)


def _plainprogress() -> Callable[[Tally], None]:
    last_step = -1

    def changed(tally: Tally) -> None:
        nonlocal last_step
        step = tally.calls // tally.calls_a_cell + tally.finished
        if step != last_step:
            last_step = step
            click.echo(_words(tally), err=True)

    return changed


def _words(tally: Tally) -> str:
    seconds = tally.seconds_left
    ends = "" if seconds is None else f", about {seconds / 60:.0f} min left"
    from harness.results.answers import judged_words

    judged = f", {words}" if (words := judged_words(tally.judged_answers)) else ""
    return (
        f"cells {tally.finished}/{tally.planned}, calls {tally.calls}, retries "
        f"{tally.retries}, missing judgements {tally.missing}, missing answers "
        f"{tally.missing_answers.total()}{judged}{ends}"
    )
