"""harness analyze: the study-level analysis as tables, as JSON, and its data as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.group import EXIT_CODES, ROOT, VERIFY, OutFile, main, open_study, told

if TYPE_CHECKING:
    from harness.run.checked import Checked


@main.command(epilog=EXIT_CODES, short_help="Show what a study says as a whole.")
@click.argument("study")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="What to print: tables for a terminal or as Markdown, or the analysis as JSON.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option(
    "--csv",
    "csv_path",
    type=OutFile(),
    help="Write the turn-level data here, one row a judgement or probe.",
)
@VERIFY
@ROOT
@told
def analyze(
    study: str,
    form: str,
    csv_path: Path | None,
    verify: bool,
    root: Path | None,
) -> None:
    """Replay STUDY without a network and show its study-level analysis."""
    from harness.export.rows import write_rows
    from harness.results import canonical

    replayed = open_study(study, root).analyze(verify=verify)
    if csv_path is not None:
        write_rows(replayed, csv_path)
        click.echo(f"written: {csv_path}", err=True)
    if form == "json":
        click.echo(canonical(_document(replayed)).decode(), nl=False)
    else:
        _print(replayed, as_markdown=form == "markdown")


def _document(replayed: Checked) -> dict[str, object]:
    """Return the analysis for JSON; that of an invalid study has no rank."""
    from msgspec import to_builtins

    from harness.protocols.findings import findings_of

    results = replayed.results
    document = {
        "verification": replayed.verification,
        "findings": findings_of(replayed.study, results),
        "answers": to_builtins(results.answers),
        **to_builtins(results.analysis),
    }
    if results.valid:
        return document
    return {"invalid_reason": results.invalid_reason, **_without_ranks(document)}


def _print(replayed: Checked, *, as_markdown: bool) -> None:
    """Print notices, findings, tables, and what is missing."""
    from harness.cli.tables import show_findings, show_markdown, show_tables
    from harness.protocols.findings import findings_of
    from harness.protocols.tables import tables_of
    from harness.results.answers import judged_words

    results = replayed.results
    if not results.valid:
        reason = (results.invalid_reason or "").partition("\n")[0]
        click.echo(f"{results.study} is invalid, and nothing in it has a rank: {reason}\n")
    for notice in results.notices:
        click.echo(f"{notice}\n")
    show_findings(findings_of(replayed.study, results), as_markdown=as_markdown)
    show = show_markdown if as_markdown else show_tables
    show(tables_of(replayed.study, results))
    answers = results.answers.whole
    judged = f", {words}" if (words := judged_words(answers.judged_kinds)) else ""
    click.echo(
        f"{replayed.verification}; "
        f"valid: {results.valid}; missing judgements {results.missing.missing} of "
        f"{results.missing.judgements}, missing answers {answers.words} of {answers.answers}"
        f"{judged}. Relative to these judges, models and dates; n stands beside each number or "
        "above its column, and an undefined one says why (--format json has all of it)."
    )


def _without_ranks(document: object) -> Any:
    """Return a document whose every rank is null."""
    if isinstance(document, dict):
        return {
            name: None if name == "rank" else _without_ranks(element)
            for name, element in document.items()
        }
    return (
        [_without_ranks(element) for element in document]
        if isinstance(document, list)
        else document
    )
