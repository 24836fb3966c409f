"""harness calibrate, harness traps check: what people and the web say of jury and traps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.group import EXIT_CODES, ROOT, OutFile, main, open_study, told

if TYPE_CHECKING:
    from harness.jury.calibrate import Calibration, RaterComparison
    from harness.results import Value


@main.group(epilog=EXIT_CODES, short_help="Compare the jury with people.")
@click.argument("study")
@click.pass_context
def calibrate(context: click.Context, study: str) -> None:
    """Compare the jury of STUDY with people: export a blind sheet, import it filled in."""
    context.obj = study


@calibrate.command(epilog=EXIT_CODES)
@click.option(
    "--out",
    "-o",
    required=True,
    type=OutFile(),
    help="The CSV file to write; never over one that is there.",
)
@click.option(
    "--sample", type=click.IntRange(min=1), metavar="N", help="So many responses (default: all)."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="S",
    help="The seed of draw and order (default: the study's).",
)
@ROOT
@click.pass_obj
@told
def export(study: str, out: Path, sample: int | None, seed: int | None, root: Path | None) -> None:
    """Write a blind sheet of responses for people to score.

    CSV, a row a response; far and sas are to be filled in, numbers from 0 to 1. It names no
    subject, no level and no judge's score. The bands are the judges' own:

    \b
    far, factual accuracy:                   sas, form whatever the facts:
    1.0      all right and verifiable        1.0      fluent and to the point
    0.8-0.9  small errors                    0.8-0.9  small digressions
    0.6-0.7  right and wrong mixed           0.6-0.7  partly relevant, badly ordered
    0.4-0.5  more wrong than right           0.4-0.5  hard to follow, half off topic
    0.0-0.3  mostly false or invented        0.0-0.3  incoherent or off topic
    """
    from harness.jury.calibrate import export_sheet

    done = export_sheet(open_study(study, root).study, out, sample, seed)
    click.echo(f"{out}: {done.rows} of {done.recorded} responses; fill in far and sas, then")
    click.echo(f"harness calibrate {study} import {out}")


@calibrate.command("import", epilog=EXIT_CODES)
@click.argument("sheet", type=click.Path(path_type=Path, dir_okay=False))
@ROOT
@click.pass_obj
@told
def import_scores(study: str, sheet: Path, root: Path | None) -> None:
    """Compare the filled SHEET with the jury.

    How far its consensus, and each judge, agree with the human scores. Rows without a score are
    left out and counted.
    """
    from harness.jury.calibrate import import_sheet

    _show_calibration(sheet, import_sheet(open_study(study, root).study, sheet))


def _show_calibration(sheet: Path, calibration: Calibration) -> None:
    from harness.jury.calibrate import WEIGHTS

    edges = ", ".join(f"{edge:g}" for edge in calibration.edges)
    click.echo(
        f"{sheet}: {calibration.rated} responses scored, {calibration.empty} rows left empty"
    )
    click.echo(f"kappa over the bins {calibration.bins!r}, cut at {edges}; weights: {WEIGHTS}")
    width = max(len(comparison.rater) for comparison in calibration.comparisons)
    click.echo(
        f"{'':3} {'against':<{width}} {'n':>5} {'kappa':>7} {'weighted':>8} {'ICC(A,1)':>8} "
        "mean |difference|"
    )
    for comparison in calibration.comparisons:
        click.echo(
            f"{comparison.scale.upper():3} {comparison.rater:<{width}} "
            f"{comparison.difference.n:>5} {_number(comparison.kappa):>7} "
            f"{_number(comparison.weighted):>8} {_number(comparison.icc):>8} "
            f"{_number(comparison.difference):>17}"
        )
    for comparison in calibration.comparisons:
        for reason in _reasons(comparison):
            click.echo(f"{comparison.scale.upper()}, {comparison.rater}: {reason}")


def _number(value: Value) -> str:
    return "null" if value.value is None else f"{value.value:.3f}"


def _reasons(comparison: RaterComparison) -> list[str]:
    named = (
        ("kappa", comparison.kappa),
        ("ICC(A,1)", comparison.icc),
        ("difference", comparison.difference),
    )
    return [f"{name} is null: {value.reason}" for name, value in named if value.value is None]


@main.group(epilog=EXIT_CODES)
def traps() -> None:
    """Look after the invented experts and phrases of turn 4."""


@traps.command("check", epilog=EXIT_CODES)
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--endpoint",
    required=True,
    metavar="URL",
    help="A SearXNG that replies in JSON, such as http://localhost:8080.",
)
@click.option(
    "--cassette",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("traps-check.json"),
    show_default=True,
    help="Where the searches are recorded; one that is there is replayed without a network.",
)
@told
def check_traps(file: Path | None, endpoint: str, cassette: Path) -> None:
    """Search the web for the experts and phrases of the traps.

    Those of the package, or of a trap FILE; one exact-phrase search an entry. Exit code 1 where
    one is found: it is no invention then. "Not found" means in no title or excerpt that came back:
    evidence, not proof.
    """
    from harness.jury import trap_check

    looked_up = existing = 0
    for finding in trap_check.check_traps(trap_check.trap_pools(file), endpoint, cassette):
        click.echo(finding.line)
        looked_up += 1
        existing += finding.found is not None
    click.echo(f"{looked_up} looked up, {existing} found; searches recorded in {cassette}")
    sys.exit(1 if existing else 0)
