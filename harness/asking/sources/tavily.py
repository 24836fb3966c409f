"""Tavily: POST {base_url}/search with a Bearer key (Tavily's API reference, Search).

The window is start_date and end_date; results carry a date only where topic is "news".
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.asking.sources.excerpt import excerpt
from harness.asking.sources.inquiry import Inquiry, SourceReply, Window
from harness.asking.sources.source_kind import SearchKind
from harness.asking.sources.web_search import snippet
from harness.results import Passage
from harness.results.passage import PAGE_FORM


class TavilyResult(msgspec.Struct, frozen=True):
    """A result; raw_content is its page's text, where include_raw_content asked for it."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
    raw_content: str | None = None
    published_date: str | None = None


class TavilyReply(msgspec.Struct, frozen=True):
    """A reply."""

    results: tuple[TavilyResult, ...]


class Tavily(SearchKind):
    """A web search."""

    options = (
        *("country", "exclude_domains", "include_domains", "include_raw_content"),
        *("search_depth", "topic"),
    )
    needs_key = True

    def search(self, inquiry: Inquiry, direction: str, window: Window | None) -> SourceReply:
        """Send the search."""
        body = {
            "query": inquiry.query(direction),
            "max_results": inquiry.endpoint.max_results,
            **{name: _listed(name, option) for name, option in inquiry.endpoint.options.items()},
        }
        if window is not None:
            body |= {"start_date": window.start, "end_date": window.end}
        key = inquiry.endpoint.api_key
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return inquiry.post("search", "/search", body, headers)

    def passages(self, reply: SourceReply, direction: str) -> Iterator[Passage]:
        """Yield each result: what its page says of the direction, or else its snippet."""
        for result in reply.read(TavilyReply).results:
            passage = snippet(result.title, result.content, result.url, result.published_date)
            text = excerpt(result.raw_content or "", direction)
            changed = {"text": text, "form": PAGE_FORM} if text else {}
            yield msgspec.structs.replace(passage, **changed)


def _listed(name: str, option: object) -> object:
    """Return an option as Tavily's JSON has it: a study file may list domains in one text."""
    if name.endswith("_domains") and isinstance(option, str):
        return [domain.strip() for domain in option.split(",")]
    return option


KIND = Tavily()
