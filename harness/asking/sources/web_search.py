"""Web search as a source: SearXNG, Tavily and Brave, each result one passage.

searxng: GET {base_url}/search?q=&format=json (SearXNG's Search API); it knows only "the last year"
and the like, so a window is applied here, and a result without a date is not in it. tavily: POST
{base_url}/search with a Bearer key; the window is start_date and end_date; results carry a date
only where topic is "news". brave: GET {base_url}/res/v1/web/search with X-Subscription-Token; the
window is freshness={start}to{end}. Of Tavily and Brave a result without a date is trusted to be in
the window that was asked for, one with a date outside is not.
"""

from __future__ import annotations

import email.utils
import html
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from harness.asking.faults import refusal, silence
from harness.asking.sources.excerpt import excerpt
from harness.asking.sources.inquiry import Inquiry, Window
from harness.asking.sources.wikipedia import Licence
from harness.results import Passage
from harness.results.depthcharge import PAGE_FORM, SNIPPET_FORM

_tag = re.compile(r"</?[a-zA-Z][^<>]*>")
_iso = re.compile(r"\d{4}(-\d\d(-\d\d)?)?(?!\d)", re.ASCII)


class SearxngResult(msgspec.Struct, frozen=True):
    """A result; `license` is our own corpus server's addition."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
    publishedDate: str | None = None
    license: Licence = Licence("")


class SearxngReply(msgspec.Struct, frozen=True):
    """A reply: results, and the engines that gave none, each with the reason."""

    results: tuple[SearxngResult, ...]
    unresponsive_engines: tuple[msgspec.Raw, ...] = ()


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


class BraveResult(msgspec.Struct, frozen=True):
    """A result; page_age is an ISO time, extra_snippets come where they were asked for."""

    url: str | None = None
    title: str | None = None
    description: str | None = None
    extra_snippets: tuple[str, ...] | None = None
    page_age: str | None = None


class BraveResults(msgspec.Struct, frozen=True):
    """The results of one sort."""

    results: tuple[BraveResult, ...] = ()


class BraveReply(msgspec.Struct, frozen=True):
    """A reply; type: "search"; `web` is left out where there are no results."""

    type: str
    web: BraveResults | None = None


def searxng(inquiry: Inquiry, direction: str, window: Window | None) -> Iterator[Passage]:
    """Search with a SearXNG, or with what speaks its JSON. Step: search."""
    asked = {"q": inquiry.query(direction), "format": "json", **_texts(inquiry)}
    reply = inquiry.read(inquiry.get("search", "/search", asked), SearxngReply)
    if not reply.results and reply.unresponsive_engines:
        raise inquiry.down("search", f"has {silence(reply.unresponsive_engines)} to the last try")
    found = (
        _passage(one.title, one.content, one.url, one.publishedDate, one.license.title)
        for one in reply.results
    )
    return _chosen(inquiry, (one for one in found if one.date or window is None), window)


def tavily(inquiry: Inquiry, direction: str, window: Window | None) -> Iterator[Passage]:
    """Search with Tavily. Step: search."""
    body = {
        "query": inquiry.query(direction),
        "max_results": inquiry.endpoint.max_results,
        **{name: _listed(name, value) for name, value in inquiry.endpoint.options.items()},
    }
    if window is not None:
        body |= {"start_date": window.start, "end_date": window.end}
    key = inquiry.endpoint.api_key
    headers = {"authorization": f"Bearer {key}"} if key else {}
    reply = inquiry.read(inquiry.post("search", "/search", body, headers), TavilyReply)
    found = (_tavily_passage(one, direction) for one in reply.results)
    return _chosen(inquiry, found, window)


def _tavily_passage(result: TavilyResult, direction: str) -> Passage:
    passage = _passage(result.title, result.content, result.url, result.published_date)
    text = excerpt(result.raw_content or "", direction)
    return msgspec.structs.replace(passage, text=text, form=PAGE_FORM) if text else passage


def brave(inquiry: Inquiry, direction: str, window: Window | None) -> Iterator[Passage]:
    """Search with Brave. Step: search."""
    asked = {
        "q": inquiry.query(direction),
        "count": str(inquiry.endpoint.max_results),
        "text_decorations": "false",
        **_texts(inquiry),
    }
    if window is not None:
        asked["freshness"] = f"{window.start}to{window.end}"
    key = inquiry.endpoint.api_key
    headers = {"x-subscription-token": key} if key else {}
    answer = inquiry.get("search", "/res/v1/web/search", asked, headers)
    if refusal(answer.status, answer.content):
        raise inquiry.refused(answer)
    reply = inquiry.read(answer, BraveReply)
    results = reply.web.results if reply.web else ()
    return _chosen(inquiry, map(_brave_passage, results), window)


def _brave_passage(result: BraveResult) -> Passage:
    texts = [result.description or "", *(result.extra_snippets or ())]
    text = "\n".join(map(_plain, texts))
    return _passage(_plain(result.title or ""), text, result.url, result.page_age)


def _chosen(inquiry: Inquiry, found: Iterable[Passage], window: Window | None) -> Iterator[Passage]:
    """Give the first results that are not known to be from outside the window."""
    within = (one for one in found if not one.date or window is None or window.holds(one.date))
    return islice(within, inquiry.endpoint.max_results)


def _passage(
    title: str | None, text: str | None, url: str | None, date: str | None, licence: str = ""
) -> Passage:
    return Passage(
        title or "", text or "", url or "", "", iso_date(date or ""), licence, SNIPPET_FORM
    )


def iso_date(date: str) -> str:
    """Give the day of an ISO time, or of a mail's date as Tavily writes it; "" of any other."""
    if found := _iso.match(date.strip()):
        return found[0]
    try:
        return email.utils.parsedate_to_datetime(date).date().isoformat()
    except (ValueError, OverflowError):
        return ""


def _texts(inquiry: Inquiry) -> dict[str, str]:
    return {name: _joined(value) for name, value in inquiry.endpoint.options.items()}


def _listed(name: str, value: Any) -> Any:
    """Give an option as Tavily's JSON has it: a study file may list domains in one text."""
    if name.endswith("_domains") and isinstance(value, str):
        return [domain.strip() for domain in value.split(",")]
    return value


def _joined(value: Any) -> str:
    """Give an option as a query has it: lists by commas, truth in small letters."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(_joined, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(text: str) -> str:
    """Take the marks out of a text that Brave gives as HTML."""
    plain = _tag.sub("", text)
    try:
        return html.unescape(plain)
    except ValueError:  # a character's number of more digits than Python reads
        return plain
