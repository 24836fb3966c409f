"""The protocols by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from harness.errors import UsageError
from harness.protocols.seam import Held, StudyProtocol, Surroundings
from harness.results import GoldKey, Materials
from harness.study.folder import Cell, Study

PROTOCOLS: Mapping[str, str] = {
    "ddft": "harness.protocols.ddft.protocol",
    "depthcharge": "harness.protocols.depthcharge.protocol",
}


def protocol_of(study: Study) -> StudyProtocol:
    """Return a study's protocol; raises UsageError for a name that is not registered."""
    name = study.file.protocol
    if name not in PROTOCOLS:
        known = ", ".join(PROTOCOLS)
        raise UsageError(f"{study.folder}: protocol {name!r} is unknown; there are: {known}")
    return cast(StudyProtocol, import_module(PROTOCOLS[name]))


def held_cell(study: Study, key: Cell, materials: Materials, around: Surroundings) -> Held:
    """Set up a cell of the grid, or that of the gold set."""
    protocol = protocol_of(study)
    if isinstance(key, GoldKey):
        return protocol.exam(study, materials, around)
    return protocol.cell(study, key, materials, around)
