"""Pages of search results: what is read, what is refused, and what a recording keeps of them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from asking.lookups import Calls, endpoint
from drilling import write_drill
from loopback import Answer, Loopback, Received, json_answer
from study_folder import edit

from harness.asking.retry import RetryTransport
from harness.asking.sources.fact_source import open_source
from harness.asking.sources.page_transport import MOST_BYTES, PageTransport
from harness.asking.sources.public_addresses import is_public
from harness.errors import UsageError
from harness.recording import guard
from harness.recording.cassette import load
from harness.recording.transport import RecordingTransport
from harness.results import Passage
from harness.run.record import Recording
from harness.study.folder import Study

SNIPPET = "Beta blockers and heart failure ..."
TEXT = "In heart failure beta blockers lower mortality by a third.\nThe dose is raised slowly."
PLAIN = ("Content-Type", "text/plain; charset=utf-8")


class Web:
    """A search with one result, whose page and its neighbours are told by path."""

    def __init__(self, pages: Mapping[str, Answer], page: str = "/guideline") -> None:
        self._pages, self._page = pages, page

    def __call__(self, received: Received) -> Answer:
        if received.path != "/search":
            return self._pages.get(received.path, Answer(404))
        address = f"http://{received.header('host')}{self._page}"
        result = {"url": address, "title": "Heart failure", "content": SNIPPET}
        return json_answer({"results": [result]})


def plain(text: str = TEXT) -> Answer:
    return Answer(headers=[PLAIN], body=text.encode())


def robots(text: str) -> Answer:
    return Answer(headers=[PLAIN], body=text.encode())


def read(web: Web, *, allow_private: bool = True) -> tuple[Passage, list[str], list[str]]:
    """Look up once with pages; give the passage, the calls' names and the paths that were asked."""
    calls = Calls()
    pages = PageTransport(calls, allow_private=allow_private)
    retry = RetryTransport(pages, threading.Event(), tries=1)
    with Loopback(web) as server:
        source = open_source(endpoint("searxng", server.url, fetch=True), retry)
        [passage] = list(source.look_up("at", "beta blockers in heart failure", None))
        return passage, calls.names, [received.path for received in server.received]


def test_a_page_is_read_in_the_place_of_its_snippet() -> None:
    """The search, the host's robots.txt, the page: its text is the passage, and says so."""
    passage, calls, _ = read(Web({"/guideline": plain()}))
    assert (passage.text, passage.form) == (TEXT.partition("\n")[0], "page")
    assert calls == ["at/search", "at/result-1/robots", "at/result-1/page"]


@pytest.mark.parametrize(
    ("pages", "asked"),
    [
        ({}, 3),
        ({"/robots.txt": robots("User-agent: *\nDisallow: /guide"), "/guideline": plain()}, 2),
        ({"/robots.txt": robots("User-agent: harness\nDisallow: /"), "/guideline": plain()}, 2),
        ({"/robots.txt": Answer(500), "/guideline": plain()}, 2),
        ({"/guideline": plain("Something else altogether, on sale.")}, 3),
        ({"/guideline": Answer(headers=[("Content-Type", "application/pdf")], body=b"%PDF")}, 3),
        ({"/guideline": Answer(403)}, 3),
        ({"/guideline": Answer(302, headers=[("Location", "ftp://elsewhere.invalid/")])}, 3),
        ({"/guideline": Answer(302, headers=[("Location", "/guideline")])}, 6),
        ({"/guideline": plain("beta blockers heart failure " * (MOST_BYTES // 20))}, 3),
        ({"/guideline": Answer(headers=[PLAIN, ("Content-Encoding", "gzip")], body=b"x")}, 3),
    ],
    ids="missing robots-all robots-us robots-down off pdf 403 ftp loop long packed".split(),
)
def test_a_page_that_is_not_read_leaves_the_snippet(
    pages: Mapping[str, Answer], asked: int
) -> None:
    """Whatever is amiss with a page, or forbidden: the result's own words, named a snippet."""
    passage, calls, _ = read(Web(pages))
    assert (passage.text, passage.form) == (SNIPPET, "snippet")
    assert len(calls) == asked


def test_robots_allow_what_they_do_not_forbid() -> None:
    """Another path, another agent: the page is read."""
    rules = "User-agent: *\nDisallow: /private\n\nUser-agent: other\nDisallow: /"
    passage, _, _ = read(Web({"/robots.txt": robots(rules), "/guideline": plain()}))
    assert passage.form == "page"


def test_each_redirect_is_a_call_of_its_own() -> None:
    """The page has moved: both steps are asked for, the host's robots.txt once a session."""
    moved = Answer(301, headers=[("Location", "/new")])
    passage, calls, paths = read(Web({"/guideline": moved, "/new": plain()}))
    assert passage.form == "page"
    assert calls == [
        "at/search",
        *(f"at/result-1/{step}" for step in ("robots", "page", "page-2")),
    ]
    assert paths == ["/search", "/robots.txt", "/guideline", "/new"]


def test_an_address_that_is_not_public_is_not_asked() -> None:
    """A result on this machine: nothing but the search reaches it."""
    passage, _, paths = read(Web({"/guideline": plain()}), allow_private=False)
    assert passage.form == "snippet"
    assert paths == ["/search"]


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2001:0:7f00:1::", False),
    ],
)
def test_public_is_what_everybody_may_reach(address: str, public: bool) -> None:
    """Private, local, shared, reserved, and IPv4 inside IPv6: none of them is public."""
    assert is_public(address) is public


def test_a_replay_meets_the_text_and_never_the_page(tmp_path: Path) -> None:
    """The recording holds the text with its page's length and sum; a replay needs no network."""

    def recorded(mode: Any, url: str) -> list[Passage]:
        wire = PageTransport(httpx.HTTPTransport(), allow_private=True)
        with RecordingTransport(tmp_path / "c.json", mode=mode, inner=wire) as transport:
            source = open_source(endpoint("searxng", url, fetch=True), transport)
            return list(source.look_up("at", "beta blockers in heart failure", None))

    with Loopback(Web({"/guideline": plain()})) as server:
        live = recorded("once", server.url)
    with guard.closed():
        assert recorded("none", server.url) == live
    [page] = [kept for kept in load(tmp_path / "c.json") if "page" in (kept.response.call or "")]
    assert [kept.response.call for kept in load(tmp_path / "c.json")] == [
        "at/result-1/page",
        "at/result-1/robots",
        "at/search",
    ]
    assert page.body_bytes.decode() == TEXT
    head = dict(page.header_pairs)
    assert head["x-page-bytes"] == str(len(TEXT.encode()))
    assert head["x-page-extractor"] == "the page itself"
    assert len(head["x-page-sha256"]) == 64


def test_without_the_extractor_it_is_told_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """fetch = true where trafilatura is not installed: what to install, and no call."""
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    study = write_drill(tmp_path, "http://127.0.0.1:1")
    edit(study, 'kind = "searxng"', 'kind = "searxng"\nfetch = true')
    with pytest.raises(UsageError, match=r"harness\[pages\]"):
        Recording(Study(study.folder))


HTML = """<html><head><title>HF</title></head><body><nav><a href="/">Home</a> <a href="/shop">Buy
</a></nav><article><h1>Heart failure guideline</h1><p>In heart failure beta blockers lower mortality
by a third, according to several large trials of bisoprolol.</p><p>The dose is raised slowly, over
many weeks, while patients are seen at short intervals.</p></article><footer>Cookies</footer></body>
</html>"""


def test_a_page_of_html_is_its_article() -> None:
    """Menus and footers are no part of the text; the extractor is named with its version."""
    trafilatura = pytest.importorskip("trafilatura")
    page = Answer(headers=[("Content-Type", "text/html; charset=utf-8")], body=HTML.encode())
    passage, _, _ = read(Web({"/guideline": page}))
    assert passage.form == "page"
    assert "beta blockers lower mortality" in passage.text
    assert "Buy" not in passage.text
    assert trafilatura.__version__
