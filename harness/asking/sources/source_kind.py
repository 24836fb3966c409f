"""A kind of fact source: how it is searched, and what its replies hold.

A kind is one object, in a module of its own, under a name of harness.registry (or of another
package's entry points `harness.sources`). docs/internals.md says how to add one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import httpx

from harness.asking.faults import NOTHING, BodyReading
from harness.asking.sources.inquiry import Inquiry, SourceEndpoint, SourceReply, Window
from harness.errors import UsageError
from harness.registry import load
from harness.results import Passage


class SourceKind(ABC):
    """One kind of source; what is set and defined here is the same at most of them.

    options: the names that a study may give in [sources.NAME.options]; they are sent as they are.
    needs_key: whether nothing is answered without one. has_dates: whether it can keep to a window
    of days. names_pages: whether its passages are snippets of pages that can be read (`fetch`).
    """

    options: Sequence[str] = ()
    needs_key = False
    has_dates = True
    names_pages = True

    @abstractmethod
    def look_up(self, inquiry: Inquiry, direction: str, window: Window | None) -> Iterator[Passage]:
        """Yield what the source has about a direction, best first, within the window.

        A call is sent when the iteration comes to it. Raises as Inquiry does.
        """

    @abstractmethod
    def passages(self, reply: SourceReply, direction: str) -> Iterable[Passage]:
        """Return every passage that a reply holds, each with its licence ("": not known).

        direction: what is looked for, "" where everything counts: what may be handed on of a
        recording is decided by these licences. Raises NoAnswer for what is no reply of this kind.
        """

    def reading(self, status: int, headers: httpx.Headers, body: bytes) -> BodyReading:  # noqa: ARG002
        """Return what a body says beyond its status: bad luck, or a refused key."""
        return NOTHING

    def entry_problem(self, endpoint: SourceEndpoint) -> str:  # noqa: ARG002
        """Return what is wrong with a study's entry for this kind; "" where nothing is."""
        return ""


class SearchKind(SourceKind):
    """A kind that answers a search with one reply, whose passages carry their dates."""

    @abstractmethod
    def search(self, inquiry: Inquiry, direction: str, window: Window | None) -> SourceReply:
        """Send the search, under the step "search"."""

    def look_up(self, inquiry: Inquiry, direction: str, window: Window | None) -> Iterator[Passage]:
        """Yield the first results that are not known to be from outside the window."""
        reply = self.search(inquiry, direction, window)
        within = (
            passage
            for passage in self.passages(reply, direction)
            if self.is_within(passage.date, window)
        )
        return islice(within, inquiry.endpoint.max_results)

    def is_within(self, date: str, window: Window | None) -> bool:
        """Tell whether a date is in a window; a result without one is trusted to be."""
        return not date or window is None or window.holds(date)


def kind_of(name: str) -> SourceKind:
    """Return the kind of a name; raises UsageError where there is none."""
    kind = load("harness.sources", name)
    if not isinstance(kind, SourceKind):
        raise UsageError(
            f"kind of source {name!r}: its entry point is a {type(kind).__name__}; expected an "
            "object of a class that derives from harness.asking.sources.source_kind.SourceKind"
        )
    return kind


def entry_problem(endpoint: SourceEndpoint) -> str:
    """Return what is wrong with a study's entry for a source; "" where nothing is."""
    kind = kind_of(endpoint.kind)
    for name in endpoint.options:
        if name not in kind.options:
            options = ", ".join(kind.options) or "none"
            return f"option {name!r}; expected one of those for {endpoint.kind}: {options}"
    if endpoint.fetch and not kind.names_pages:
        return f"fetch reads the pages of web searches; {endpoint.kind} gives texts"
    return kind.entry_problem(endpoint)
