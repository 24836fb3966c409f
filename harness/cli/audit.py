"""harness audit: do published numbers agree with their data and with each other?"""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.group import EXIT_CODES, ROOT, VERIFY, OutFile, main, open_study, told

if TYPE_CHECKING:
    from harness.audit.auditor import Audit
    from harness.audit.tables.table_audit import TableAudit, TableSummary

COLUMNS = {"claim, and where": 6, "published": 3, "recomputed": 4, "verdict, and why": 7}
STYLES = {
    "contradicted": "bold red",
    "other source differs": "magenta",
    "possible": "cyan",
    "reproduced*": "yellow",
    "not checkable": "dim",
}


class ClaimsByDefault(click.Group):
    """A group whose first word may be a claims file instead of a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the command `claims` before all that names no command."""
        if args[:1] not in (["-h"], ["--help"]) and (not args or args[0] not in self.commands):
            args = ["claims", *args]
        return super().parse_args(ctx, args)


@main.group(
    cls=ClaimsByDefault,
    epilog=EXIT_CODES,
    short_help="Check the numbers that a paper printed.",
)
def audit() -> None:
    """Check what a paper printed: a claims file, or the tables of its LaTeX source.

    `harness audit FILE.toml` is short for `harness audit claims FILE.toml`.
    """


@audit.command(epilog=EXIT_CODES, short_help="Check every figure of a claims file.")
@click.argument("claims", required=False)
@click.option(
    "--data",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A CSV or a study's results.json to check them against.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--list", "as_list", is_flag=True, help="List the bundled claims files.")
@VERIFY
@ROOT
@told
def claims(
    claims: str | None,
    data: Path | None,
    as_json: bool,
    as_list: bool,
    verify: bool,
    root: Path | None,
) -> None:
    """Check every figure of CLAIMS, a claims file (TOML) or the name of a bundled one.

    \b
    reproduced            computed again, it comes out to the printed precision
    possible              it can be true beside the other printed figures
    reproduced*           it comes out under a named convention only
    other source differs  it differs from a document that is not the source
    contradicted          no reading that the print allows makes it true (exit code 1)
    not checkable         what it would take is not there
    """
    from harness.audit.auditor import audit as run_audit
    from harness.audit.auditor import find_claims
    from harness.audit.claims import read_claims
    from harness.results import canonical

    if as_list or claims is None:
        _list()
        return
    path = find_claims(claims)
    file = read_claims(path)
    if data is None and file.study:
        data = open_study(file.study, root).study.results
    verification = _check(data, verify)
    audited = run_audit(path, file, data)
    if as_json:
        fields = {**vars(audited), "counts": audited.counts, "verification": verification}
        click.echo(canonical(fields).decode(), nl=False)
    else:
        _show(audited, verification)
    sys.exit(1 if audited.counts["contradicted"] else 0)


@audit.command(epilog=EXIT_CODES, short_help="Check the tables of a paper's source.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--n", type=click.IntRange(1, 10**12), help="Of how many all percentages are.")
@click.option("--claims", "out", type=OutFile(), help="Write the claims of the tables here.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--all", "everything", is_flag=True, help="Print the claims that hold, too.")
@told
def table(file: Path, n: int | None, out: Path | None, as_json: bool, everything: bool) -> None:
    """Check the tables of FILE (LaTeX .tex, Markdown .md, or .csv); no claims file is needed.

    Averages, differences, gains, totals, shares, intervals and marks are checked where the table
    itself says enough. What is not read is listed. A contradicted figure is a question to the
    authors, and says nothing of how it came about.
    """
    from harness.audit.tables.table_audit import audit_tables
    from harness.files import write_atomic
    from harness.results import canonical

    audited = audit_tables(file, n)
    if out is not None and audited.claims:
        write_atomic(out, audited.claims.encode())
    if as_json:
        click.echo(canonical(asdict(audited)).decode(), nl=False)
    else:
        _show_tables(audited, everything)
    contradicted = audited.audit.counts["contradicted"] if audited.audit else 0
    sys.exit(1 if contradicted else 0)


def _show_tables(audited: TableAudit, everything: bool) -> None:
    for summary in audited.tables:
        click.echo(_summary(summary))
        for unread in summary.unread:
            click.echo(f"  not read: {unread}")
    if audited.audit is None:
        click.echo("No figure of these tables can be checked by the others; there is no claim.")
        return
    worth = ("contradicted", "not checkable")
    findings = [f for f in audited.audit.findings if everything or f.verdict in worth]
    findings.sort(key=lambda finding: finding.verdict != "contradicted")
    _show(replace(audited.audit, findings=tuple(findings)), "none", audited.audit)


def _summary(summary: TableSummary) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in summary.claims.items())
    size = f"{summary.rows} rows, {summary.columns} columns of figures"
    return f"{summary.name} (line {summary.line}): {size}; claims: {kinds or 'no claim'}"


def _check(data: Path | None, verify: bool) -> str:
    """Replay and check the study whose results are the data; say how far data were checked."""
    if data is None:
        return "none"
    if data.name != "results.json" or not (data.parent / "study.toml").is_file():
        return "taken as they are"
    return open_study(str(data.parent), None).analyze(verify=verify).verification


def _list() -> None:
    from harness.audit.auditor import bundled
    from harness.audit.claims import read_claims

    for name, path in bundled().items():
        file = read_claims(path)
        click.echo(f"{name:<18} {len(file.claim):>3} claims  {file.title} ({file.source})")
    click.echo("Check them with: harness audit NAME")


def _show(audited: Audit, verification: str, counted: Audit | None = None) -> None:
    from rich.box import HORIZONTALS
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=HORIZONTALS, expand=True, show_lines=True)
    for name, ratio in COLUMNS.items():
        table.add_column(name, ratio=ratio, overflow="fold")
    for finding in audited.findings:
        style = STYLES.get(finding.verdict, "green")
        table.add_row(
            Text.assemble(finding.says, "\n", (finding.place, "dim")),
            Text(finding.published),
            Text(finding.recomputed),
            Text.assemble((finding.verdict, style), "\n", finding.why),
        )
    click.echo(f"{audited.title} ({audited.source})")
    if audited.findings:
        Console().print(table)
    counted = counted or audited
    counts = ", ".join(f"{count} {verdict}" for verdict, count in counted.counts.items())
    click.echo(f"{len(counted.findings)} claims: {counts}; data: {verification}")
