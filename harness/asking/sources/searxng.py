"""SearXNG: GET {base_url}/search?q=&format=json (SearXNG's Search API), or what speaks its JSON.

It knows only "the last year" and the like, so a window is applied here, and a result without a date
is not in it. A search without results while engines behind it are silent is bad luck.
"""

from __future__ import annotations

from collections.abc import Sequence

import httpx
import msgspec

from harness.asking.faults import LONGEST_WORDS, NOTHING, BodyReading, Luck
from harness.asking.sources.inquiry import Inquiry, SourceReply, Window
from harness.asking.sources.source_kind import SearchKind
from harness.asking.sources.web_search import as_query, snippet
from harness.results import Passage


class ResultLicence(msgspec.Struct, frozen=True):
    """The licence of a result, which our own corpus server adds."""

    title: str = ""


class SearxngResult(msgspec.Struct, frozen=True):
    """A result."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
    publishedDate: str | None = None
    license: ResultLicence = ResultLicence()


class SearxngReply(msgspec.Struct, frozen=True):
    """A reply: results, and the engines that gave none, each with the reason."""

    results: tuple[SearxngResult, ...]
    unresponsive_engines: tuple[msgspec.Raw, ...] = ()

    @property
    def silence(self) -> str:
        """Return which engines gave no answer, of a search without results; else ""."""
        if self.results or not self.unresponsive_engines:
            return ""
        engines = (bytes(engine).decode("utf-8", "replace") for engine in self.unresponsive_engines)
        return f"no result, and no answer from {', '.join(engines)[:LONGEST_WORDS]},"


class Searxng(SearchKind):
    """A metasearch engine."""

    options = ("categories", "engines", "language", "safesearch")

    def search(self, inquiry: Inquiry, direction: str, window: Window | None) -> SourceReply:  # noqa: ARG002
        """Send the search; raises what Inquiry.down does where its engines are silent."""
        options = as_query(inquiry.endpoint.options)
        params = {"q": inquiry.query(direction), "format": "json", **options}
        reply = inquiry.get("search", "/search", params)
        if silence := reply.read(SearxngReply).silence:
            raise inquiry.down("search", f"has {silence} to the last try")
        return reply

    def passages(self, reply: SourceReply, direction: str) -> Sequence[Passage]:  # noqa: ARG002
        """Return a snippet of each result."""
        return [
            snippet(
                result.title, result.content, result.url, result.publishedDate, result.license.title
            )
            for result in reply.read(SearxngReply).results
        ]

    def is_within(self, date: str, window: Window | None) -> bool:
        """Tell whether a date is in a window; a result without one is not."""
        return window is None or (bool(date) and window.holds(date))

    def reading(self, status: int, headers: httpx.Headers, body: bytes) -> BodyReading:  # noqa: ARG002
        """Return that engines are silent, if they are."""
        if status != httpx.codes.OK or b"unresponsive_engines" not in body:
            return NOTHING
        try:
            silence = msgspec.json.decode(body, type=SearxngReply).silence
        except (ValueError, RecursionError):
            return NOTHING
        return (
            BodyReading(Luck("silent engines", f"the search had {silence}")) if silence else NOTHING
        )


KIND = Searxng()
