"""harness export: a study's data for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.group import EXIT_CODES, ROOT, VERIFY, OutFile, main, open_study, told

RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")


@main.command(epilog=EXIT_CODES, short_help="Write a study's data for other programs.")
@click.argument("study")
@click.option(
    "--format", "kind", required=True, type=click.Choice(["csv", "parquet", "eee"]), help="As what."
)
@click.option(
    "--out",
    "-o",
    required=True,
    type=OutFile(dir_okay=True),
    help="The file or folder to write.",
)
@click.option("--organization", default="unknown", help="eee: who hands the records out.")
@click.option(
    "--relationship",
    type=click.Choice(RELATIONSHIPS),
    default="other",
    show_default=True,
    help="eee: and how that is related to the models' makers.",
)
@VERIFY
@ROOT
@told
def export(
    study: str,
    kind: str,
    out: Path,
    organization: str,
    relationship: str,
    verify: bool,
    root: Path | None,
) -> None:
    """Replay STUDY without a network and write its data.

    \b
    csv      OUT.csv: a row a judgement or probe; OUT/: that as rows.csv, and every table
             (each number with its n, low, high and reason as columns beside it;
             harness audit CLAIMS --data OUT/TABLE.csv reads them)
    parquet  the same rows in one file; needs pip install 'harness[parquet]'
    eee      OUT/data/PROTOCOL/DEVELOPER/MODEL/UUID.json: records of Every Eval Ever
    """
    from harness.export.every_eval_ever import Publisher

    publisher = Publisher(organization, relationship)
    opened = open_study(study, root)
    for path in opened.export(kind, out, publisher, verify=verify):
        click.echo(f"written: {path}")
    analysis = opened.analyze(verify=verify)
    if not analysis.is_verified:
        click.echo(f"{opened.name}: {analysis.verification}", err=True)
