"""harness audit: do published numbers agree with their data and with each other?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.group import EXIT_CODES, ROOT, VERIFY, main, open_study, told

if TYPE_CHECKING:
    from harness.audit.auditor import Audit

COLUMNS = {"claim, and where": 6, "published": 3, "recomputed": 4, "verdict, and why": 7}
STYLES = {
    "contradicted": "bold red",
    "other source differs": "magenta",
    "possible": "cyan",
    "reproduced*": "yellow",
    "not checkable": "dim",
}


@main.command(epilog=EXIT_CODES, short_help="Check the numbers that a paper printed.")
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
def audit(
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
    found = run_audit(path, file, data)
    if as_json:
        more = {"counts": found.counts, "verification": verification}
        click.echo(canonical({**vars(found), **more}).decode(), nl=False)
    else:
        _show(found, verification)
    sys.exit(1 if found.counts["contradicted"] else 0)


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


def _show(found: Audit, verification: str) -> None:
    from rich.box import HORIZONTALS
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=HORIZONTALS, expand=True, show_lines=True)
    for name, ratio in COLUMNS.items():
        table.add_column(name, ratio=ratio, overflow="fold")
    for finding in found.findings:
        style = STYLES.get(finding.verdict, "green")
        table.add_row(
            Text.assemble(finding.says, "\n", (finding.place, "dim")),
            Text(finding.published),
            Text(finding.recomputed),
            Text.assemble((finding.verdict, style), "\n", finding.why),
        )
    click.echo(f"{found.title} ({found.source})")
    Console().print(table)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found.counts.items())
    click.echo(f"{len(found.findings)} claims: {counts}; data: {verification}")
