"""Look-ups over real HTTP, and a small wiki that answers in the documented shapes."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

import httpx
from loopback import Answer, Answering, Loopback, Received, json_answer

from harness.asking.retry import RetryTransport
from harness.asking.sources.fact_source import LookUp, SourceEndpoint, Window, open_source
from harness.results import Passage

KEY = "test-key-0123456789abcdef"
CONTACT = "mailto:study@example.org"
WINDOW = Window("2024-11-28", "2026-11-28")
SUMMARY = "/api/rest_v1/page/summary/"
Named = list[tuple[str, str]]


class Found(NamedTuple):
    """What a look-up came to at its first result."""

    state: str
    passage: Passage | None
    problem: str


def first(look_up: LookUp) -> Found:
    """Go to the first result of a look-up."""
    passage = next(iter(look_up), None)
    return Found(look_up.state, passage, look_up.problem)


class Calls(httpx.BaseTransport):
    """Send over HTTP and keep what each request's extensions say."""

    def __init__(self) -> None:
        self._wire = httpx.HTTPTransport()
        self.extensions: list[Mapping[str, Any]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.extensions.append(request.extensions)
        return self._wire.handle_request(request)

    @property
    def names(self) -> list[str]:
        return [one["call"] for one in self.extensions]


def endpoint(kind: str, url: str, **more: Any) -> SourceEndpoint:
    values = {"api_key": KEY, "contact": CONTACT, "timeout": 5.0, **more}
    return SourceEndpoint(f"the-{kind}", kind, url, **values)


def look_up(
    answer: Answering,
    kind: str,
    direction: str,
    window: Window | None = None,
    *,
    optional: bool = False,
    tries: int = 1,
    **more: Any,
) -> tuple[Found, list[str], Sequence[Received]]:
    """Look up once; give what was found, the calls' names and what the server received."""
    calls = Calls()
    retry = RetryTransport(calls, threading.Event(), tries=tries, first_wait=0.01)
    with Loopback(answer) as server:
        source = open_source(endpoint(kind, server.url, **more), retry)
        found = first(source.look_up("at", direction, window, optional=optional))
        return found, calls.names, server.received


def article(title: str, extract: str, **more: Any) -> dict[str, Any]:
    """Make a summary as Specs/Summary/1.3.0 has it."""
    page = f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}"
    names = {
        "canonical": title.replace(" ", "_"),
        "normalized": title,
        "display": f"<i>{title}</i>",
    }
    return {
        "type": "standard",
        "title": title,
        "titles": names,
        "pageid": 7,
        "lang": "en",
        "dir": "ltr",
        "revision": "1200000001",
        "tid": "154d7bca-c264-11e5-8c2f-1b51b33b59fc",
        "timestamp": "2026-01-15T14:30:00Z",
        "description": "A short one",
        "content_urls": {"desktop": {"page": page}, "mobile": {"page": page}},
        "extract": extract,
        "extract_html": f"<p>{extract}</p>",
        **more,
    }


def page(title: str, extract: str, **more: Any) -> dict[str, Any]:
    """Make a page as action=query with extracts, info, revisions and pageprops has it."""
    return {
        "pageid": 7,
        "ns": 0,
        "title": title,
        "extract": extract,
        "lastrevid": 1200000001,
        "fullurl": f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}",
        "revisions": [{"revid": 1200000001, "parentid": 1, "timestamp": "2026-01-15T14:30:00Z"}],
        **more,
    }


class Wiki:
    """A wiki that knows some summaries, redirects, hits of any search, and pages."""

    def __init__(
        self,
        summaries: Sequence[Mapping[str, Any]] = (),
        redirects: Mapping[str, str] | None = None,
        hits: Sequence[str] = (),
        pages: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self._summaries = {one["titles"]["canonical"]: one for one in summaries}
        self._redirects, self._hits = redirects or {}, hits
        self._pages = {one["title"]: one for one in pages}

    def __call__(self, received: Received) -> Answer:
        assert received.method == "GET"
        assert received.header("user-agent") == f"harness/0.1.0 ({CONTACT})"
        if received.path.startswith(SUMMARY):
            return self._summary(unquote(received.path.removeprefix(SUMMARY)))
        assert received.path == "/w/api.php"
        asked = {name: values[0] for name, values in parse_qs(received.query).items()}
        common = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
        assert common.items() <= asked.items()
        if "srsearch" in asked:
            return self._search(asked)
        return self._page(asked)

    def _summary(self, title: str) -> Answer:
        assert " " not in title
        if title in self._redirects:
            return Answer(302, headers=[("Location", self._redirects[title])])
        if title in self._summaries:
            return json_answer(self._summaries[title])
        kind = "https://mediawiki.org/wiki/HyperSwitch/errors/not_found"
        return json_answer({"type": kind, "title": "Not found.", "method": "get"}, 404)

    def _search(self, asked: Mapping[str, str]) -> Answer:
        assert asked.keys() - {"action", "format", "formatversion", "maxlag"} == {
            "list",
            "srsearch",
            "srnamespace",
            "srlimit",
        }
        assert (asked["list"], asked["srnamespace"]) == ("search", "0")
        hits = [{"ns": 0, "title": hit, "pageid": 7} for hit in self._hits[: int(asked["srlimit"])]]
        found = {"searchinfo": {"totalhits": len(self._hits)}, "search": hits}
        return json_answer({"batchcomplete": True, "query": found})

    def _page(self, asked: Mapping[str, str]) -> Answer:
        assert asked["prop"] == "extracts|info|revisions|pageprops"
        assert (asked["explaintext"], asked["exsectionformat"], asked["exlimit"]) == (
            "1",
            "wiki",
            "1",
        )
        assert (asked["inprop"], asked["rvprop"]) == ("url", "ids|timestamp")
        assert (asked["ppprop"], asked["redirects"]) == ("disambiguation", "1")
        missing = {"ns": 0, "title": asked["titles"], "missing": True}
        found = self._pages.get(asked["titles"], missing)
        return json_answer({"batchcomplete": True, "query": {"pages": [found]}})
