"""The answers of the APIs that the corpus is served in, as their documentation gives them.

Wikimedia's REST summary (Specs/Summary/1.3.0), the action API's list=search and prop=extracts,
info, revisions and pageprops (formatversion=2), and SearXNG's JSON. A `license` beside a page, in
the form of MediaWiki's core REST API, is our addition: an entry's licence is its own.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from urllib.parse import quote

from harness.corpus.entries import Entry
from harness.corpus.index import Hit, slug

Json = dict[str, object]


def key(title: str) -> str:
    """Return a title as it stands in a path, before percent-encoding."""
    return title.replace(" ", "_")


def path_of(title: str) -> str:
    """Return a title as it stands in a path."""
    return quote(key(title), safe="")


def summary(number: int, entry: Entry, base_url: str) -> Json:
    """Return the summary of a page; base_url: this server's address."""
    place = {"page": _address(entry, base_url)}
    return {
        "type": "standard",
        "title": entry.title,
        "displaytitle": entry.title,
        "namespace": {"id": 0, "text": ""},
        "titles": {
            "canonical": key(entry.title),
            "normalized": entry.title,
            "display": entry.title,
        },
        "pageid": number + 1,
        "lang": "en",
        "dir": "ltr",
        "revision": str(revision(entry)),
        "tid": str(uuid.UUID(bytes=_md5(entry))),
        **_timestamp(entry),
        "description": entry.citation,
        "content_urls": {"desktop": place, "mobile": place},
        "extract": entry.text,
        **_licence(entry),
    }


def no_page(path: str) -> Json:
    """Say that there is no such page."""
    return {
        "type": "https://mediawiki.org/wiki/HyperSwitch/errors/not_found",
        "title": "Not found.",
        "method": "get",
        "detail": "Page or revision not found.",
        "uri": path,
    }


def found_pages(hits: Sequence[Hit]) -> Json:
    """Return what list=search found."""
    return {
        "batchcomplete": True,
        "query": {
            "searchinfo": {"totalhits": len(hits)},
            "search": [
                {
                    "ns": 0,
                    "title": hit.entry.title,
                    "pageid": hit.number + 1,
                    "size": len(hit.entry.text.encode()),
                    "wordcount": len(hit.entry.text.split()),
                    "snippet": hit.entry.text[:150],
                    **_timestamp(hit.entry),
                }
                for hit in hits
            ],
        },
    }


def page(
    number: int, entry: Entry, base_url: str, props: Sequence[str], longest: int | None
) -> Json:
    """Return a page with the properties `props`; longest: of its text, in characters."""
    address = _address(entry, base_url)
    is_whole = longest is None or len(entry.text) <= longest
    properties: dict[str, Json] = {
        "extracts": {"extract": entry.text if is_whole else f"{entry.text[:longest]}..."},
        "info": {
            "lastrevid": revision(entry),
            "length": len(entry.text.encode()),
            "fullurl": address,
            "canonicalurl": address,
        },
        "revisions": {"revisions": [{"revid": revision(entry), **_timestamp(entry)}]},
        "pageprops": {},
    }
    shape: Json = {"pageid": number + 1, "ns": 0, "title": entry.title, **_licence(entry)}
    for name in props:
        shape |= properties.get(name, {})
    return shape


def missing(title: str) -> Json:
    """Return a page that there is not."""
    return {"ns": 0, "title": title, "missing": True}


def failure(code: str, info: str) -> Json:
    """Say why the action API did nothing."""
    return {"error": {"code": code, "info": info}}


def results(query: str, hits: Sequence[Hit], base_url: str) -> Json:
    """Return what a search found, as SearXNG does; an entry's domain is its engine."""
    return {
        "query": query,
        "number_of_results": len(hits),
        "results": [_result(hit, base_url) for hit in hits],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }


def _result(hit: Hit, base_url: str) -> Json:
    entry, engine = hit.entry, slug(hit.entry.domain)
    return {
        "url": _address(entry, base_url),
        "title": entry.title,
        "content": entry.text,
        "publishedDate": _time(entry) or None,
        "metadata": entry.citation,
        "engine": engine,
        "engines": [engine],
        "category": entry.tier,
        "score": round(hit.score, 9),
        **_licence(entry),
    }


def _address(entry: Entry, base_url: str) -> str:
    """Return the citation's address, or that of the entry's own page."""
    return entry.url or f"{base_url}/wiki/{path_of(entry.title)}"


def plain_page(entry: Entry) -> str:
    """Return an entry for people."""
    texts = (entry.title, entry.text, entry.citation, entry.url, entry.date, entry.licence)
    return "\n\n".join(text for text in texts if text) + "\n"


def revision(entry: Entry) -> int:
    """Return a number that changes with the words of an entry."""
    return int.from_bytes(_md5(entry)[:4])


def _md5(entry: Entry) -> bytes:
    words = f"{entry.title}\n{entry.text}\n{entry.citation}".encode()
    return hashlib.md5(words, usedforsecurity=False).digest()


def _time(entry: Entry) -> str:
    """Return a whole date as a time of that day; a date without its day stays what it is."""
    return f"{entry.date}T00:00:00Z" if entry.date.count("-") == 2 else entry.date


def _timestamp(entry: Entry) -> Json:
    return {"timestamp": _time(entry)} if entry.date else {}


def _licence(entry: Entry) -> Json:
    return {"license": {"title": entry.licence}} if entry.licence else {}
