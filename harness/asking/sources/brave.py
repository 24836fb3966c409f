"""Brave: GET {base_url}/res/v1/web/search with X-Subscription-Token (Brave's API reference).

The window is freshness={start}to{end}. A wrong key is told by status 422, as a wrong parameter, and
a plan that is used up by 429, as a request too many; the error's code tells them apart.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

import httpx
import msgspec

from harness.asking.faults import BodyReading
from harness.asking.sources.inquiry import Inquiry, SourceReply, Window
from harness.asking.sources.source_kind import SearchKind
from harness.asking.sources.web_search import as_query, snippet
from harness.results import Passage

REFUSING = ("SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND", "QUOTA_LIMITED")
NO_KEY = b'"x-subscription-token"'  # the header that is missed where no key was sent
_tag = re.compile(r"</?[a-zA-Z][^<>]*>")


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


class BraveError(msgspec.Struct, frozen=True):
    """An error: one, or several."""

    error: object = None
    errors: list[object] = []


class Brave(SearchKind):
    """A web search."""

    options = ("country", "extra_snippets", "goggles", "safesearch", "search_lang")
    needs_key = True

    def search(self, inquiry: Inquiry, direction: str, window: Window | None) -> SourceReply:
        """Send the search; raises EndpointRefused where the body tells of a refused key."""
        params = {
            "q": inquiry.query(direction),
            "count": str(inquiry.endpoint.max_results),
            "text_decorations": "false",
            **as_query(inquiry.endpoint.options),
        }
        if window is not None:
            params["freshness"] = f"{window.start}to{window.end}"
        key = inquiry.endpoint.api_key
        headers = {"x-subscription-token": key} if key else {}
        reply = inquiry.get("search", "/res/v1/web/search", params, headers)
        if _refusal(reply.status, reply.content):
            raise inquiry.refused(reply)
        return reply

    def passages(self, reply: SourceReply, direction: str) -> Sequence[Passage]:  # noqa: ARG002
        """Return description and further snippets of each result."""
        web = reply.read(BraveReply).web
        return [_passage(result) for result in web.results] if web else []

    def reading(self, status: int, headers: httpx.Headers, body: bytes) -> BodyReading:  # noqa: ARG002
        """Return that the key is refused, if it is."""
        return BodyReading(refusal=_refusal(status, body))


def _passage(result: BraveResult) -> Passage:
    texts = [result.description or "", *(result.extra_snippets or ())]
    text = "\n".join(map(_plain, texts))
    return snippet(_plain(result.title or ""), text, result.url, result.page_age)


def _refusal(status: int, body: bytes) -> str:
    """Return what an error says against the key; "" where it is about something else."""
    if status < 400:
        return ""
    if status == httpx.codes.UNPROCESSABLE_ENTITY and NO_KEY in body:
        return "no key"
    try:
        reply = msgspec.json.decode(body, type=BraveError)
    except (ValueError, RecursionError):
        return ""
    errors = [error for error in (reply.error, *reply.errors) if isinstance(error, dict)]
    return next((str(e["code"]) for e in errors if e.get("code") in REFUSING), "")


def _plain(text: str) -> str:
    """Return a text that comes as HTML without its marks."""
    plain = _tag.sub("", text)
    try:
        return html.unescape(plain)
    except ValueError:  # a character's number of more digits than Python reads
        return plain


KIND = Brave()
