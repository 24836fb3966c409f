"""Wikipedia as a source: summaries of pages by title, and the paragraphs that fit a direction.

Summaries: GET /api/rest_v1/page/summary/{title} (Wikimedia's REST API, Specs/Summary/1.3.0):
`type` tells articles from disambiguation pages, a redirect page answers 302, an unknown title 404.
Search and extracts: GET /w/api.php, action=query with list=search, and with prop=extracts of the
TextExtracts extension; formatversion=2; maxlag=5 as Manual:Maxlag parameter recommends. An error is
{"error": {"code", "info"}} in an answer of status 200 (API:Errors and warnings).

A page's date is that of its last revision and says nothing about the facts in it, so the window of
a look-up is not applied here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import msgspec

from harness.asking.faults import NOTHING, BodyReading, Luck
from harness.asking.sources.excerpt import excerpt
from harness.asking.sources.inquiry import (
    NO_SUCH_PAGE,
    Inquiry,
    NoAnswer,
    SourceEndpoint,
    SourceReply,
    Window,
)
from harness.asking.sources.source_kind import SourceKind
from harness.results import Passage

LICENCE = "CC BY-SA 4.0"  # of its texts; its pages say so, its answers do not
BUSY = ("maxlag", "ratelimited")  # codes of a wiki that has too much to do
WIKIMEDIA = (".wikipedia.org", ".wikimedia.org")
SUMMARY_PATH = "/api/rest_v1/page/summary/"
MOST_HITS = 3
MOST_REDIRECTS = 3
NO_TITLE = 400  # for a title that no page can have
LONGEST_TITLE = 255  # bytes
_not_in_titles = re.compile(r"[#<>\[\]|{}\x00-\x1f\x7f\ufffd]")


class PageLicence(msgspec.Struct, frozen=True):
    """The licence of a page; MediaWiki's core REST API names one beside it, Wikipedia does not."""

    title: str = LICENCE


class Address(msgspec.Struct, frozen=True):
    """Where a page is to be read."""

    page: str = ""


class Addresses(msgspec.Struct, frozen=True):
    """The addresses of a page, by device."""

    desktop: Address = Address()


class Titles(msgspec.Struct, frozen=True):
    """A page's title in its forms."""

    normalized: str = ""


class Summary(msgspec.Struct, frozen=True):
    """A page's summary; type: "standard", "disambiguation", "no-extract" or "mainpage"."""

    type: str
    title: str = ""
    titles: Titles = Titles()
    extract: str = ""
    content_urls: Addresses = Addresses()
    revision: str | int = ""
    timestamp: str = ""
    license: PageLicence = PageLicence()


class Problem(msgspec.Struct, frozen=True):
    """Why the action API did nothing."""

    code: str
    info: str = ""


class WikiHit(msgspec.Struct, frozen=True):
    """A page that fits a search, and a piece of its text."""

    title: str
    snippet: str = ""


class Revision(msgspec.Struct, frozen=True):
    """A revision of a page."""

    revid: int
    timestamp: str = ""


class WikiPage(msgspec.Struct, frozen=True):
    """A page as plain text."""

    title: str
    extract: str = ""
    revisions: tuple[Revision, ...] = ()
    pageprops: dict[str, object] = {}
    fullurl: str = ""
    license: PageLicence = PageLicence()


class Query(msgspec.Struct, frozen=True):
    """What action=query answers: hits, or pages."""

    search: tuple[WikiHit, ...] = ()
    pages: tuple[WikiPage, ...] = ()


class ActionReply(msgspec.Struct, frozen=True):
    """An answer of the action API."""

    query: Query | None = None
    error: Problem | None = None


class Wikipedia(SourceKind):
    """What both kinds have in common."""

    has_dates = False
    names_pages = False

    def passages(self, reply: SourceReply, direction: str) -> Iterator[Passage]:
        """Yield the summary, the pages, or the pieces of pages that a search shows."""
        if httpx.codes.is_redirect(reply.status) or reply.status in (NO_SUCH_PAGE, NO_TITLE):
            return
        if SUMMARY_PATH in reply.url.path:
            yield _summary_passage(reply.read(Summary))
            return
        action = reply.read(ActionReply)
        if action.query is None and action.error is None:
            raise NoAnswer(f"{reply.where}: neither a query nor an error: {reply.words}")
        query = action.query or Query()
        yield from (_passage(page, direction) for page in query.pages)
        yield from (Passage(hit.title, hit.snippet, "", licence=LICENCE) for hit in query.search)

    def reading(self, status: int, headers: httpx.Headers, body: bytes) -> BodyReading:
        """Return that the wiki is too busy, if it says so."""
        code = headers.get("mediawiki-api-error") or _error_code(body)
        if status != httpx.codes.OK or code not in BUSY:
            return NOTHING
        return BodyReading(Luck(code, f"the wiki answered {code}"))

    def entry_problem(self, endpoint: SourceEndpoint) -> str:
        """Return that Wikimedia's policy (User-Agent policy) wants to know who asks."""
        host = f".{httpx.URL(endpoint.base_url).host}"
        if host.endswith(WIKIMEDIA) and not endpoint.contact:
            return "Wikimedia wants a contact (an e-mail address or a page) of who asks"
        return ""


class Summaries(Wikipedia):
    """Summaries of pages."""

    def look_up(
        self,
        inquiry: Inquiry,
        direction: str,
        window: Window | None,  # noqa: ARG002
    ) -> Iterator[Passage]:
        """Yield the summary of the page that the direction names, then those of a search's hits.

        Steps: summary, search, summary-2 to summary-4; each may go on with /redirect-1 and so on.
        """
        title = page_title(direction)
        named = _summary(inquiry, "summary", title) if title else None
        if named is not None:
            yield named
        tried = {"", title, page_title(named.title) if named else ""}
        hits = [hit for hit in _hits(inquiry, direction) if page_title(hit) not in tried]
        for number, hit in enumerate(hits[:MOST_HITS], 2):
            passage = _summary(inquiry, f"summary-{number}", page_title(hit))
            if passage is not None:
                yield passage


class Extracts(Wikipedia):
    """Paragraphs of pages."""

    def look_up(
        self,
        inquiry: Inquiry,
        direction: str,
        window: Window | None,  # noqa: ARG002
    ) -> Iterator[Passage]:
        """Yield of each of a search's best hits the paragraphs that fit the direction.

        Steps: search, extract, extract-2, extract-3.
        """
        for number, hit in enumerate(_hits(inquiry, direction)[:MOST_HITS], 1):
            step = "extract" if number == 1 else f"extract-{number}"
            for page in _pages(inquiry, step, hit):
                if "disambiguation" not in page.pageprops:
                    yield _passage(page, direction)


def page_title(name: str) -> str:
    """Return a name as a page's title, with underscores; "" where no page can have it."""
    title = "_".join(name.replace("_", " ").split())
    if _not_in_titles.search(title) or len(title.encode()) > LONGEST_TITLE:
        return ""
    return title[:1].upper() + title[1:]


def _summary(inquiry: Inquiry, step: str, title: str) -> Passage | None:
    reply = inquiry.get(step, f"{SUMMARY_PATH}{quote(title, safe='')}")
    for number in range(1, MOST_REDIRECTS + 1):
        if not httpx.codes.is_redirect(reply.status):
            break
        reply = inquiry.follow(f"{step}/redirect-{number}", reply)
    if reply.status in (NO_SUCH_PAGE, NO_TITLE):
        return None
    page = reply.read(Summary)
    return _summary_passage(page) if page.type == "standard" else None


def _summary_passage(page: Summary) -> Passage:
    return Passage(
        page.titles.normalized or page.title,
        page.extract,
        page.content_urls.desktop.page,
        str(page.revision),
        page.timestamp,
        page.license.title,
    )


def _error_code(body: bytes) -> str:
    if b'"error"' not in body:
        return ""
    try:
        error = msgspec.json.decode(body, type=ActionReply).error
    except (ValueError, RecursionError):
        return ""
    return error.code if error else ""


def _hits(inquiry: Inquiry, direction: str) -> list[str]:
    """Search for a direction; one hit more than is read, as one may have been read before."""
    params = {
        "list": "search",
        "srsearch": inquiry.query(direction),
        "srnamespace": "0",
        "srlimit": str(MOST_HITS + 1),
    }
    return [hit.title for hit in _query(inquiry, "search", params).search]


def _pages(inquiry: Inquiry, step: str, title: str) -> tuple[WikiPage, ...]:
    params = {
        "titles": title,
        "redirects": "1",
        "prop": "extracts|info|revisions|pageprops",
        "explaintext": "1",
        "exsectionformat": "wiki",
        "exlimit": "1",
        "inprop": "url",
        "rvprop": "ids|timestamp",
        "ppprop": "disambiguation",
    }
    return _query(inquiry, step, params).pages


def _query(inquiry: Inquiry, step: str, params: dict[str, str]) -> Query:
    common = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
    reply = inquiry.get(step, "/w/api.php", {**common, **params}).read(ActionReply)
    if reply.error and reply.error.code in BUSY:
        raise inquiry.down(step, f"answered {reply.error.code} to the last try")
    if reply.query is None:
        problem = f"{reply.error.code} ({reply.error.info})" if reply.error else "no result"
        raise NoAnswer(f"{inquiry.where(step)} answered with {problem}")
    return reply.query


def _passage(page: WikiPage, direction: str) -> Passage:
    last = page.revisions[0] if page.revisions else None
    return Passage(
        page.title,
        excerpt(page.extract, direction),
        page.fullurl,
        str(last.revid) if last else "",
        last.timestamp if last else "",
        page.license.title,
    )


SUMMARIES, EXTRACTS = Summaries(), Extracts()
