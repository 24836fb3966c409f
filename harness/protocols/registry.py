"""The protocol of a study."""

from __future__ import annotations

from typing import cast

from harness.protocols.seam import Held, StudyProtocol, Surroundings
from harness.registry import load
from harness.results import GoldKey, Materials
from harness.study.folder import Cell, Study


def protocol_of(study: Study) -> StudyProtocol:
    """Return a study's protocol; raises UsageError for a name that no package has."""
    return cast(StudyProtocol, load("harness.protocols", study.file.protocol))


def held_cell(study: Study, key: Cell, materials: Materials, around: Surroundings) -> Held:
    """Set up a cell of the grid, or that of the gold set."""
    protocol = protocol_of(study)
    if isinstance(key, GoldKey):
        return protocol.exam(study, materials, around)
    return protocol.cell(study, key, materials, around)
