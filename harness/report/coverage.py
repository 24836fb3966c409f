"""What was to be recorded and what is there, as tables."""

from __future__ import annotations

from harness.page.page import Section
from harness.page.replayed_study import AnyStudy
from harness.results.coverage_tables import SECTION
from harness.results.table import Cell, Column, Table, columns

COVERAGE = Section(
    SECTION,
    "Coverage and missingness",
    "A missing answer was shown to no judge. A missing judgement is left out of every mean and "
    "counted here; it is never a 0 and never a wrong answer. The bounds say what the numbers could "
    "be at most and at least.",
)


def cell_tables(study: AnyStudy) -> list[Table]:
    """Return how many cells were planned and recorded, and which are missing, if any."""
    missing = [cell for cell in study.cells if cell not in study.recorded]
    rows: list[list[Cell]] = [
        ["planned cells", len(study.cells)],
        ["recorded to their end", len(study.recorded)],
        ["missing", len(missing)],
    ]
    counts = Table("Cells", columns("what", Column("count", int)), rows, section=SECTION)
    if not missing:
        return [counts]
    names = [[cell] for cell in missing]
    by_name = Table("Missing cells", columns("cell"), names, section=SECTION, is_folded=True)
    return [counts, by_name]
