"""harness ls, harness show, harness import: what is recorded, and what others recorded."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.group import EXIT_CODES, ROOT, VERIFY, main, open_study, told


@main.command("ls", epilog=EXIT_CODES)
@ROOT
@told
def list_studies(root: Path | None) -> None:
    """List the studies: protocol, finished cells, fingerprint."""
    from harness.run.look import describe
    from harness.study.folder import all_studies

    for study in all_studies(root):
        click.echo(describe(study))


@main.command(epilog=EXIT_CODES, short_help="Show a recorded call, or list cells and calls.")
@click.argument("study")
@click.argument("call", required=False)
@VERIFY
@ROOT
@told
def show(study: str, call: str | None, verify: bool, root: Path | None) -> None:
    """Show one recorded CALL of STUDY ("CELL:turn-4/subject"), or list cells or a cell's calls."""
    from harness.run.checked import VERIFIED

    opened = open_study(study, root)
    words, verification = opened.show(call or "", verify=verify)
    if verification != VERIFIED:
        click.echo(f"{opened.name}: {verification}", err=True)
    click.echo(words)


@main.command("import", epilog=EXIT_CODES, short_help="Take in vcrpy cassettes.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The cassette to write (default: beside the file, ending in .cassette.json).",
)
@click.option(
    "--key-env",
    multiple=True,
    metavar="VARIABLE",
    help="An environment variable whose value must appear nowhere in the cassette.",
)
@told
def import_files(files: tuple[Path, ...], out: Path | None, key_env: tuple[str, ...]) -> None:
    """Take in vcrpy cassettes (YAML or JSON) as cassettes of this harness."""
    from harness.run.look import import_cassette

    if out and len(files) > 1:
        raise click.UsageError("--out goes with one file")
    for path in files:
        target = out or path.with_suffix(".cassette.json")
        click.echo(f"{target}: {import_cassette(path, target, key_env)} calls")
