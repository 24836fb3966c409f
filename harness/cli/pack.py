"""harness pack: a study as one file for its reviewers."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.group import EXIT_CODES, ROOT, OutFile, main, open_study, told


@main.command(epilog=EXIT_CODES, short_help="Make one file of a study, for its reviewers.")
@click.argument("study")
@click.option(
    "--out",
    "-o",
    required=True,
    type=OutFile(),
    help="The bundle to write, ending in .tar.zst.",
)
@click.option(
    "--sample",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Pack about this share of the cells, as a study of its own.",
)
@click.option(
    "--drop-bodies", is_flag=True, help="Leave out passages whose licence is not known to be open."
)
@click.option(
    "--drop",
    "drop_models",
    multiple=True,
    metavar="MODEL",
    help="Leave out the answers of this model, and all requests of the cells it spoke in. The "
    "answers of other models stay and may quote it.",
)
@click.option(
    "--key-env",
    multiple=True,
    metavar="VARIABLE",
    help="One more environment variable whose value must not be inside.",
)
@click.option(
    "--no-key", multiple=True, metavar="TEXT", help="This text looks like a key and is none."
)
@ROOT
@told
def pack(
    study: str,
    out: Path,
    sample: float | None,
    drop_bodies: bool,
    drop_models: tuple[str, ...],
    key_env: tuple[str, ...],
    no_key: tuple[str, ...],
    root: Path | None,
) -> None:
    """Pack STUDY with its results, manifests, versions and papers; `harness replay` takes the file.

    The same study gives the same bytes. A study that does not replay, or that holds a key or what
    looks like one, is not packed.
    """
    from harness.bundle.pack import Wishes

    wishes = Wishes(sample, drop_bodies, drop_models, key_env, no_key)
    done = open_study(study, root).pack(out, wishes)
    for cell, bodies in sorted(done.left_out.cells.items()):
        click.echo(f"{cell}: {bodies} bodies left out; this cell no longer replays")
    if drop_models:
        click.echo(f"the answers of other models stay, and may quote {', '.join(drop_models)}")
    for words in done.left_out.same_words:
        click.echo(f"note: {words}")
    click.echo(f"{out}: {done.study}, {done.files} files, {done.size} bytes, SHA-256 {done.sha256}")
    click.echo(f"fingerprint {done.verdict.fingerprint}; try it: harness replay {out}")
