"""A study's metrics one by one, whatever its protocol, of all its cells or of some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from harness.ddft.scoreboard import scoreboard as of_dialogues
from harness.depthcharge.scoreboard import scoreboard as of_drills
from harness.results import Materials
from harness.results.scored import Scored
from harness.run import dialogues, drills
from harness.study import Study


def scoreboard(study: Study, found: Any) -> list[Scored]:
    """Give every metric of every model, in the order of the results."""
    return of_dialogues(found) if study.file.protocol == "ddft" else of_drills(found)


def partly_scored(study: Study, materials: Materials, cells: Sequence[Any]) -> Any:
    """Compute metrics of some of a study's cells, without the analysis.

    A subject is complete that has as many cells as the one with the most.
    """
    if study.file.protocol != "ddft":
        return drills.scored(study, materials, cells)
    counts = Counter((cell.cell.subject, cell.cell.arm) for cell in cells)
    return dialogues.scored(study, materials, cells, planned=max(counts.values()))
