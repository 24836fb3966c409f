"""Sources that are down, busy, refuse, or talk nonsense: what is an answer, and what is not."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from asking.lookups import (
    CONTACT,
    KEY,
    WINDOW,
    Calls,
    Found,
    Wiki,
    article,
    endpoint,
    first,
    look_up,
)
from loopback import Answer, Loopback, Pair, Received, json_answer
from recording.search import assert_nowhere

from harness.asking.rate_limits import Limits, LimitTransport
from harness.asking.retry import RetryTransport
from harness.asking.sources.fact_source import FAILED, FOUND, NOT_FOUND, open_source
from harness.asking.sources.source_kind import kind_of
from harness.errors import EndpointRefused, Incomplete
from harness.recording import guard
from harness.recording.cassette import load
from harness.recording.journal import read_journal
from harness.recording.recorder import Recorder
from harness.recording.transport import RecordingTransport

KINDS = ("wikipedia-summary", "wikipedia-extract", "searxng", "tavily", "brave")
DROPPED = Answer(status=0)
MAXLAG = {"error": {"code": "maxlag", "info": "Waiting for 10.64: 7 seconds lagged", "lag": 7}}


STRANGE = [
    b"",
    b"<html>busy</html>",
    b"[]",
    b"{}",
    b'"x"',
    b'{"results": 3, "type": 3, "query": 3}',
    b"\xff\xfe",
    b'{"a": "\\ud800"',
    b"[" * 100_000,
]


def lagging(*headers: Pair) -> Answer:
    return json_answer(MAXLAG, 200, [("Retry-After", "0"), *headers])


def answering(*answers: Answer) -> Callable[[Received], Answer]:
    """Give one answer after the other, and the last one for ever."""
    return lambda received: answers[min(received.number, len(answers) - 1)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", [Answer(503), Answer(429), DROPPED], ids=["503", "429", "drop"])
def test_a_source_that_is_down(kind: str, fault: Answer) -> None:
    """As the last of several it must be asked again; as one of the others it has failed."""
    with pytest.raises(Incomplete, match=f"the-{kind} at http.*harness record"):
        look_up(answering(fault), kind, "heart attack", tries=2)
    found, calls, _ = look_up(answering(fault), kind, "heart attack", optional=True, tries=2)
    assert found.state == FAILED
    assert f"the-{kind}" in found.problem
    assert len(calls) == 2
    assert len(set(calls)) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("status", [401, 402, 403, 432, 433])
def test_a_source_that_refuses(kind: str, optional: bool, status: int) -> None:
    """A wrong key, or no credit, stops the run, also where another source could be asked next."""
    refused = json_answer({"detail": "no"}, status)
    with pytest.raises(EndpointRefused, match=f"answered {status}.*Check the key"):
        look_up(answering(refused), kind, "heart attack", optional=optional)


def brave_error(code: str, **meta: Any) -> dict[str, Any]:
    error = {"id": "ade84851", "status": 422, "code": code, "detail": "no", "meta": meta}
    return {"type": "ErrorResponse", "error": error, "time": 1754364294}


WRONG_KEY = json_answer(brave_error("SUBSCRIPTION_TOKEN_INVALID", component="authentication"), 422)
MISSED = {"input": None, "loc": ["header", "x-subscription-token"], "type": "missing"}
BRAVE_REFUSALS = [
    WRONG_KEY,
    json_answer({"errors": [{"code": "SUBSCRIPTION_TOKEN_INVALID"}]}, 422),
    json_answer(brave_error("VALIDATION", errors=[MISSED]), 422),
    json_answer(brave_error("SUBSCRIPTION_NOT_FOUND"), 404),
    json_answer(brave_error("QUOTA_LIMITED"), 429),
]


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("refused", BRAVE_REFUSALS, ids=["key", "list", "none", "plan", "quota"])
def test_brave_refuses_a_key_in_its_body(refused: Answer, optional: bool) -> None:
    """Whatever the status: one request, and the run stops."""
    with Loopback(answering(refused)) as server:
        retry = RetryTransport(httpx.HTTPTransport(), threading.Event(), tries=3, first_wait=0.01)
        source = open_source(endpoint("brave", server.url), retry)
        with pytest.raises(EndpointRefused, match=r"at/search: .*answered 4.*Check the key"):
            first(source.look_up("at", "heart attack", None, optional=optional))
        assert len(server.received) == 1


def test_without_the_tries_below_it_brave_is_heard_too() -> None:
    """A wrong key is told from a wrong parameter, of which the status is the same."""
    with Loopback(answering(WRONG_KEY)) as server, httpx.HTTPTransport() as bare:
        source = open_source(endpoint("brave", server.url), bare)
        with pytest.raises(EndpointRefused, match=r"answered 422.*TOKEN_INVALID.*Check the key"):
            first(source.look_up("at", "heart attack", None))
    wrong = brave_error("VALIDATION", errors=[{"loc": ["query", "count"]}])
    found, _, _ = look_up(answering(json_answer(wrong, 422)), "brave", "heart attack")
    assert found.state == FAILED


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("body", STRANGE, ids=range(len(STRANGE)))
def test_what_is_no_reply(kind: str, optional: bool, body: bytes) -> None:
    """A reply of another form is a failure that is recorded, not a crash and not "not found"."""
    found, calls, _ = look_up(answering(Answer(200, body=body)), kind, "heart", optional=optional)
    assert found.state == FAILED
    assert calls[0] in found.problem


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [404, 410, 422])
def test_other_refusals_of_a_request_are_failures(kind: str, status: int) -> None:
    """They would be the same again, and say what they are; only a page may be missing."""
    found, _, _ = look_up(answering(json_answer({"detail": "no"}, status)), kind, "heart attack")
    assert found.state == FAILED
    assert f"answered {status}" in found.problem


def test_an_error_of_the_wiki_is_a_failure() -> None:
    """Its code and words are told."""
    wrong = {"error": {"code": "badvalue", "info": "Unrecognized value"}}
    found, _, _ = look_up(answering(json_answer(wrong)), "wikipedia-extract", "heart attack")
    assert found.state == FAILED
    assert "badvalue (Unrecognized value)" in found.problem


@pytest.mark.parametrize(
    "lag",
    [
        lagging(),
        json_answer({}, 200, [("MediaWiki-API-Error", "maxlag"), ("Retry-After", "0")]),
        json_answer({"error": {"code": "ratelimited"}}, 200, [("Retry-After", "0")]),
        Answer(
            headers=[("Content-Encoding", "gzip"), ("Retry-After", "0")],
            body=gzip.compress(b'{"error": {"code": "maxlag"}}'),
        ),
    ],
    ids=["body", "head", "ratelimited", "gzip"],
)
def test_a_lagging_wiki_is_asked_again(lag: Answer) -> None:
    """An error of status 200 that says "come again" is worth another try."""
    wiki = Wiki(
        hits=["Heart attack"], pages=[{"title": "Heart attack", "extract": "A heart attack"}]
    )

    def answer(received: Received) -> Answer:
        return lag if received.number in (0, 2) else wiki(received)

    found, calls, _ = look_up(answer, "wikipedia-extract", "heart attack", tries=2)
    assert found.state == FOUND
    assert calls == ["at/search", "at/search", "at/extract", "at/extract"]


def test_a_lagging_wiki_says_how_long_to_wait() -> None:
    """Its Retry-After is honoured, and the tries say what they met."""
    wiki, lag = Wiki(hits=[]), json_answer(MAXLAG, 200, [("Retry-After", "1")])
    began = time.monotonic()
    with Loopback(lambda received: wiki(received) if received.number else lag) as server:
        retry = RetryTransport(httpx.HTTPTransport(), threading.Event(), tries=2, first_wait=0.01)
        limited = LimitTransport(retry, Limits(1), threading.Event())
        path = "/w/api.php?action=query&format=json&formatversion=2&maxlag=5"
        request = httpx.Request(
            "GET",
            f"{server.url}{path}&list=search&srsearch=x&srnamespace=0&srlimit=4",
            headers={"User-Agent": f"harness/0.1.0 ({CONTACT})"},
            extensions={"kind": "source", "reader": kind_of("wikipedia-extract").reading},
        )
        response = limited.handle_request(request)
    assert time.monotonic() - began >= 1
    assert response.extensions["attempts"] == [
        {"status": 200, "retry_after": "1", "error": "maxlag"}
    ]


def test_a_wiki_that_lags_for_good() -> None:
    """It is down, as with a 503; with no retries below it too."""
    for tries in (1, 2):
        with pytest.raises(Incomplete, match="maxlag"):
            look_up(answering(lagging()), "wikipedia-extract", "heart attack", tries=tries)
    found, _, _ = look_up(
        answering(lagging()), "wikipedia-extract", "heart attack", optional=True, tries=2
    )
    assert found.state == FAILED
    assert "maxlag" in found.problem
    with Loopback(answering(lagging())) as server, httpx.HTTPTransport() as bare:
        source = open_source(endpoint("wikipedia-extract", server.url), bare)
        with pytest.raises(Incomplete, match="maxlag"):
            first(source.look_up("at", "heart attack", None))


SILENT = {"results": [], "unresponsive_engines": [["pubmed", "timeout"], ["arxiv", "CAPTCHA"]]}


def test_silent_engines_are_asked_again() -> None:
    """A SearXNG without results while engines are silent has not answered yet."""
    some = {**SILENT, "results": [{"title": "Heart attack", "content": "Heart attacks"}]}
    for good, state in ((some, FOUND), ({"results": []}, NOT_FOUND)):
        answer = answering(json_answer(SILENT), json_answer(good))
        found, calls, _ = look_up(answer, "searxng", "heart attack", tries=3)
        assert found.state == state
        assert calls == ["at/search"] * 2


@pytest.mark.parametrize("tries", [1, 2])
def test_engines_that_are_silent_for_good(tries: int) -> None:
    """They are named; a last source must be asked again, an optional one has failed."""
    silent = answering(json_answer(SILENT))
    with pytest.raises(Incomplete, match=r"the-searxng at .*pubmed.*arxiv.*harness record"):
        look_up(silent, "searxng", "heart attack", tries=tries)
    found, calls, _ = look_up(silent, "searxng", "heart attack", optional=True, tries=tries)
    assert found.state == FAILED
    assert "pubmed" in found.problem
    assert len(calls) == tries


def test_a_models_answer_is_never_read_as_a_wikis() -> None:
    """Only sources have such errors: a model may say what it likes."""
    said = {"choices": [{"message": {"content": "maxlag"}}], **SILENT}
    lag = json_answer(said, 200, [("MediaWiki-API-Error", "maxlag")])
    with Loopback(answering(lag)) as server:
        retry = RetryTransport(httpx.HTTPTransport(), threading.Event(), tries=3, first_wait=0.01)
        response = retry.handle_request(httpx.Request("GET", server.url))
        assert response.read() and response.status_code == 200
        assert len(server.received) == 1


def test_every_call_says_what_it_is() -> None:
    """A source's calls carry name, kind of endpoint, whether optional, and the time limit."""
    calls = Calls()
    with Loopback(Wiki(hits=["A"])) as server:
        source = open_source(endpoint("wikipedia-summary", server.url, timeout=7.0), calls)
        first(source.look_up("depth-01/x", "heart attack", None, optional=True))
    assert calls.names == ["depth-01/x/summary", "depth-01/x/search", "depth-01/x/summary-2"]
    for said in calls.extensions:
        assert said["kind"] == "source"
        assert said["optional"] is True
        assert said["timeout"] == {"connect": 7.0, "read": 7.0, "write": 7.0, "pool": 7.0}


# --- recorded and replayed ---


def recorded(path: Path, url: str, kind: str, mode: Any, tries: int = 2, **more: Any) -> Found:
    """Look up through the recorder, the retries under it."""
    optional = more.pop("optional", False)
    retry = RetryTransport(httpx.HTTPTransport(), threading.Event(), tries=tries, first_wait=0.01)
    with RecordingTransport(path, mode=mode, inner=retry) as transport:
        source = open_source(endpoint(kind, url, **more), transport)
        return first(source.look_up("at", "heart attack", WINDOW, optional=optional))


SEARX = {"results": [{"title": "Heart attack", "content": "Heart attacks", "url": "u",
                      "publishedDate": "2025-01-01"}]}  # fmt: skip
TAVILY = {"results": [{"title": "Heart attack", "content": f"Heart attacks {KEY}", "url": "u"}]}
BRAVE = {
    "type": "search",
    "web": {"results": [{"title": "Heart attack", "description": "Heart attacks"}]},
}
ANSWERS: list[tuple[str, Callable[[Received], Answer], bool, str]] = [
    ("wikipedia-summary", Wiki([article("Heart attack", "A heart attack is ...")]), False, FOUND),
    ("wikipedia-summary", Wiki(), False, NOT_FOUND),
    ("wikipedia-extract", answering(lagging(), json_answer({"query": {}})), False, NOT_FOUND),
    ("wikipedia-extract", answering(lagging()), True, FAILED),
    ("searxng", answering(Answer(503), json_answer(SEARX)), False, FOUND),
    ("searxng", answering(DROPPED), True, FAILED),
    ("searxng", answering(Answer(200, body=b"<html>")), False, FAILED),
    ("tavily", answering(json_answer(TAVILY)), False, FOUND),
    ("searxng", answering(json_answer(SILENT)), True, FAILED),
    ("tavily", answering(json_answer({"detail": {"error": KEY}}, 410)), True, FAILED),
    ("brave", answering(json_answer(BRAVE)), False, FOUND),
    ("brave", answering(json_answer({"error": KEY}, 422)), False, FAILED),
]


@pytest.mark.parametrize(("kind", "answer", "optional", "state"), ANSWERS)
def test_a_replay_finds_the_same_without_key_or_net(
    tmp_path: Path, kind: str, answer: Callable[[Received], Answer], optional: bool, state: str
) -> None:
    """Found, not found and failed are recorded alike; the key is in no file, though echoed."""
    path = tmp_path / "c.json"
    with Loopback(answer) as server:
        live = recorded(path, server.url, kind, "once", optional=optional)
    with guard.closed():
        again = recorded(path, server.url, kind, "none", optional=optional, api_key=None)
    assert live.state == state
    assert again == live
    assert_nowhere(tmp_path, KEY)
    assert_nowhere(tmp_path, CONTACT)


def interrupted(path: Path, url: str, kind: str, expected: type[Exception], **more: Any) -> Any:
    """Look up through the recorder, in vain; give the kinds of the journal's lines."""
    recorder = Recorder(path, "once")
    retry = RetryTransport(httpx.HTTPTransport(), threading.Event(), tries=2, first_wait=0.01)
    source = open_source(endpoint(kind, url), RecordingTransport(recorder, inner=retry))
    with pytest.raises(expected):
        first(source.look_up("at", "heart attack", WINDOW, **more))
    recorder.release()
    return [line.partition(b" ")[0] for line in read_journal(path.with_suffix(".journal")).lines]


@pytest.mark.parametrize(
    ("kind", "fault", "good"),
    [
        ("wikipedia-extract", lagging(), Wiki(hits=[])),
        ("searxng", json_answer(SILENT), answering(json_answer({"results": []}))),
    ],
    ids=["maxlag", "silent engines"],
)
def test_bad_luck_in_a_body_is_evidence_and_no_answer(
    tmp_path: Path, kind: str, fault: Answer, good: Callable[[Received], Answer]
) -> None:
    """Not optional, the search is sent again when the recording goes on, and then is complete."""
    path = tmp_path / "c.json"
    with Loopback(lambda received: fault if received.number < 2 else good(received)) as server:
        assert interrupted(path, server.url, kind, Incomplete) == [b"failed"]
        assert recorded(path, server.url, kind, "new_episodes").state == NOT_FOUND
    (kept,) = load(path)
    assert kept.response.call == "at/search"
    assert kept.response.status.code == 200


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize(
    ("kind", "refused"),
    [("tavily", json_answer({"detail": {"error": "plan limit"}}, 432)), ("brave", WRONG_KEY)],
    ids=["tavily", "brave"],
)
def test_a_refused_key_is_not_recorded(
    tmp_path: Path, kind: str, refused: Answer, optional: bool
) -> None:
    """With another key, or new credit, the same recording goes on and finds."""
    path, good = tmp_path / "c.json", json_answer(BRAVE if kind == "brave" else TAVILY)
    with Loopback(answering(refused, good)) as server:
        assert interrupted(path, server.url, kind, EndpointRefused, optional=optional) == []
        found = recorded(path, server.url, kind, "new_episodes", optional=optional)
    assert found.state == FOUND
    assert [kept.response.status.code for kept in load(path)] == [200]
