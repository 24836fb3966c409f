"""harness score: the recorded answers under other rules of the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli.group import EXIT_CODES, ROOT, VERIFY, OutFile, main, open_study, told


@main.command(epilog=EXIT_CODES, short_help="Compute results anew under other metric settings.")
@click.argument("study")
@click.option(
    "--set",
    "changed",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the metrics, as in PROTOCOL.missing_limit=0.1; may be repeated.",
)
@click.option(
    "--out",
    "-o",
    type=OutFile(),
    help="Write the results here, in the form of results.json; never over a file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@VERIFY
@ROOT
@told
def score(
    study: str,
    changed: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    verify: bool,
    root: Path | None,
) -> None:
    """Compute STUDY's results anew from its recording, under other settings of its metrics.

    Nothing is sent and no key is needed; the recorded results stay as they are. A setting that
    would change what is asked is refused, with those that may be set.
    """
    from harness.cli.tables import show_tables
    from harness.protocols.tables import tables_of
    from harness.results import canonical
    from harness.run.checked import VERIFIED
    from harness.run.rescore import change_table, write_rescored

    rescored = open_study(study, root).score(_settings(changed), verify=verify)
    if out is not None:
        write_rescored(rescored, out)
        click.echo(f"written: {out}", err=True)
    if as_json:
        if rescored.verification != VERIFIED:
            click.echo(rescored.verification, err=True)
        click.echo(canonical(rescored.results).decode(), nl=False)
        return
    show_tables([change_table(rescored), *tables_of(rescored.study, rescored.results)])
    results = rescored.results
    click.echo(
        f"valid: {results.valid}{f' ({results.invalid_reason})' if results.invalid_reason else ''}"
        f". {rescored.verification}. These are not the recorded results; those stand in "
        "results.json, unchanged."
    )


def _settings(changed: Sequence[str]) -> dict[str, object]:
    from harness.errors import UsageError

    settings: dict[str, object] = {}
    for words in changed:
        key, equals, value = words.partition("=")
        if not equals:
            raise UsageError(f"--set {words}: expected KEY=VALUE, as in PROTOCOL.missing_limit=0.1")
        if key.strip() in settings:
            raise UsageError(f"--set {key.strip()}: stands twice")
        settings[key.strip()] = value.strip()
    return settings
