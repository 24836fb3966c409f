"""The reduced grid of a pilot."""

from __future__ import annotations

from harness.errors import UsageError
from harness.results import CellKey
from harness.study.folder import Study

PAPER = "paper"  # the arm that a pilot holds


def pilot_cells(study: Study) -> list[CellKey]:
    """Give the reduced grid of a pilot: arm paper, first repeat, three levels, all else whole.

    The levels are the lowest, the middle one (of an even number the lower of the two), and the
    highest; a study of fewer has all of its own. Raises UsageError for a study without that arm.
    """
    if PAPER not in study.ddft.arms:
        raise UsageError(
            f"{study.folder / 'study.toml'}: ddft.arms has no {PAPER!r}, which is what a pilot "
            f"holds; there are: {', '.join(study.ddft.arms)}"
        )
    levels = sorted(study.ddft.levels)
    kept = {levels[0], levels[(len(levels) - 1) // 2], levels[-1]}
    return [
        cell
        for cell in study.ddft.cells()
        if cell.arm == PAPER and cell.repeat == 1 and cell.level in kept
    ]
