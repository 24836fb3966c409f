"""harness diff: what changed from one recording to another."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.group import EXIT_CODES, ROOT, VERIFY, main, open_study, told


@main.command(epilog=EXIT_CODES, short_help="Say what changed between two recordings.")
@click.argument("before")
@click.argument("after")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
@VERIFY
@ROOT
@told
def diff(before: str, after: str, as_json: bool, verify: bool, root: Path | None) -> None:
    """Compare two recordings of one study, or two studies with cells of the same names.

    BEFORE and AFTER are names, folders, or bundles of `harness pack`. What is compared are the
    cells that both have: settings, texts, models, words, scores, and metrics with the interval of
    their change; where a protocol sorts models into classes, which part of a metric changed the
    class. Exit code 0 whatever differs.
    """
    from harness.cli.tables import show_tables
    from harness.diff.tables import tables
    from harness.results import canonical

    changes = open_study(before, root).diff(open_study(after, root), verify=verify)
    if as_json:
        click.echo(canonical(changes).decode(), nl=False)
        return
    click.echo(
        f"{changes.cells} cells compared; {len(changes.only_before)} in {changes.before} only, "
        f"{len(changes.only_after)} in {changes.after} only. "
        "A change is the second less the first. "
        f"{changes.before}: {changes.verification[0]}; {changes.after}: {changes.verification[1]}."
    )
    show_tables(tables(changes))
