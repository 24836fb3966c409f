"""The audit of a file's tables: the claims that they make, their verdicts, and a claims file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.audit.auditor import Audit, audit
from harness.audit.checks import CHECKS
from harness.audit.claims import ClaimsFile
from harness.audit.tables.cells import of_cells
from harness.audit.tables.grid import Grid
from harness.audit.tables.lines import Proposal, derived
from harness.audit.tables.sources import read_tables


@dataclass(frozen=True)
class TableSummary:
    """A table: its name, line and size, how many claims of each kind it makes, what is unread."""

    name: str
    line: int
    rows: int
    columns: int
    claims: dict[str, int]
    unread: tuple[str, ...]


@dataclass(frozen=True)
class TableAudit:
    """The audit of a file's tables; audit is None where they make no claim. claims: as TOML."""

    tables: tuple[TableSummary, ...]
    audit: Audit | None
    claims: str


def audit_tables(path: Path, n: int | None = None) -> TableAudit:
    """Audit every table of a file; n: of how many all percentages are. Raises UsageError."""
    summaries, claims = list[TableSummary](), dict[str, dict[str, Any]]()
    for number, grid in enumerate(read_tables(path), 1):
        named = _named_claims(number, grid, n)
        refused = [name for name, keys in named.items() if not _readable(keys)]
        unread = [f"{named.pop(name)['place']}: outside the bounds of a check" for name in refused]
        kinds = Counter(name.split("-")[2] for name in named)
        summaries.append(
            TableSummary(
                name=grid.name,
                line=grid.line,
                rows=len(grid.rows),
                columns=len(grid.columns),
                claims=dict(kinds),
                unread=(*grid.unread, *unread),
            )
        )
        claims |= named
    if not claims:
        return TableAudit(tuple(summaries), None, "")
    head = {"title": f"Tables of {path.name}", "source": path.name}
    file = ClaimsFile.model_validate({**head, "claim": claims})
    return TableAudit(tuple(summaries), audit(path, file), _toml(head, claims))


def _named_claims(number: int, grid: Grid, n: int | None) -> dict[str, dict[str, Any]]:
    return {
        f"table-{number}-{proposal.kind}-{count}": {
            "place": _one_line(proposal.place),
            "says": _one_line(proposal.says),
            **proposal.check,
        }
        for count, proposal in enumerate(_proposals(grid, n), 1)
    }


def _readable(keys: dict[str, Any]) -> bool:
    """Tell whether a check takes these keys, such as a gain over what is not 0."""
    try:
        CHECKS[keys["check"]].form.model_validate(keys)
    except ValidationError:
        return False
    return True


def _proposals(grid: Grid, n: int | None) -> Iterator[Proposal]:
    yield from derived(grid, "column")
    if grid.columns:
        yield from derived(grid.transposed(), "row")
    yield from of_cells(grid, n)


def _toml(head: Mapping[str, str], claims: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [f"{key} = {_written(text)}" for key, text in head.items()]
    for name, keys in claims.items():
        lines += ["", f"[claim.{name}]"]
        lines += [f"{key} = {_written(entry)}" for key, entry in keys.items()]
    return "\n".join(lines) + "\n"


def _written(entry: object) -> str:
    """Write a text, number, list or table as TOML in one line."""
    if isinstance(entry, bool):
        return "true" if entry else "false"
    if isinstance(entry, list):
        return f"[{', '.join(map(_written, entry))}]"
    if isinstance(entry, dict):
        return f"{{ {', '.join(f'{key} = {_written(entry[key])}' for key in entry)} }}"
    return str(entry) if isinstance(entry, int) else json.dumps(entry, ensure_ascii=False)


def _one_line(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f\s]+", " ", text).strip()
