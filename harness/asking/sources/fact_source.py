"""Fact sources, one interface for all kinds: a direction in, the passages about it out.

A source tells three things apart. "found": passages that are about the direction. "not found": the
source was asked and has none. "failed": what came is no answer (an optional source that is down, a
reply that is none); it is recorded like an answer, and a replay meets it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

import httpx

from harness.asking.relevance import relevant as relevant
from harness.asking.sources.inquiry import Inquiry, NoAnswer
from harness.asking.sources.inquiry import SourceEndpoint as SourceEndpoint
from harness.asking.sources.inquiry import Window as Window
from harness.asking.sources.pages import PageReader
from harness.asking.sources.source_kind import SourceKind, entry_problem, kind_of
from harness.errors import UsageError
from harness.results import Passage

FOUND, NOT_FOUND, FAILED = "found", "not found", "failed"


class LookUp(Protocol):
    """The results of one look-up that are about its direction, best first.

    A result is got from the source when the iteration comes to it. state: FOUND once there was a
    result, FAILED where the source gave no answer before the first; problem: why.
    """

    state: str
    problem: str

    def __iter__(self) -> Iterator[Passage]:
        """Return an iterator over the passages."""


class Source(Protocol):
    """Whatever facts can be looked up in."""

    name: str

    def look_up(
        self, call: str, direction: str, window: Window | None, *, optional: bool = False
    ) -> LookUp:
        """Return the look-up of a direction, under names that begin with `call`."""


class FactSource:
    """One source behind one transport."""

    def __init__(
        self, endpoint: SourceEndpoint, kind: SourceKind, transport: httpx.BaseTransport
    ) -> None:
        self.name = endpoint.name
        self._endpoint, self._kind, self._transport = endpoint, kind, transport

    def look_up(
        self, call: str, direction: str, window: Window | None, *, optional: bool = False
    ) -> LookUp:
        """Return the look-up of a direction; iterating over it asks the source.

        call: the beginning of the calls' names, different for each look-up; the steps behind it
        are named at the kinds. window: the days a search result must be from. optional: a source
        that is down has failed, and that is recorded; else the iteration raises Incomplete where no
        answer could be had now. Optional or not: EndpointRefused where it refuses every call.
        """
        inquiry = Inquiry(self._endpoint, self._transport, call, optional, self._kind.reading)
        read = PageReader(inquiry, direction).read if self._endpoint.fetch else _as_it_is
        find = partial(self._kind.look_up, inquiry, direction, window)
        return _SourceLookUp(find, direction, read)


class _SourceLookUp:
    """A look-up at a source; it can be iterated over once."""

    def __init__(
        self,
        find: Callable[[], Iterator[Passage]],
        direction: str,
        read: Callable[[int, Passage], Passage],
    ) -> None:
        self.state, self.problem = NOT_FOUND, ""
        self._find, self._direction, self._read = find, direction, read

    def __iter__(self) -> Iterator[Passage]:
        place = 0
        try:
            for passage in self._find():
                if passage.text.strip() and relevant(self._direction, passage):
                    self.state, place = FOUND, place + 1
                    yield self._read(place, passage)
        except NoAnswer as problem:
            self.state = FAILED if self.state == NOT_FOUND else self.state
            self.problem = str(problem)


def _as_it_is(place: int, passage: Passage) -> Passage:  # noqa: ARG001
    return passage


def open_source(endpoint: SourceEndpoint, transport: httpx.BaseTransport) -> FactSource:
    """Open a source; raises UsageError where the endpoint's entries do not fit its kind."""
    try:
        kind = kind_of(endpoint.kind)
    except UsageError as error:
        raise UsageError(f"source {endpoint.name!r}: {error}") from error
    if "{direction}" not in endpoint.query:
        raise _wrong(endpoint, f"query {endpoint.query!r}", "{direction} in it")
    _check_address(endpoint)
    if problem := entry_problem(endpoint):
        raise UsageError(f"source {endpoint.name!r}: {problem}")
    return FactSource(endpoint, kind, transport)


def _check_address(endpoint: SourceEndpoint) -> None:
    """Check where requests go and who they say they are from."""
    try:
        httpx.URL(endpoint.base_url)
    except httpx.InvalidURL as error:
        raise _wrong(endpoint, f"base_url {endpoint.base_url!r} ({error})", "an address") from error
    if not re.fullmatch(r"[ -'*-~]*", endpoint.contact):
        raise _wrong(endpoint, f"contact {endpoint.contact!r}", "ASCII without brackets")


def _wrong(endpoint: SourceEndpoint, got: str, expected: str) -> UsageError:
    return UsageError(f"source {endpoint.name!r}: {got}; expected {expected}")
