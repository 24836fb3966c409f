"""The answers to requests for a corpus, without a socket.

GET /api/rest_v1/page/summary/{title}, GET /w/api.php (action=query, formatversion=2), GET
/search?format=json as a SearXNG answers it, and GET /wiki/{title} for people. What is looked in can
be narrowed: a path may begin with a tier, a domain or both (/COMMON/w/api.php,
/medicine/COMMON/search), and /search takes tiers as `categories` and domains as `engines`, where
names that are neither make no difference, as in SearXNG. The same request gets the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import parse_qs, unquote

from harness.corpus import shapes
from harness.corpus.index import Index, Scope, slug

MOST_RESULTS = 10  # of a search
MOST_HITS, FEW_HITS = 500, 10  # that the action API gives, and gives unless asked for more
SUMMARY, ACTION, SEARCH, PAGE = "/api/rest_v1/page/summary/", "/w/api.php", "/search", "/wiki/"
JSON, TEXT = "application/json; charset=utf-8", "text/plain; charset=utf-8"


class Response(NamedTuple):
    """What to send back."""

    status: int
    kind: str
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})


class Site:
    """A corpus as a site; base_url: the address that its own pages have."""

    def __init__(self, index: Index, base_url: str) -> None:
        self._index, self._base_url = index, base_url

    def answer(self, target: str) -> Response:
        """Answer a request for a path with its query."""
        full_path, _, text = target.partition("?")
        query = {name: values[0] for name, values in parse_qs(text, True).items()}
        scope, path = self._scoped(full_path)
        if path.startswith(SUMMARY):
            return self._summary(unquote(path.removeprefix(SUMMARY)), scope, full_path)
        if path.startswith(PAGE):
            return self._page(unquote(path.removeprefix(PAGE)), scope, full_path)
        if path == ACTION:
            return self._action(query, scope)
        if path == SEARCH:
            return self._search(query, scope)
        return _json(shapes.no_page(full_path), 404)

    def _scoped(self, path: str) -> tuple[Scope, str]:
        """Take the tiers and domains off the beginning of a path."""
        scope, steps = Scope(), path.split("/")[1:]
        while (named := self._named([unquote(step) for step in steps[:1]])) != Scope():
            scope, steps = scope.overridden(named), steps[1:]
        return scope, "/" + "/".join(steps)

    def _named(self, names: Sequence[str]) -> Scope:
        """Return the tiers and domains among some names."""
        known_scope = self._index.scope
        return Scope(known_scope.tiers & set(names), known_scope.domains & set(map(slug, names)))

    def _summary(self, title: str, scope: Scope, path: str) -> Response:
        number = self._index.titled(title, scope)
        if number is None:
            return _json(shapes.no_page(path), 404)
        entry = self._index.entries[number]
        if title != shapes.key(entry.title):
            return Response(302, TEXT, b"", {"Location": shapes.path_of(entry.title)})
        return _json(shapes.summary(number, entry, self._base_url))

    def _page(self, title: str, scope: Scope, path: str) -> Response:
        number = self._index.titled(title, scope)
        if number is None:
            return _json(shapes.no_page(path), 404)
        return Response(200, TEXT, shapes.plain_page(self._index.entries[number]).encode())

    def _search(self, query: Mapping[str, str], scope: Scope) -> Response:
        if not query.get("q", "").strip():
            return Response(400, TEXT, b"No query\n")
        if query.get("format") != "json":
            return Response(403, TEXT, b"Only format=json is served here\n")
        names = f"{query.get('categories', '')},{query.get('engines', '')}".split(",")
        within = scope.overridden(self._named([name.strip() for name in names]))
        hits = self._index.search(query["q"], within, MOST_RESULTS)
        return _json(shapes.results(query["q"], hits, self._base_url))

    def _action(self, query: Mapping[str, str], scope: Scope) -> Response:
        for name, value in (("action", "query"), ("format", "json"), ("formatversion", "2")):
            if query.get(name) != value:
                return _failure("badvalue", f"Only {name}={value} is served here.")
        if "titles" in query:
            return _json(self._pages(query, scope))
        if query.get("list") != "search":
            return _failure("badvalue", "Only list=search and titles are served here.")
        if not query.get("srsearch", "").strip():
            return _failure("missingparam", 'The "srsearch" parameter must be set.')
        limit = query.get("srlimit", "")
        most_hits = min(int(limit), MOST_HITS) if limit.isdecimal() else FEW_HITS
        return _json(shapes.found_pages(self._index.search(query["srsearch"], scope, most_hits)))

    def _pages(self, query: Mapping[str, str], scope: Scope) -> dict[str, object]:
        props, longest = query.get("prop", "").split("|"), query.get("exchars", "")
        cut = int(longest) if longest.isdecimal() else None
        pages, moved = [], []
        for title in query["titles"].split("|"):
            number = self._index.titled(title, scope)
            if number is None:
                pages.append(shapes.missing(title))
                continue
            entry = self._index.entries[number]
            pages.append(shapes.page(number, entry, self._base_url, props, cut))
            if title != entry.title:
                moved.append({"fromencoded": False, "from": title, "to": entry.title})
        normalized = {"normalized": moved} if moved else {}
        return {"batchcomplete": True, "query": {**normalized, "pages": pages}}


def _json(value: object, status: int = 200) -> Response:
    return Response(status, JSON, json.dumps(value, ensure_ascii=False).encode())


def _failure(code: str, info: str) -> Response:
    """The action API's errors have status 200, and their code in the head too."""
    return _json(shapes.failure(code, info))._replace(headers={"MediaWiki-API-Error": code})
