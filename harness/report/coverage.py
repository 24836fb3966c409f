"""What was to be recorded and what is there, as tables."""

from __future__ import annotations

from harness.page.page import Section
from harness.page.replayed_study import AnyStudy
from harness.results.coverage_tables import SECTION
from harness.results.digits import plural
from harness.results.table import Table, columns

COVERAGE = Section(
    SECTION,
    "Coverage and missingness",
    "A missing answer was shown to no judge. A missing judgement is left out of every mean and "
    "counted here; it is never a 0 and never a wrong answer. The bounds say what the numbers could "
    "be at most and at least.",
)


def coverage(study: AnyStudy) -> Section:
    """Return the section's head, with how many cells are recorded."""
    cells = f"{len(study.recorded)} of {plural(len(study.cells), 'planned cell')} are recorded."
    return COVERAGE._replace(about=f"{cells} {COVERAGE.about}")


def missing_cells(study: AnyStudy) -> list[Table]:
    """Return the cells that are not recorded, if any, by their names."""
    missing = [[cell] for cell in study.cells if cell not in study.recorded]
    if not missing:
        return []
    title = f"Missing cells: {len(missing)}"
    return [Table(title, columns("cell"), missing, section=SECTION, is_folded=True)]
