"""harness record, harness check: ask the models, once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from harness.cli.group import EXIT_CODES, ROOT, fail, main, open_study, told
from harness.cli.progress import progress

if TYPE_CHECKING:
    from harness.results import Value
    from harness.run.record import RecordOutcome
    from harness.study.folder import Study


@main.command(epilog=EXIT_CODES)
@click.argument("study")
@click.option("--workers", type=click.IntRange(1, 64), help="Cells at a time (default: study).")
@click.option(
    "--restart",
    multiple=True,
    metavar="CELL",
    help="Record this cell anew ('open': all that are begun); what there was is moved aside.",
)
@click.option(
    "--partial",
    is_flag=True,
    help="If it stays incomplete, write results.partial.json from the finished cells.",
)
@click.option(
    "--prices",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A price list (TOML) to copy into the study, with its date.",
)
@click.option(
    "--accept-missing",
    multiple=True,
    metavar="CELL",
    help="Settle this cell: what still gets no reply is a missing answer, and counted as one.",
)
@click.option(
    "--keep-going",
    is_flag=True,
    help="Do not stop when a model gives nothing usable any more, or its requests are rejected.",
)
@click.option(
    "--cost-limit",
    type=click.FloatRange(min=0),
    metavar="AMOUNT",
    help="Stop cleanly before this session could cost more; needs prices.",
)
@click.option(
    "--pilot",
    is_flag=True,
    help="Record a reduced grid (three levels, first repeat) and show how concepts discriminate.",
)
@click.option("--dry-run", is_flag=True, help="Print calls, tokens and cost; call nobody.")
@ROOT
@told
def record(
    study: str,
    workers: int | None,
    restart: tuple[str, ...],
    partial: bool,
    prices: Path | None,
    cost_limit: float | None,
    keep_going: bool,
    pilot: bool,
    accept_missing: tuple[str, ...],
    dry_run: bool,
    root: Path | None,
) -> None:
    """Record STUDY, or go on where an earlier recording stopped."""
    from harness.run.pilot import pilot_lines

    opened = open_study(study, root)
    if dry_run:
        _show_estimate(opened.study, prices)
        return
    again = f"Go on with: harness record {study}"
    with _interruptible(again):
        recording = opened.recording(
            restart=restart,
            prices=prices,
            cost_limit=cost_limit,
            keep_going=keep_going,
            pilot=pilot,
            accept_missing=accept_missing,
        )
        try:
            with progress(recording.tally):
                outcome = recording.run(workers)
        finally:
            for line in recording.torn:
                click.echo(f"note: {line}", err=True)
    if outcome.problems and partial:
        click.echo(f"written: {opened.write_partial()}")
    _show_outcome(outcome, again)
    if pilot:
        for line in pilot_lines(opened.study):
            click.echo(line)


def _show_estimate(study: Study, prices: Path | None) -> None:
    from harness.protocols.registry import protocol_of
    from harness.run.estimate import UNLIMITED, estimate
    from harness.run.preflight import read_all

    guess = estimate(study, read_all(study, prices))
    currency = guess.usual.currency
    click.echo(f"{study.name}: {len(study.cells())} cells; tokens in and cost are estimates")
    for usual, most in zip(guess.usual.models, guess.most.models, strict=True):
        is_most = guess.bounded and usual.model not in guess.unlimited
        click.echo(
            f"{usual.model}: {'' if guess.bounded else 'about '}{usual.calls} calls, "
            f"{'at most' if guess.bounded else 'about'} {most.calls} with second asks; about "
            f"{most.prompt_tokens} tokens in, {'at most' if is_most else 'about'} "
            f"{most.completion_tokens} out with them, cost {_amount(most.cost, currency)}"
        )
    for name, count in guess.look_ups.items():
        click.echo(f"{name}: about {count} look-ups, which no price list covers")
    click.echo(f"total: {_amount(guess.most.total, currency)} with every second ask")
    for name in guess.unlimited:
        click.echo(
            f"note: {name} is sent no token limit (max_tokens, max_completion_tokens), so "
            f"{UNLIMITED} tokens a reply are taken; a reasoning model may use many times that"
        )
    for note in protocol_of(study).undefined_by_rule(study):
        click.echo(f"note: {note}")


def _amount(cost: Value, currency: str | None) -> str:
    if cost.value is None:
        return f"unknown ({cost.reason})"
    return f"about {cost.value:.4f} {currency}"


@contextmanager
def _interruptible(again: str) -> Iterator[None]:
    """Say what happens on Ctrl-C, and end with 130 once what came is saved."""
    import signal

    def interrupted(*_: object) -> NoReturn:
        click.echo("\nwaiting for the calls in flight; Ctrl-C again ends at once", err=True)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    except KeyboardInterrupt:
        fail(f"interrupted; every finished call is saved. {again}", 130)
    finally:
        signal.signal(signal.SIGINT, before)


def _show_outcome(outcome: RecordOutcome, again: str) -> None:
    if outcome.redacted:
        click.echo(f"note: a key was echoed in answers and taken out {outcome.redacted} times")
    from harness.results.answers import answer_words

    tally = outcome.tally
    line = (
        f"recorded: cells {tally.finished}/{tally.planned}, calls sent {tally.calls}, "
        f"retries {tally.retries}, missing judgements {outcome.missing}, "
        f"{answer_words(outcome.missing_answers, outcome.judged_answers)}"
    )
    if outcome.spent is not None:
        line += f", spent {outcome.spent:.4f}"
    for notice in outcome.notices:
        click.echo(notice)
    if not outcome.problems:
        click.echo(f"{line}, fingerprint {outcome.fingerprint or 'none yet'}")
        if outcome.fallbacks:
            click.echo(f"fallbacks: {'; '.join(share.words for share in outcome.fallbacks)}")
        if outcome.invalid:
            fail("\n".join([f"the study is invalid: {outcome.invalid}", *outcome.causes]), 1)
        return
    for problem in outcome.problems:
        click.echo(f"harness: {problem}", err=True)
    click.echo(
        f"{line}: incomplete. {again} A cell that stays so can be settled, what is missing in it "
        "counted: --accept-missing CELL."
    )
    sys.exit(3)


@main.command(epilog=EXIT_CODES, short_help="Ask every endpoint of a study one small question.")
@click.argument("study")
@click.option("--jury", is_flag=True, help="Put the gold set before every judge, too (it costs).")
@ROOT
@told
def check(study: str, jury: bool, root: Path | None) -> None:
    """Make one small call to every endpoint of STUDY: key, served model, JSON, parameters."""
    from harness.cli.jury import show_check
    from harness.jury.check import live_check
    from harness.run.check import check_endpoints

    opened, failed = open_study(study, root).require_folder("asked"), False
    for line in check_endpoints(opened):
        click.echo(f"{line.name}: {line.words}")
        failed |= not line.ok
    if jury and not failed:
        show_check(live_check(opened))
    sys.exit(1 if failed else 0)


@main.command(epilog=EXIT_CODES, short_help="Judge recorded answers with another jury.")
@click.argument("study")
@click.option("--jury", required=True, metavar="A,B,C", help="The judges, by the study's names.")
@click.option(
    "--models",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file of more [models.NAME] tables, for judges the study has not.",
)
@click.option("--name", help="The new study's name (default: STUDY-rejudged).")
@ROOT
@told
def rejudge(
    study: str, jury: str, models: Path | None, name: str | None, root: Path | None
) -> None:
    """Have STUDY's recorded answers judged by another JURY, in a new study; show what changes."""
    from harness.cli.tables import show_tables
    from harness.jury.rejudge import jury_tables, rejudged_study
    from harness.run.record import Recording

    old = open_study(study, root).require_folder("judged again")
    new = rejudged_study(old, jury.split(","), name or f"{old.name}-rejudged", models)
    again = "Go on with the same command."
    with _interruptible(again):
        recording = Recording(new)
        with progress(recording.tally):
            outcome = recording.run()
    _show_outcome(outcome, again)
    show_tables(jury_tables(old, new))
