"""The commands, a few lines each: arguments in, words and an exit code out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from harness.errors import HarnessError, RunStopped
from harness.version import VERSION

if TYPE_CHECKING:
    from harness.results import Value
    from harness.run.record import RecordOutcome, Tally
    from harness.run.verdict import Verdict
    from harness.study import Study

EXIT_CODES = """Exit codes: 0 all good; 1 a check failed (checksum, miss, unused call, numbers,
invalid study); 2 usage or study file; 3 incomplete, go on later; 130 interrupted after saving."""
ROOT = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder that holds cassettes/ (default: the nearest one upwards).",
)


def told(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what goes wrong into a message and an exit code; no traceback for a user's mistake."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (HarnessError, RunStopped) as error:
            _fail(str(error), error.exit_code)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(1)

    return run


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"harness: {message}", err=True)
    sys.exit(code)


@click.group(epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="harness")
def main() -> None:
    """Record evaluations of language models once; replay and recompute them for ever.

    Start with: harness replay --verify-checksums
    """


@main.command(epilog=EXIT_CODES)
@click.argument("studies", nargs=-1)
@click.option("--verify-checksums", is_flag=True, help="Compare every file with the manifests.")
@click.option(
    "--expect",
    default="",
    metavar="FINGERPRINT",
    help="The fingerprint a paper printed; implies --verify-checksums.",
)
@click.option("--workers", type=click.IntRange(1, 64), help="Processes (default: by size).")
@click.option(
    "--partial",
    is_flag=True,
    help="Of an unfinished study: write results.partial.json from its finished cells.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@ROOT
@told
def replay(
    studies: tuple[str, ...],
    verify_checksums: bool,
    expect: str,
    workers: int | None,
    partial: bool,
    as_json: bool,
    root: Path | None,
) -> None:
    """Replay STUDIES without a network, recompute their numbers, and compare.

    Without arguments: every study under cassettes/.
    """
    from harness.run.replay import write_partial
    from harness.run.verdict import replay as run_replay
    from harness.study import all_studies, find_study

    found = [find_study(name, root) for name in studies] or all_studies(root)
    if expect and len(found) != 1:
        raise click.UsageError("--expect goes with one study")
    if partial:
        for study in found:
            click.echo(f"written: {write_partial(study)}")
        return
    verdicts = [
        run_replay(study, verify_checksums=verify_checksums, expect=expect, workers=workers)
        for study in found
    ]
    if as_json:
        click.echo(json.dumps([_as_json(verdict) for verdict in verdicts], indent=1))
    else:
        for verdict in verdicts:
            _show_verdict(verdict)
    sys.exit(max(verdict.exit_code for verdict in verdicts))


def _as_json(verdict: Verdict) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(verdict)
    return {**plain, "ok": verdict.ok, "exit_code": verdict.exit_code}


def _show_verdict(verdict: Verdict) -> None:
    for problem in verdict.problems:
        click.echo(f"{verdict.study}: {problem}\n", err=True)
    click.echo(verdict.line)


@main.command(epilog=EXIT_CODES)
@click.argument("study")
@click.option("--workers", type=click.IntRange(1, 64), help="Cells at a time (default: study).")
@click.option(
    "--restart",
    multiple=True,
    metavar="CELL",
    help="Record this cell anew; what there was is moved aside.",
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
    "--keep-going", is_flag=True, help="Do not stop when a judge gives nothing usable any more."
)
@click.option(
    "--cost-limit",
    type=click.FloatRange(min=0),
    metavar="AMOUNT",
    help="Stop cleanly before this session could cost more; needs prices.",
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
    dry_run: bool,
    root: Path | None,
) -> None:
    """Record STUDY, or go on where an earlier recording stopped."""
    from harness.run.record import Recording
    from harness.run.replay import write_partial
    from harness.study import find_study

    if dry_run:
        _show_estimate(find_study(study, root), prices)
        return
    again = f"Go on with: harness record {study}"
    with _interruptible(again):
        recording = Recording(
            find_study(study, root),
            restart=restart,
            price_file=prices,
            cost_limit=cost_limit,
            keep_going=keep_going,
        )
        try:
            with _progress(recording.tally):
                outcome = recording.run(workers)
        finally:
            for line in recording.torn:
                click.echo(f"note: {line}", err=True)
    if outcome.problems and partial:
        click.echo(f"written: {write_partial(recording.study)}")
    _show_outcome(outcome, again)


def _show_estimate(study: Study, prices: Path | None) -> None:
    from harness.run.estimate import estimate
    from harness.run.wiring import foreseen

    foreseen_cost = estimate(study, foreseen(study, prices))
    click.echo(f"{study.name}: {len(study.cells())} cells; tokens and cost are estimates")
    for model in foreseen_cost.models:
        click.echo(
            f"{model.model}: {model.calls} calls, about {model.prompt_tokens} tokens in, at most "
            f"{model.completion_tokens} out, cost {_amount(model.cost, foreseen_cost.currency)}"
        )
    click.echo(f"total: {_amount(foreseen_cost.total, foreseen_cost.currency)}")


def _amount(cost: Value, currency: str | None) -> str:
    return f"unknown ({cost.reason})" if cost.value is None else f"{cost.value:.4f} {currency}"


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
        _fail(f"interrupted; every finished call is saved. {again}", 130)
    finally:
        signal.signal(signal.SIGINT, before)


def _show_outcome(outcome: RecordOutcome, again: str) -> None:
    if outcome.redacted:
        click.echo(f"note: a key was echoed in answers and taken out {outcome.redacted} times")
    tally = outcome.tally
    line = (
        f"recorded: cells {tally.finished}/{tally.planned}, calls sent {tally.calls}, "
        f"retries {tally.retries}, missing judgements {tally.missing}"
    )
    if outcome.spent is not None:
        line += f", spent {outcome.spent:.4f}"
    if not outcome.problems:
        click.echo(f"{line}, fingerprint {outcome.fingerprint}")
        return
    for problem in outcome.problems:
        click.echo(f"harness: {problem}", err=True)
    click.echo(f"{line}: incomplete. {again}")
    sys.exit(3)


@contextmanager
def _progress(tally: Tally) -> Iterator[None]:
    """Show how far a recording is: one moving line on a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        tally.changed = _plain_progress()
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        total = max(1, (tally.planned - tally.finished) * tally.calls_a_cell)
        task = progress.add_task(_progress_words(tally), total=total)

        def changed(now: Tally) -> None:
            progress.update(task, completed=now.calls, description=_progress_words(now))

        tally.changed = changed
        yield


def _plain_progress() -> Callable[[Tally], None]:
    shown = -1

    def changed(tally: Tally) -> None:
        nonlocal shown
        step = tally.calls // tally.calls_a_cell + tally.finished
        if step != shown:
            shown = step
            click.echo(_progress_words(tally), err=True)

    return changed


def _progress_words(tally: Tally) -> str:
    left = tally.seconds_left
    ends = "" if left is None else f", about {left / 60:.0f} min left"
    return (
        f"cells {tally.finished}/{tally.planned}, calls {tally.calls}, retries "
        f"{tally.retries}, missing judgements {tally.missing}{ends}"
    )


@main.command(epilog=EXIT_CODES)
@click.argument("studies", nargs=-1)
@ROOT
@told
def verify(studies: tuple[str, ...], root: Path | None) -> None:
    """Compare the files of STUDIES with their manifests, and say what each one is."""
    from harness.run.verdict import verify_files
    from harness.study import all_studies, find_study

    sound = True
    for study in [find_study(name, root) for name in studies] or all_studies(root):
        files = verify_files(study)
        for state in files.states:
            click.echo(f"{state.path}: {state.state}")
        click.echo(
            f"{study.name}: {len(files.states) - files.wrong} of {len(files.states)} files ok, "
            f"fingerprint {files.fingerprint}"
        )
        sound &= not files.wrong
    sys.exit(0 if sound else 1)


@main.command(epilog=EXIT_CODES)
@click.argument("study")
@ROOT
@told
def check(study: str, root: Path | None) -> None:
    """Make one small call to every endpoint of STUDY: key, served model, JSON, parameters."""
    from harness.run.check import check_endpoints
    from harness.study import find_study

    failed = False
    for line in check_endpoints(find_study(study, root)):
        click.echo(f"{line.name}: {line.words}")
        failed |= not line.ok
    sys.exit(1 if failed else 0)


@main.command("ls", epilog=EXIT_CODES)
@ROOT
@told
def list_studies(root: Path | None) -> None:
    """List the studies: protocol, finished cells, fingerprint."""
    from harness.run.look import describe
    from harness.study import all_studies

    for study in all_studies(root):
        click.echo(describe(study))


@main.command(epilog=EXIT_CODES)
@click.argument("study")
@click.argument("call", required=False)
@ROOT
@told
def show(study: str, call: str | None, root: Path | None) -> None:
    """Show one recorded CALL of STUDY ("CELL:turn-4/subject"), or list cells or a cell's calls."""
    from harness.run.look import show_call
    from harness.study import find_study

    click.echo(show_call(find_study(study, root), call or ""))


@main.command("import", epilog=EXIT_CODES)
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
