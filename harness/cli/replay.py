"""harness replay, harness verify: is this what was published?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.group import (
    EXIT_CODES,
    ROOT,
    RUN_PROGRAM,
    RUN_UNISOLATED,
    main,
    open_studies,
    told,
)

if TYPE_CHECKING:
    from harness.run.verdict import Verdict


@main.command(epilog=EXIT_CODES, short_help="Replay offline, recompute every number, compare.")
@click.argument("studies", nargs=-1)
@click.option(
    "--verify-checksums/--no-verify-checksums",
    default=None,
    help="Compare every file with the manifests first (default: where there are any).",
)
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
@RUN_PROGRAM
@RUN_UNISOLATED
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@ROOT
@told
def replay(
    studies: tuple[str, ...],
    verify_checksums: bool | None,
    expect: str,
    workers: int | None,
    partial: bool,
    as_json: bool,
    root: Path | None,
) -> None:
    """Replay STUDIES without a network, recompute their numbers, and compare.

    A study is named, or given as its folder or as a bundle (.tar.zst) of `harness pack`. Without
    arguments: every study under cassettes/ that is recorded to its end.
    """
    opened = open_studies(studies, root)
    if expect and len(opened) != 1:
        raise click.UsageError("--expect goes with one study")
    if partial:
        for study in opened:
            click.echo(f"written: {study.write_partial()}")
        return
    verdicts = [
        study.replay(verify_checksums=verify_checksums, expect=expect, workers=workers)
        for study in opened
    ]
    if as_json:
        click.echo(json.dumps([_as_json(verdict) for verdict in verdicts], indent=1))
    else:
        for verdict in verdicts:
            _show_verdict(verdict)
    sys.exit(max(verdict.exit_code for verdict in verdicts))


def _as_json(verdict: Verdict) -> dict[str, object]:
    import msgspec

    plain: dict[str, object] = msgspec.to_builtins(verdict)
    return {**plain, "ok": verdict.ok, "exit_code": verdict.exit_code}


def _show_verdict(verdict: Verdict) -> None:
    for problem in verdict.problems:
        click.echo(f"{verdict.study}: {problem}\n", err=True)
    click.echo(verdict.line)


@main.command(epilog=EXIT_CODES, short_help="Compare the files with their manifests.")
@click.argument("studies", nargs=-1)
@ROOT
@told
def verify(studies: tuple[str, ...], root: Path | None) -> None:
    """Compare the files of STUDIES with their manifests, and say what each one is."""
    from harness.run.checked import false_digests

    sound = True
    for study in open_studies(studies, root):
        files = study.verify()
        for state in files.states:
            click.echo(f"{state.path}: {state.state}")
        click.echo(
            f"{study.name}: {len(files.states) - files.wrong} of {len(files.states)} files ok, "
            f"fingerprint {files.fingerprint}"
        )
        false = [] if files.wrong else false_digests(study.study)
        for call in false:
            click.echo(f"{call}: the digest beside the request is not that request's", err=True)
        sound &= not files.wrong and not false
    sys.exit(0 if sound else 1)
