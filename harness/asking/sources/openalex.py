"""OpenAlex: abstracts of scholarly works.

GET {base_url}/works?search=&per-page= (OpenAlex API, Works). The window is a filter by publication
date. contact: sent as mailto; a key as api_key. An abstract comes as an inverted index, from a word
to its places. Its licence is that of the work's best open copy, or of its first (Location object);
OpenAlex's own data is CC0, which an abstract is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import msgspec

from harness.asking.sources.inquiry import Inquiry, SourceReply, Window
from harness.asking.sources.source_kind import SearchKind
from harness.asking.sources.web_search import as_query
from harness.results import Passage

FIELDS = (
    "id,display_name,publication_date,abstract_inverted_index,best_oa_location,primary_location"
)
LICENCES = MappingProxyType({"public-domain": "public domain"})  # others are as Creative Commons'
MOST_WORDS = 20_000  # of an abstract; the places of words that are further on are not filled


class Location(msgspec.Struct, frozen=True):
    """A place where a work can be read, and under which licence."""

    landing_page_url: str | None = None
    license: str | None = None


class Work(msgspec.Struct, frozen=True):
    """A work and its abstract, word by word."""

    id: str
    display_name: str | None = None
    publication_date: str | None = None
    abstract_inverted_index: dict[str, list[int]] | None = None
    best_oa_location: Location | None = None
    primary_location: Location | None = None

    @property
    def abstract(self) -> str:
        """Return the abstract as a text."""
        index = self.abstract_inverted_index or {}
        places = [(place, word) for word, listed in index.items() for place in listed]
        return " ".join(word for _, word in sorted(places)[:MOST_WORDS])

    @property
    def licence(self) -> str:
        """Return the licence of the first location that has one; "" where none has."""
        locations = (self.best_oa_location, self.primary_location)
        licences = (location.license for location in locations if location)
        licence = next((licence for licence in licences if licence), "")
        return LICENCES.get(licence, licence)


class Works(msgspec.Struct, frozen=True):
    """A reply."""

    results: tuple[Work, ...]


class OpenAlex(SearchKind):
    """A catalogue of works."""

    options = ("sort",)
    names_pages = False

    def search(self, inquiry: Inquiry, direction: str, window: Window | None) -> SourceReply:
        """Send the search."""
        endpoint = inquiry.endpoint
        params = {
            "search": inquiry.query(direction),
            "per-page": str(endpoint.max_results),
            "select": FIELDS,
            **as_query(endpoint.options),
        }
        if window is not None:
            dates = (f"from_publication_date:{window.start}", f"to_publication_date:{window.end}")
            params["filter"] = ",".join(dates)
        if endpoint.contact:
            params["mailto"] = endpoint.contact.removeprefix("mailto:")
        if endpoint.api_key:
            params["api_key"] = endpoint.api_key
        return inquiry.get("search", "/works", params)

    def passages(self, reply: SourceReply, direction: str) -> Sequence[Passage]:  # noqa: ARG002
        """Return the abstract of each work that has one."""
        works = reply.read(Works).results
        return [_passage(work) for work in works if work.abstract_inverted_index]


def _passage(work: Work) -> Passage:
    return Passage(
        title=work.display_name or "",
        text=work.abstract,
        url=work.id,
        date=work.publication_date or "",
        licence=work.licence,
    )


KIND = OpenAlex()
