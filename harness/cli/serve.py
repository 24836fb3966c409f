"""harness serve, harness finish: recordings of programs that are started elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.group import EXIT_CODES, main, told


@main.command(epilog=EXIT_CODES, short_help="Make a cassette of a journal that was left.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@told
def finish(file: Path) -> None:
    """Make the cassette FILE of the journal beside it, which a killed program has left.

    Nothing is sent. A cell of a study is not finished so: `harness record` goes on with it.
    """
    from harness.recording.recorder import finish as finish_cassette

    click.echo(f"{file}: {finish_cassette(file)} calls")
