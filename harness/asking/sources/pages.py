"""The page behind a search result: asked for where its robots.txt allows it, and cut to a passage.

robots.txt is read as RFC 9309 has it: none (4xx) allows everything, one that cannot be had (5xx, no
connection) nothing. Each redirect is a request of its own, with the robots.txt of its host.
"""

from __future__ import annotations

import re
from urllib.robotparser import RobotFileParser

import httpx
import msgspec

from harness.asking.relevance import relevant
from harness.asking.sources.excerpt import excerpt
from harness.asking.sources.inquiry import Inquiry, SourceReply
from harness.asking.sources.page_transport import PAGE, ROBOTS
from harness.results import Passage
from harness.results.passage import PAGE_FORM

AGENT = "harness"
MOST_REDIRECTS = 3


class PageReader:
    """Reads the pages of one look-up's results."""

    def __init__(self, inquiry: Inquiry, direction: str) -> None:
        self._inquiry, self._direction = inquiry, direction

    def read(self, place: int, passage: Passage) -> Passage:
        """Return a result with what its page says of the direction in the place of its snippet.

        Steps: result-N/robots and result-N/page, with -2, -3 behind where it is redirected. Where
        no page may or can be read, or it does not speak of the direction, the result as it is.
        """
        text = excerpt(self._text(f"result-{place}", passage.url), self._direction)
        if not text or not relevant(self._direction, Passage("", text, "")):
            return passage
        return msgspec.structs.replace(passage, text=text, form=PAGE_FORM)

    def _text(self, step: str, address: str) -> str:
        url = _url(address)
        for number in range(1, MOST_REDIRECTS + 2):
            behind = f"-{number}" if number > 1 else ""
            if url is None or not self._allowed(f"{step}/robots{behind}", url):
                return ""
            reply = self._inquiry.fetch(f"{step}/page{behind}", url, PAGE)
            if reply is None or not httpx.codes.is_redirect(reply.status):
                break
            url = _url(reply.headers.get("location", ""), url)
        if reply is None or reply.status != httpx.codes.OK:
            return ""
        return reply.content.decode("utf-8", "replace")

    def _allowed(self, step: str, url: httpx.URL) -> bool:
        reply = self._inquiry.fetch(step, url.copy_with(raw_path=b"/robots.txt"), ROBOTS)
        if reply is None or reply.status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return False
        return reply.status != httpx.codes.OK or _permits(reply, url)


def is_page(call: str) -> bool:
    """Tell whether a call fetched a page, by its name."""
    return re.search(r"/result-\d+/page(-\d+)?$", call) is not None


def is_robots(call: str) -> bool:
    """Tell whether a call fetched a robots.txt, by its name."""
    return re.search(r"/result-\d+/robots(-\d+)?$", call) is not None


def _permits(robots: SourceReply, url: httpx.URL) -> bool:
    rules = RobotFileParser()
    rules.parse(robots.content.decode("utf-8", "replace").splitlines())
    return rules.can_fetch(AGENT, str(url))


def _url(address: str, base: httpx.URL | None = None) -> httpx.URL | None:
    """Return an address that a page can have; None for any other."""
    try:
        url = base.join(address) if base else httpx.URL(address)
        port = url.port
    except (httpx.InvalidURL, ValueError):
        return None
    plain = url.scheme in ("http", "https") and url.host and not url.userinfo
    return url.copy_with(fragment=None) if plain and (port is None or 0 < port < 2**16) else None
