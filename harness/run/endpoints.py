"""Whom each recorded call went to, by the study's names of its models and sources."""

from __future__ import annotations

from msgspec.structs import replace

from harness.errors import CheckFailed
from harness.recording import cassette as cassettes
from harness.recording.cassette import Cassette
from harness.recording.interaction import Interaction
from harness.run.replay import asked_endpoints
from harness.run.wiring import endpoints
from harness.study.folder import Cell, Study


def with_endpoints(study: Study, cell: Cell) -> Cassette:
    """Return a copy of a cell's cassette, each call with its endpoint.

    Format 2 holds the names, and a replay compares them; a cell of format 1 is replayed, and what
    it asks is noted. Nothing is guessed from an address. Raises CheckFailed where a call's
    endpoint cannot be known.
    """
    path = study.cassette(cell)
    cassette = cassettes.load(path)
    names = {*endpoints(study), *study.file.endpoints}
    replayed_names = asked_endpoints(study, cell) if cassette.format == 1 else {}
    interactions = []
    for label, interaction in cassette.labelled():
        request, response = replace(interaction.request), replace(interaction.response)
        response.endpoint = response.endpoint or replayed_names.get(
            (label, response.occurrence), ""
        )
        if response.endpoint not in names:
            raise CheckFailed(
                f"{path}, call {label}: the recording does not say which model or source of "
                "study.toml was asked, so what may not be handed on cannot be told from the rest."
            )
        interactions.append(Interaction(request, response))
    return Cassette(interactions, cassette.format, cassette.rules)
