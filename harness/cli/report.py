"""harness report: a study as one page, to be read, sent and archived."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.cli.group import EXIT_CODES, ROOT, VERIFY, OutFile, main, open_studies, told


@main.command(epilog=EXIT_CODES, short_help="Show studies as one self-contained HTML page.")
@click.argument("studies", nargs=-1)
@click.option(
    "--out",
    "-o",
    required=True,
    type=OutFile(),
    help="The HTML file to write; one that is there is replaced.",
)
@click.option(
    "--png",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write the figures here too, as PNG.",
)
@VERIFY
@ROOT
@told
def report(
    studies: tuple[str, ...], out: Path, png: Path | None, verify: bool, root: Path | None
) -> None:
    """Replay STUDIES without a network and write one page about them.

    It opens from a file, loads nothing, and says on top what the replay came to. Without arguments:
    every study under cassettes/ that is recorded to its end. In the repository's root the page's
    links to the cassettes work.
    """
    from harness.report.write import write_report

    opened = [study.study for study in open_studies(studies, root)]
    outcome = write_report(opened, out, png, verify=verify)
    for verdict in outcome.verdicts:
        for problem in verdict.problems:
            click.echo(f"{verdict.study}: {problem}\n", err=True)
        click.echo(verdict.line)
    for path in outcome.files:
        click.echo(f"written: {path} ({path.stat().st_size / 1e6:.1f} MB)")
    sys.exit(max(verdict.exit_code for verdict in outcome.verdicts))
