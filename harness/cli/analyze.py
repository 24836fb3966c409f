"""harness analyze: the study-level analysis as tables, as JSON, and its data as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.group import EXIT_CODES, ROOT, VERIFY, OutFile, main, named_study, told


@main.command(epilog=EXIT_CODES, short_help="Show what a study says as a whole.")
@click.argument("study")
@click.option("--json", "as_json", is_flag=True, help="Print the analysis as JSON.")
@click.option(
    "--csv",
    "csv_path",
    type=OutFile(),
    help="Write the turn-level data here, one row a judgement or probe.",
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the tables as Markdown.")
@VERIFY
@ROOT
@told
def analyze(
    study: str,
    as_json: bool,
    csv_path: Path | None,
    as_markdown: bool,
    verify: bool,
    root: Path | None,
) -> None:
    """Replay STUDY without a network and show its study-level analysis."""
    from msgspec import to_builtins

    from harness.cli.tables import show_findings, show_markdown, show_tables
    from harness.export.rows import write_rows
    from harness.protocols.findings import findings_of
    from harness.protocols.tables import tables_of
    from harness.results import canonical
    from harness.results.answers import judged_words
    from harness.run.checked import checked

    replayed = checked(named_study(study, root), verify=verify)
    found = replayed.results
    if csv_path is not None:
        write_rows(replayed, csv_path)
        click.echo(f"written: {csv_path}", err=True)
    if as_json:
        document = {
            "verification": replayed.verification,
            "answers": to_builtins(found.answers),
            **to_builtins(found.analysis),
        }
        if not found.valid:
            document = {"invalid_reason": found.invalid_reason, **_without_ranks(document)}
        click.echo(canonical(document).decode(), nl=False)
        return
    if not found.valid:
        reason = (found.invalid_reason or "").partition("\n")[0]
        click.echo(f"{found.study} is invalid, and nothing in it has a rank: {reason}\n")
    for notice in found.notices:
        click.echo(f"{notice}\n")
    show_findings(findings_of(replayed.study, found), as_markdown=as_markdown)
    show = show_markdown if as_markdown else show_tables
    show(tables_of(replayed.study, found))
    whole = found.answers.whole
    judged = f", {words}" if (words := judged_words(whole.judged_kinds)) else ""
    click.echo(
        f"{replayed.verification}; "
        f"valid: {found.valid}; missing judgements {found.missing.missing} of "
        f"{found.missing.judgements}, missing answers {whole.words} of {whole.answers}{judged}. "
        "Relative to these judges, models and dates; n stands beside each number, and an undefined "
        "one says why (--json has all of it)."
    )


def _without_ranks(document: Any) -> Any:
    """Return a document whose every rank is null."""
    if isinstance(document, dict):
        return {
            name: None if name == "rank" else _without_ranks(value)
            for name, value in document.items()
        }
    return [_without_ranks(value) for value in document] if isinstance(document, list) else document
