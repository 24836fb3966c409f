"""A study as a page shows it: what a replay found, which model was asked what, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

AnyResults = TypeVar("AnyResults")
AnyTranscript = TypeVar("AnyTranscript")
DAY = 10  # letters of an ISO 8601 date


class PageVerdict(NamedTuple):
    """What a replay with checksums came to.

    state: "OK", "INCOMPLETE" or "FAILED". checks: the name and the outcome of each. limits: what
    the verdict does not show.
    """

    state: str
    checks: Sequence[tuple[str, str]]
    fingerprint: str
    problems: Sequence[str]
    limits: str


class CalledModel(NamedTuple):
    """A model or source as the study file names it, and its roles in the study."""

    name: str
    roles: Sequence[str]
    provider: str
    address: str
    requested: str
    family: str


class RecordedCall(NamedTuple):
    """A recorded call: its name, its line in the cassette, when it was made, how many tries."""

    name: str
    line: int
    recorded_at: str
    tries: int


class RecordedCell(NamedTuple):
    """A finished cell: its cassette's path from the repository's root, and its calls in order."""

    path: str
    calls: Sequence[RecordedCall]


class ReplayedStudy(NamedTuple, Generic[AnyResults, AnyTranscript]):
    """A study as a replay hands it over.

    frozen_by: the release that froze its materials. cells: the names of the planned ones. recorded:
    the finished ones by name. results, transcripts: in the protocol's own form.
    """

    name: str
    title: str
    about: str
    as_of: str
    seed: int
    frozen_by: str
    verdict: PageVerdict
    models: Sequence[CalledModel]
    cells: Sequence[str]
    recorded: Mapping[str, RecordedCell]
    results: AnyResults
    transcripts: Sequence[AnyTranscript]

    @property
    def calls(self) -> list[RecordedCall]:
        """Return every recorded call."""
        return [call for cell in self.recorded.values() for call in cell.calls]

    def period(self, letters: int | None = None) -> str:
        """Return when the first and the last call were made, as so many letters of ISO 8601."""
        dates = {call.recorded_at[:letters] for call in self.calls if call.recorded_at}
        first, last = min(dates, default="an unknown date"), max(dates, default="")
        return f"{first} to {last}" if last > first else first


AnyStudy = ReplayedStudy[Any, Any]
