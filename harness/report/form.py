"""What a report is made from: what a replay found, who was asked what, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.results import DrillResults, DrillTranscript, Results, Transcript
from harness.results.bounds import Band, Bound


class Checked(NamedTuple):
    """What a replay with checksums came to.

    state: "OK", "INCOMPLETE" or "FAILED". parts: what was looked at, and what it is. limits: what
    the verdict does not show.
    """

    state: str
    parts: Sequence[tuple[str, str]]
    fingerprint: str
    problems: Sequence[str]
    limits: str


class ModelAsked(NamedTuple):
    """A model or source as the study file names it, and what it was there for."""

    name: str
    roles: Sequence[str]
    provider: str
    address: str
    requested: str
    family: str


class Call(NamedTuple):
    """One recorded call: its name, its line in the cassette, when it was made, how many tries."""

    name: str
    line: int
    recorded_at: str
    tries: int


class Cassette(NamedTuple):
    """The cassette of a cell: its path from the repository's root, and its calls in their order."""

    path: str
    calls: Sequence[Call]


class Studied(NamedTuple):
    """A study as a replay hands it over.

    frozen_by: the release that froze its materials. cells: the planned grid; cassettes: of the
    finished cells, by name. bands: of each run's survival, by its name.
    """

    name: str
    title: str
    about: str
    as_of: str
    seed: int
    frozen_by: str
    checked: Checked
    models: Sequence[ModelAsked]
    cells: Sequence[str]
    cassettes: Mapping[str, Cassette]
    found: Results | DrillResults
    transcripts: Sequence[Transcript] | Sequence[DrillTranscript]
    bounds: Sequence[Bound]
    bands: Mapping[str, Band]
