"""A table as rows, columns and cells, whatever file it came from."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from harness.audit.printed import Printed, printed

NUMBER = r"[-+−]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})"
SIGNS = r"[\s%*†‡§¶↑↓ᵃᵇᶜ]*"
K_OF_N = r"([0-9]{1,9})\s*/\s*([0-9]{1,9})"
COUNTS = re.compile(rf"{K_OF_N}(?:\s*\(\s*({NUMBER}){SIGNS}\))?{SIGNS}")
COUNTS_BEHIND = re.compile(rf"({NUMBER})\s*%?\s*\(\s*{K_OF_N}\s*\){SIGNS}")
INTERVAL = re.compile(
    rf"({NUMBER})\s*%?\s*[\[(]\s*({NUMBER})\s*%?\s*(?:,|;|–|--|\bto\b)"
    rf"\s*({NUMBER})\s*%?\s*[\])]{SIGNS}"
)
PLAIN = re.compile(
    rf"{SIGNS}({NUMBER}){SIGNS}(?:±\s*{NUMBER}{SIGNS})?(?:[\[(]\s*±?\s*{NUMBER}{SIGNS}[\])])?{SIGNS}"
)
MISSING = re.compile(r"(?:[-–—✗×.\s]*|n/?a|nan|none|oom|tba|tbd)", re.IGNORECASE)


@dataclass(frozen=True)
class TableCell:
    """A cell: its text without markup, and the figure, counts or interval that it prints.

    counts: k and n of "k/n". interval: the two ends behind the figure.
    """

    text: str
    bold: bool = False
    underlined: bool = False
    figure: Printed | None = None
    counts: tuple[int, int] | None = None
    interval: tuple[Printed, Printed] | None = None

    @property
    def unread(self) -> bool:
        """Tell whether it holds digits that were not read."""
        return self.figure is None and self.counts is None and any(map(str.isdigit, self.text))


@dataclass(frozen=True)
class TableRow:
    """A row: its label, the line of the file, and the block between two rules that it is in."""

    label: str
    line: int
    block: int
    cells: tuple[TableCell, ...]


@dataclass(frozen=True)
class Grid:
    """A table: the names of its columns of figures, and its rows; unread: what was left out."""

    name: str
    caption: str
    line: int
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    unread: tuple[str, ...] = ()

    def transposed(self) -> Grid:
        """Return the table with its columns as rows; their line is the table's."""
        rows = tuple(
            TableRow(column, self.line, 0, tuple(row.cells[index] for row in self.rows))
            for index, column in enumerate(self.columns)
        )
        return replace(self, columns=tuple(row.label for row in self.rows), rows=rows)


def read_cell(text: str, *, bold: bool = False, underlined: bool = False) -> TableCell:
    """Read the text of a cell; what holds no number that can be told for sure has no figure."""
    text = text.strip()
    cell = TableCell(text, bold, underlined)
    if match := COUNTS.fullmatch(text):
        figure = _figure(match[3]) if match[3] else None
        return replace(cell, figure=figure, counts=(int(match[1]), int(match[2])))
    if match := COUNTS_BEHIND.fullmatch(text):
        return replace(cell, figure=_figure(match[1]), counts=(int(match[2]), int(match[3])))
    if match := INTERVAL.fullmatch(text):
        ends = _figure(match[2]), _figure(match[3])
        return replace(cell, figure=_figure(match[1]), interval=ends)
    if match := PLAIN.fullmatch(text):
        return replace(cell, figure=_figure(match[1]))
    return cell


def missing(cell: TableCell) -> bool:
    """Tell whether a cell says that there is nothing."""
    return MISSING.fullmatch(cell.text) is not None


@dataclass(frozen=True)
class RawRow:
    """A row as it stands in a source, its labels among its cells."""

    cells: tuple[TableCell, ...]
    line: int
    block: int
    spanning: bool = False


def build_grid(
    name: str, caption: str, line: int, header: list[list[str]], body: list[RawRow]
) -> Grid:
    """Return a table of its header lines and rows.

    The columns before the first one in which half of the cells are figures are labels. A row with
    another number of cells than the rest is unread.
    """
    unread: list[str] = []
    rows: list[RawRow] = []
    width = max((len(row.cells) for row in body if not row.spanning), default=0)
    for row in body:
        if row.spanning:
            continue
        if len(row.cells) == width:
            rows.append(row)
        else:
            unread.append(f"line {row.line}: {len(row.cells)} cells of {width}")
    labels = _label_columns(rows, width)
    names = [_column_name(header, index) for index in range(width)]
    unread += [
        f"line {row.line}: {cell.text!r}"
        for row in rows
        for cell in row.cells[labels:]
        if cell.unread
    ]
    built = tuple(
        TableRow(_label(row, labels), row.line, row.block, row.cells[labels:]) for row in rows
    )
    return Grid(name, caption, line, tuple(names[labels:]), built, tuple(unread))


def _label(row: RawRow, labels: int) -> str:
    return " ".join(cell.text for cell in row.cells[:labels] if cell.text) or f"line {row.line}"


def _label_columns(rows: list[RawRow], width: int) -> int:
    for index in range(1, width):
        cells = [row.cells[index] for row in rows]
        figures = sum(cell.figure is not None or cell.counts is not None for cell in cells)
        if 2 * (figures + sum(map(missing, cells))) >= len(cells) and figures:
            return index
    return width


def _column_name(header: list[list[str]], index: int) -> str:
    names = [line[index] for line in header if index < len(line) and line[index]]
    return " ".join(dict.fromkeys(names)) or f"column {index + 1}"


def _figure(digits: str) -> Printed:
    return printed(digits.replace(",", "").replace("+", ""))
