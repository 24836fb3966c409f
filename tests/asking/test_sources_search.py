"""SearXNG, Tavily, Brave, by servers that accept the documented request and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
from asking.lookups import CONTACT, KEY, WINDOW, endpoint, first, look_up
from loopback import Answer, Loopback, Received, json_answer

from harness.asking.sources.fact_source import FAILED, FOUND, NOT_FOUND, Window, open_source
from harness.asking.sources.fact_source import SourceEndpoint as Endpoint
from harness.asking.sources.web_search import iso_date
from harness.errors import UsageError
from harness.results import Passage

WORDS = "Beta blockers lower mortality in heart failure."
TITLE = "Heart failure guideline"


def query(received: Received) -> dict[str, str]:
    asked = parse_qs(received.query, keep_blank_values=True)
    assert all(len(values) == 1 for values in asked.values())
    return {name: values[0] for name, values in asked.items()}


def sent_headers(received: Received) -> set[str]:
    names = {name.lower() for name, _ in received.headers}
    assert received.header("user-agent") == f"harness/0.1.0 ({CONTACT})"
    return names - {"host", "content-length"}


def searx_result(**more: Any) -> dict[str, Any]:
    return {
        "url": "https://example.org/hf",
        "title": TITLE,
        "content": WORDS,
        "engine": "pubmed",
        "engines": ["pubmed"],
        "category": "science",
        "score": 1.0,
        "publishedDate": "2025-03-01T00:00:00",
        **more,
    }


def searx(*results: dict[str, Any], **more: Any) -> Callable[[Received], Answer]:
    return lambda _: json_answer({"query": "q", "results": list(results), **more})


def test_searxng_gets_its_documented_request() -> None:
    """GET /search with q and format=json, lists by commas, no key, and no time_range ever."""

    def answer(received: Received) -> Answer:
        assert (received.method, received.path) == ("GET", "/search")
        assert query(received) == {
            "q": "beta blockers guideline OR standard",
            "format": "json",
            "categories": "science,general",
            "language": "en",
        }
        assert sent_headers(received) == {"user-agent", "accept", "accept-encoding"}
        return searx(searx_result())(received)

    found, calls, _ = look_up(
        answer,
        "searxng",
        "beta blockers",
        query="{direction} guideline OR standard",
        options={"categories": ["science", "general"], "language": "en"},
    )
    url = "https://example.org/hf"
    assert found.passage == Passage(TITLE, WORDS, url, "", "2025-03-01", "", "snippet")
    assert calls == ["at/search"]


def test_searxng_results_outside_the_window_are_dropped() -> None:
    """It has no window of its own; before, after and without a date are all outside."""
    dates = ("2024-11-27", "2026-11-29T08:00:00+00:00", None, "", "3 days ago")
    outside = [searx_result(title=f"{TITLE} {n}", publishedDate=d) for n, d in enumerate(dates)]
    found, _, _ = look_up(searx(*outside), "searxng", "heart failure", WINDOW)
    assert found.state == NOT_FOUND
    inside = searx_result(title=f"{TITLE} of 2026", publishedDate="2026-11-28T23:00:00")
    found, _, _ = look_up(searx(*outside, inside), "searxng", "heart failure", WINDOW)
    assert found.passage is not None
    assert (found.passage.title, found.passage.date) == (f"{TITLE} of 2026", "2026-11-28")


def test_without_a_window_a_result_needs_no_date() -> None:
    """The date is then left out."""
    found, _, _ = look_up(searx(searx_result(publishedDate=None)), "searxng", "heart failure")
    assert found.passage is not None
    assert found.passage.date == ""


def test_the_first_relevant_result_is_the_passage() -> None:
    """Results about something else, or without a text, are passed over."""
    other = searx_result(title="Banana bread", content="Mash the bananas.")
    empty = searx_result(title="Heart failure", content=None)
    found, _, _ = look_up(searx(other, empty, searx_result()), "searxng", "heart failure")
    assert found.passage is not None
    assert found.passage.title == TITLE


def test_only_so_many_results_are_looked_at() -> None:
    """max_results counts for an API without such a parameter too."""
    other = searx_result(title="Banana bread", content="Mash the bananas.")
    found, _, _ = look_up(searx(other, other, searx_result()), "searxng", "heart failure",
                          max_results=2)  # fmt: skip
    assert found.state == NOT_FOUND


def nested(levels: int) -> Answer:
    """Make a reply whose only silent engine is a list in a list in a list."""
    engines = b"[" * levels + b"]" * levels
    return Answer(body=b'{"results": [], "unresponsive_engines": [' + engines + b"]}")


@pytest.mark.parametrize("levels", [1, 400, 900, 5_000, 100_000])
def test_silent_engines_of_any_form_are_a_failure(levels: int) -> None:
    """An empty list from an instance whose engines did not answer is not "not found"."""
    found, _, _ = look_up(lambda _: nested(levels), "searxng", "heart failure", optional=True)
    assert found.state == FAILED
    with Loopback(lambda _: nested(levels)) as server, httpx.HTTPTransport() as bare:
        source = open_source(endpoint("searxng", server.url), bare)
        assert first(source.look_up("at", "heart failure", None, optional=True)).state == FAILED
    assert look_up(searx(), "searxng", "heart failure")[0].state == NOT_FOUND


@pytest.mark.parametrize(
    "engine", [{"publishedDate": "1 Jan 99999999999 00:00:00"}, {"publishedDate": 1e300}]
)
def test_a_hostile_date_is_none(engine: dict[str, Any]) -> None:
    """What no calendar holds is no date, and what is no text is no reply."""
    found, _, _ = look_up(searx(searx_result(**engine)), "searxng", "heart failure")
    assert found.state == (FOUND if isinstance(engine["publishedDate"], str) else FAILED)


def tavily_result(**more: Any) -> dict[str, Any]:
    return {"title": TITLE, "url": "https://example.org/hf", "content": WORDS, "score": 0.9, **more}


@pytest.mark.parametrize("domains", [["who.int", "nice.org.uk"], "who.int, nice.org.uk"])
def test_tavily_gets_its_documented_request(domains: object) -> None:
    """POST /search: JSON with a Bearer key, the window as start_date and end_date."""

    def answer(received: Received) -> Answer:
        assert (received.method, received.path, received.query) == ("POST", "/search", "")
        assert received.header("authorization") == f"Bearer {KEY}"
        assert received.header("content-type") == "application/json"
        assert sent_headers(received) == {
            "user-agent",
            "accept",
            "accept-encoding",
            "authorization",
            "content-type",
        }
        assert received.json() == {
            "query": "beta blockers",
            "max_results": 7,
            "include_domains": ["who.int", "nice.org.uk"],
            "search_depth": "advanced",
            "start_date": "2024-11-28",
            "end_date": "2026-11-28",
        }
        return json_answer({"query": "q", "results": [tavily_result()], "response_time": 1.1})

    found, calls, _ = look_up(
        answer,
        "tavily",
        "beta blockers",
        WINDOW,
        max_results=7,
        options={"include_domains": domains, "search_depth": "advanced"},
    )
    assert found.passage == Passage(TITLE, WORDS, "https://example.org/hf", "", "", "", "snippet")
    assert calls == ["at/search"]


def test_tavily_s_raw_content_is_cut_to_a_passage() -> None:
    """Asked for, the page's text comes with the result: its paragraphs that fit are the passage."""
    raw = f"Menu.\n{WORDS} They act slowly.\nAll rights reserved."

    def answer(received: Received) -> Answer:
        assert received.json()["include_raw_content"] is True
        results = [tavily_result(raw_content=raw), tavily_result(raw_content=None)]
        return json_answer({"results": results})

    options = {"include_raw_content": True}
    found, _, _ = look_up(answer, "tavily", "beta blockers mortality", options=options)
    assert found.passage is not None
    assert (found.passage.text, found.passage.form) == (f"{WORDS} They act slowly.", "page")


def test_without_a_window_tavily_gets_no_dates() -> None:
    """The body is then query and max_results."""

    def answer(received: Received) -> Answer:
        assert received.json() == {"query": "beta blockers", "max_results": 5}
        return json_answer({"results": []})

    assert look_up(answer, "tavily", "beta blockers")[0].state == NOT_FOUND


def test_a_tavily_result_known_to_be_outside_is_dropped() -> None:
    """Where it has a date that date counts; where it has none, what was asked for does."""
    dated = tavily_result(published_date="Tue, 28 May 2024 12:00:00 GMT")

    def answer(received: Received) -> Answer:
        return json_answer({"results": [dated, tavily_result(title="Heart failure, undated")]})

    found, _, _ = look_up(answer, "tavily", "heart failure", WINDOW)
    assert found.passage is not None
    assert found.passage.title == "Heart failure, undated"


def brave_reply(*results: dict[str, Any]) -> dict[str, Any]:
    web = {"type": "search", "results": list(results)}
    return {"type": "search", "query": {"original": "q"}, "web": web}


def brave_result(**more: Any) -> dict[str, Any]:
    return {
        "title": TITLE,
        "url": "https://example.org/hf",
        "description": WORDS,
        "page_age": "2025-03-01T10:00:00",
        **more,
    }


def test_brave_gets_its_documented_request() -> None:
    """GET /res/v1/web/search with the key in its own header, the window as freshness."""

    def answer(received: Received) -> Answer:
        assert (received.method, received.path) == ("GET", "/res/v1/web/search")
        assert received.header("x-subscription-token") == KEY
        assert sent_headers(received) == {
            "user-agent",
            "accept",
            "accept-encoding",
            "x-subscription-token",
        }
        assert KEY not in received.query
        assert query(received) == {
            "q": "beta blockers",
            "count": "5",
            "text_decorations": "false",
            "freshness": "2024-11-28to2026-11-28",
            "country": "US",
            "extra_snippets": "true",
        }
        return json_answer(brave_reply(brave_result(extra_snippets=["More &amp; more."])))

    options = {"country": "US", "extra_snippets": True}
    found, calls, _ = look_up(answer, "brave", "beta blockers", WINDOW, options=options)
    assert found.passage is not None
    assert found.passage.text == f"{WORDS}\nMore & more."
    assert found.passage.date == "2025-03-01"
    assert calls == ["at/search"]


def test_marks_in_braves_texts_are_taken_out() -> None:
    """Tags and entities are no part of a passage; a smaller-than sign is."""
    marked = brave_result(
        title="<strong>Heart</strong> failure &#x27;25",
        description="<strong>Heart failure</strong> with an EF &lt; 40% or 3 < 4 < 5",
    )
    found, _, _ = look_up(lambda _: json_answer(brave_reply(marked)), "brave", "heart failure")
    assert found.passage is not None
    assert found.passage.title == "Heart failure '25"
    assert found.passage.text == "Heart failure with an EF < 40% or 3 < 4 < 5"


@pytest.mark.parametrize("mark", ["&#" + "9" * 5_000 + ";", "&#xD800;", "&#x110000;", "&bogus;"])
def test_a_hostile_entity_is_no_error(mark: str) -> None:
    """A character's number that nothing can read leaves the rest of the text as it is."""
    result = brave_result(description=f"{mark} {WORDS}")
    found, _, _ = look_up(lambda _: json_answer(brave_reply(result)), "brave", "heart failure")
    assert found.passage is not None
    assert found.passage.text.endswith(WORDS)
    found.passage.text.encode()


@pytest.mark.parametrize(
    "reply", [{"type": "search"}, {"type": "search", "web": None}, brave_reply()]
)
def test_brave_leaves_out_what_it_does_not_find(reply: dict[str, Any]) -> None:
    """A reply without web results is "not found"."""
    assert look_up(lambda _: json_answer(reply), "brave", "heart failure")[0].state == NOT_FOUND


@pytest.mark.parametrize("kind", ["tavily", "brave"])
def test_a_replay_needs_no_key(kind: str) -> None:
    """Without a key the same is sent but for the header."""

    def answer(received: Received) -> Answer:
        assert not sent_headers(received) & {"authorization", "x-subscription-token"}
        return json_answer({"results": []} if kind == "tavily" else brave_reply())

    assert look_up(answer, kind, "heart failure", api_key=None)[0].state == NOT_FOUND


@pytest.mark.parametrize("kind", ["searxng", "brave"])
def test_a_long_direction_is_cut_at_a_word(kind: str) -> None:
    """No more than 300 characters and 50 words, and the template whole."""

    def answer(received: Received) -> Answer:
        asked = query(received)["q"]
        assert len(asked) <= 300 and len(asked.split()) <= 50
        assert asked.endswith(" guideline")
        assert set(asked.removesuffix(" guideline").split()) == {word}
        return json_answer({"results": []} if kind == "searxng" else brave_reply())

    for word in ("ab", "metaphysically"):
        direction = " ".join([word] * 100)
        look_up(answer, kind, direction, query="{direction} guideline")


def test_a_direction_of_one_endless_word_is_cut_within_it() -> None:
    """As small models write when they come into a loop: the source is asked all the same."""

    def answer(received: Received) -> Answer:
        assert query(received)["q"] == "o" * 290 + " guideline"
        return json_answer({"results": []})

    look_up(answer, "searxng", "o" * 1000, query="{direction} guideline")


@pytest.mark.parametrize(
    ("date", "day"),
    [
        ("2025-03-01T10:00:00Z", "2025-03-01"),
        ("2025-03-01", "2025-03-01"),
        ("2025-03", "2025-03"),
        ("2025", "2025"),
        ("Tue, 28 May 2024 12:00:00 GMT", "2024-05-28"),
        ("20250301", ""),
        ("3 days ago", ""),
        ("", ""),
        ("Thu, 01 Jan 99999999999 00:00:00 GMT", ""),
        ("Thu, 01 Jan 2026 5000000000:00:00 GMT", ""),
        ("Thu, 01 Jan 2026 00:00:00 +99999999999999", ""),
        ("9" * 5_000 + " Jan 2026 00:00:00 GMT", ""),
        ("٢٠٢٥-٠٣-٠١", ""),
    ],
)
def test_dates(date: str, day: str) -> None:
    """ISO dates and times, and dates as mails have them; anything else is no date."""
    assert iso_date(date) == day


def test_a_window_holds_both_its_ends() -> None:
    """A year counts as its first day."""
    dates = ("2024-11-28", "2026-11-28T23:59:59Z", "2025", "2026")
    assert all(WINDOW.holds(date) for date in dates)
    assert not any(WINDOW.holds(date) for date in ("2024-11-27", "2026-11-29", "2024", "2027"))
    assert Window("2025-01-01", "2025-01-01").holds("2025-01-01")


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"kind": "bing"}, "kind of source 'bing' is unknown; there are: wikipedia-summary"),
        ({"options": {"time_range": "year"}}, "option 'time_range'; expected one of those for"),
        ({"query": "guidelines"}, r"query 'guidelines'; expected \{direction\}"),
        ({"contact": "me\r\nX-Other: 1"}, "contact"),
        ({"contact": "Zoë"}, "contact"),
        ({"base_url": "http://x:port"}, "base_url 'http://x:port'"),
    ],
)
def test_what_does_not_fit_is_told_at_once(entries: dict[str, Any], said: str) -> None:
    """A mistake in a source's entries names the source, what is wrong and what is expected."""
    values = {"kind": "searxng", "base_url": "http://x", **entries}
    with pytest.raises(UsageError, match=f"source 'mine': {said}"):
        open_source(Endpoint("mine", **values), None)  # type: ignore[arg-type]


def test_found_says_what_it_found() -> None:
    """The three states are words that results count by."""
    assert (FOUND, NOT_FOUND, FAILED) == ("found", "not found", "failed")
