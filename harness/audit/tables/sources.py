"""The tables of a file: LaTeX, Markdown or CSV, told by its name."""

from __future__ import annotations

import csv
import re
from itertools import groupby
from pathlib import Path

from harness.audit.tables.grid import Grid, RawRow, TableCell, build_grid, read_cell
from harness.audit.tables.latex import latex_tables
from harness.errors import UsageError

MARKDOWN_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
MOST_BYTES = 2**23


def read_tables(path: Path) -> list[Grid]:
    """Read every table of a file; raises UsageError where it is of another kind, or has none."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file; expected a paper's LaTeX source")
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path}: more than {MOST_BYTES} bytes; expected the source of one paper")
    kinds = {".tex": latex_tables, ".md": markdown_tables, ".csv": csv_table}
    if path.suffix.lower() not in kinds:
        raise UsageError(f"{path}: expected a name that ends in {', '.join(kinds)}")
    try:
        source = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start + 1} is not UTF-8; convert it first") from None
    try:
        tables = kinds[path.suffix.lower()](source)
    except csv.Error as error:
        raise UsageError(f"{path}: is not a CSV: {error}") from None
    if not tables:
        raise UsageError(f"{path}: there is no table in it; \\input files are read one by one")
    return tables


def markdown_tables(source: str) -> list[Grid]:
    """Return the pipe tables of a Markdown text."""
    lines = list(enumerate(source.splitlines(), 1))
    tables: list[Grid] = []
    for piped, group in groupby(lines, key=lambda line: "|" in line[1]):
        rows = list(group)
        if piped and len(rows) > 2 and MARKDOWN_RULE.fullmatch(rows[1][1]):
            header = [cell.text for cell in _markdown_cells(rows[0][1])]
            body = [RawRow(tuple(_markdown_cells(text)), line, 1) for line, text in rows[2:]]
            name = f"table {len(tables) + 1}"
            tables.append(build_grid(name, "", rows[0][0], [header], body))
    return tables


def _markdown_cells(line: str) -> list[TableCell]:
    texts = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    cells = []
    for text in texts:
        bold = re.search(r"\*\*|__|<b>|<strong>", text) is not None
        underlined = "<u>" in text
        plain = re.sub(r"\*\*|__|`|</?[a-z]+>", "", text).replace("\\", "")
        cells.append(read_cell(plain, bold=bold, underlined=underlined))
    return cells


def csv_table(source: str) -> list[Grid]:
    """Return a CSV as one table."""
    rows = [row for row in csv.reader(source.splitlines()) if row]
    if len(rows) < 2:
        return []
    body = [
        RawRow(tuple(read_cell(text) for text in row), line, 1)
        for line, row in enumerate(rows[1:], 2)
    ]
    return [build_grid("table 1", "", 1, [rows[0]], body)]
