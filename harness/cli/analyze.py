"""harness analyze: the study-level analysis as tables, as JSON, and its data as CSV."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.group import EXIT_CODES, ROOT, main, told


@main.command(epilog=EXIT_CODES, short_help="Show what a study says as a whole.")
@click.argument("study")
@click.option("--json", "as_json", is_flag=True, help="Print the analysis as JSON.")
@click.option(
    "--csv",
    "csv_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the turn-level data here, one row a judgement.",
)
@ROOT
@told
def analyze(study: str, as_json: bool, csv_path: Path | None, root: Path | None) -> None:
    """Replay STUDY without a network and show its study-level analysis."""
    from harness.cli.tables import show_analysis
    from harness.results import canonical
    from harness.run.analysis import offline_results, write_judgements
    from harness.study import find_study

    found_study = find_study(study, root)
    found = offline_results(found_study)
    if csv_path is not None:
        write_judgements(found_study, found, csv_path)
        click.echo(f"written: {csv_path}", err=True)
    if as_json:
        click.echo(canonical(found.analysis).decode(), nl=False)
    else:
        show_analysis(found)
