"""harness jury: are the judges of a study fit?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.group import EXIT_CODES, ROOT, main, open_study, told

if TYPE_CHECKING:
    from harness.results import Fitness, JuryCheck, Measure


@main.group()
def jury() -> None:
    """Find out whether the judges of a study are fit."""


@jury.command(epilog=EXIT_CODES, short_help="Put the gold set before every judge of a study.")
@click.argument("study")
@click.option(
    "--gold",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A gold file of your own (default: the study's, or the package's).",
)
@click.option(
    "--concept",
    "concepts",
    multiple=True,
    metavar="NAME",
    help="Only the answers about this concept; may be named again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the check as JSON.")
@ROOT
@told
def check(
    study: str, gold: Path | None, concepts: tuple[str, ...], as_json: bool, root: Path | None
) -> None:
    """Put gold answers before every judge or evaluator of STUDY, and say which are fit.

    Where the gold set is part of the recording it is replayed, and nothing is asked; else every
    judge is asked now, through the study's own prompts. What the recording itself shows is said,
    too. An unfit judge changes no exit code.
    """
    from harness.jury.check import has_recorded_exam, live_check, recorded_check
    from harness.results import canonical

    opened = open_study(study, root).study
    recorded = recorded_check(opened)
    live = gold is not None or concepts or not has_recorded_exam(opened)
    answered = live_check(opened, gold, concepts) if live else recorded
    assert answered is not None  # an exam that is recorded is part of a recording
    if as_json:
        document = {"gold": answered, "recording": recorded}
        click.echo(canonical(document).decode(), nl=False)
        return
    show_check(answered)
    if live and recorded is not None:
        for fitness in recorded.judges:
            click.echo(f"in the recording: {fitness.words}; {_habits(fitness)}")


def show_check(jury_check: JuryCheck) -> None:
    """Print the measures of each judge, and what they make of it."""
    for fitness in jury_check.judges:
        for measure in fitness.measures:
            click.echo(f"{fitness.judge}: {_measure(measure)}")
        click.echo(fitness.words)
    for names in jury_check.one_model:
        click.echo(f"{', '.join(names)} are one model: their agreement is self-consistency")


def _measure(measure: Measure) -> str:
    if measure.value.value is None:
        return f"{measure.name}: null ({measure.value.reason})"
    missing = f", {measure.missing} missing" if measure.missing else ""
    return (
        f"{measure.name}: {measure.value.value:.2f} [{measure.interval.low:.2f}, "
        f"{measure.interval.high:.2f}] (n={measure.value.n}){_rank(measure)}, "
        f"{measure.distinct} values used{missing}: {measure.state}"
    )


def _rank(measure: Measure) -> str:
    rank, around = measure.rank, measure.rank_interval
    if rank.value is None:
        return ""
    if around.low is None or around.high is None:
        words = f"[null: {around.reason}]"
    else:
        words = f"[{around.low:.2f}, {around.high:.2f}]"
    return f", rank correlation {rank.value:.2f} {words} (n={rank.n})"


def _habits(fitness: Fitness) -> str:
    habits = fitness.habits
    if habits is None:
        return "nothing is recorded"
    copied = habits.copied
    share = copied.reason if copied.value is None else f"{copied.value:.0%} repeat an example"
    return f"{habits.judgements} judgements, {habits.distinct} values used, {share}"
