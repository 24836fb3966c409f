"""Read all that a recording reads, before anything is written, sent or estimated."""

from __future__ import annotations

from pathlib import Path

import httpx

from harness.protocols.registry import held_cell
from harness.results import Materials
from harness.run.wiring import endpoints, foreseen, surroundings
from harness.study.folder import Study


def read_all(study: Study, price_file: Path | None = None) -> Materials:
    """Return the materials of a recording; every source was opened and every cell set up.

    Nothing is written and nothing sent. Raises UsageError for what a recording would refuse: a
    concept, trap, prompt or price file, a prompt that is not the frozen one, a source's options.
    """
    materials = foreseen(study, price_file)
    nowhere = dict.fromkeys(endpoints(study), httpx.BaseTransport())
    for cell in study.cells():
        held_cell(study, cell, materials, surroundings(study, cell, nowhere, {}))
    return materials
