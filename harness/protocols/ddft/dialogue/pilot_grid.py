"""The reduced grid of a pilot."""

from __future__ import annotations

from harness.errors import UsageError
from harness.protocols.ddft.study_table import ddft_plan
from harness.results import CellKey
from harness.study.folder import Study

PAPER = "paper"  # the arm that a pilot holds


def pilot_cells(study: Study) -> list[CellKey]:
    """Return the reduced grid of a pilot: arm paper, first repeat, three levels, all else whole.

    The levels are the lowest, the middle one (of an even number the lower of the two), and the
    highest; a study of fewer has all of its own. Raises UsageError for a study without that arm.
    """
    plan = ddft_plan(study)
    if PAPER not in plan.arms:
        raise UsageError(
            f"{study.folder / 'study.toml'}: ddft.arms has no {PAPER!r}, which is what a pilot "
            f"holds; there are: {', '.join(plan.arms)}"
        )
    levels = sorted(plan.levels)
    of_pilot = {levels[0], levels[(len(levels) - 1) // 2], levels[-1]}
    return [
        cell
        for cell in plan.cells()
        if cell.arm == PAPER and cell.repeat == 1 and cell.level in of_pilot
    ]
