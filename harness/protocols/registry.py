"""The protocol of a study."""

from __future__ import annotations

from types import ModuleType
from typing import cast

from harness.errors import UsageError
from harness.protocols.seam import Held, StudyProtocol, Surroundings
from harness.registry import load
from harness.results import GoldKey, Materials
from harness.study.folder import Cell, Study


def protocol_of(study: Study) -> StudyProtocol:
    """Return a study's protocol; raises UsageError for a name that no package has."""
    return protocol_named(study.file.protocol)


def protocol_named(name: str) -> StudyProtocol:
    """Return the protocol of a name.

    Raises UsageError for a name that no package has, or that is no protocol.
    """
    protocol = load("harness.protocols", name)
    if not isinstance(protocol, (ModuleType, StudyProtocol)):
        raise UsageError(
            f"protocol {name!r}: its entry point is a {type(protocol).__name__}; expected an "
            "instance of a class that derives from harness.protocols.seam.StudyProtocol"
        )
    return cast(StudyProtocol, protocol)


def held_cell(study: Study, key: Cell, materials: Materials, around: Surroundings) -> Held:
    """Set up a cell of the grid, or that of the gold set."""
    protocol = protocol_of(study)
    if isinstance(key, GoldKey):
        return protocol.exam(study, materials, around)
    return protocol.cell(study, key, materials, around)
