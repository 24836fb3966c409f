"""Errors that a model's endpoint answers with status 200: bad luck, and never an answer."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from asking.lookups import KEY
from loopback import Answer, Loopback, Received, json_answer, sse_answer
from recording.search import assert_nowhere

from harness.asking import faults
from harness.asking.models.answers import reading_of
from harness.asking.models.chat_model import ChatModel
from harness.asking.models.model import Answer as Said
from harness.asking.models.provider import Endpoint, provider_of
from harness.asking.rate_limits import Limits, LimitTransport
from harness.asking.retry import RetryTransport
from harness.errors import Incomplete
from harness.recording import guard
from harness.recording.cassette import load
from harness.recording.journal import read_journal
from harness.recording.recorder import Recorder
from harness.recording.transport import RecordingTransport

UPSTREAM = {"code": 502, "message": "Provider returned error", "metadata": {"raw": "down"}}


def choice(text: str | None, finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {"message": {"content": text}, "finish_reason": finish, **more}


GOOD = json_answer({"choices": [choice("Because.")], "model": "m"})
LUCK: dict[str, tuple[Any, str]] = {
    "error": ({"error": UPSTREAM, "user_id": "u"}, "error 502"),
    "no choices": ({"error": UPSTREAM, "choices": []}, "error 502"),
    "null choices": ({"error": {"code": "429", "message": "busy"}, "choices": None}, "error 429"),
    "no code": ({"error": {"message": "overloaded"}}, "error"),
    "a word": ({"error": {"code": "server_error", "message": KEY}}, "error"),
    "text": ({"error": "overloaded"}, "error"),
    "odd code": ({"error": {"code": [1], "message": {}}}, "error"),
    "in the choice": ({"choices": [choice("Bec", "error", error=UPSTREAM)]}, "error 502"),
    "beside the choice": ({"choices": [choice("", "error")], "error": UPSTREAM}, "error 502"),
    "an empty choice": ({"choices": [choice("")], "error": UPSTREAM}, "error 502"),
    "an invisible one": ({"choices": [choice("\u200b", error=UPSTREAM)]}, "error 502"),
    "ERROR": ({"choices": [choice("Bec", "ERROR", error=UPSTREAM)]}, "error 502"),
    "no words": ({"choices": [choice(None, "error")]}, "error"),
}
LASTING = (400, 401, 402, 403, 404, 413, 422)
ANSWERS: dict[str, Any] = {
    **{f"{code}": {"error": {"code": code, "message": "no"}} for code in LASTING},
    **{f"text {code}": {"error": {"code": str(code)}} for code in LASTING},
    "choice": {"choices": [choice("", "error", error={"code": 403, "message": "flagged"})]},
    "null error": {"choices": [choice("Because.")], "error": None},
    "error beside an answer": {"choices": [choice("Because.")], "error": UPSTREAM},
    "error beside a filter": {"choices": [choice("", "SAFETY")], "error": UPSTREAM},
    "error beside a limit": {"choices": [choice(None, "length")], "error": UPSTREAM},
    "error beside a refusal": {
        "choices": [{"message": {"content": None, "refusal": "No."}}],
        "error": UPSTREAM,
    },
    "quoted": {"choices": [choice('{"error": {"code": 502}}')]},
}
UNREADABLE: dict[str, Any] = {
    "empty error": {"error": {}},
    "number": {"error": 502},
    "list": [{"error": UPSTREAM}],
    "odd choices": {"choices": {}},
    "odd choice": {"choices": ["error"]},
}


def answering(*answers: Answer) -> Callable[[Received], Answer]:
    """Give one answer after the other, and the last one for ever."""
    return lambda received: answers[min(received.number, len(answers) - 1)]


def tries(count: int = 3) -> RetryTransport:
    """Make the way out that the recorder has."""
    stop = threading.Event()
    limited = LimitTransport(httpx.HTTPTransport(), Limits(1), stop)
    return RetryTransport(limited, stop, tries=count, first_wait=0.01)


def ask(url: str, transport: httpx.BaseTransport) -> Said:
    return ChatModel(Endpoint("m", url, "m", {}, api_key=KEY), transport).ask(
        "turn-1/subject", [{"role": "user", "content": "Why?"}]
    )


def reading(status: int, headers: httpx.Headers, body: bytes) -> faults.BodyReading:
    """Read a body as a model does whose provider speaks chat completions."""
    return reading_of(status, body, provider_of("openai"), None)


def sent(url: str, **extensions: Any) -> httpx.Response:
    with httpx.Client(transport=tries()) as client:
        return client.post(url, json={}, extensions={"reader": reading, **extensions})


@pytest.mark.parametrize(("body", "name"), LUCK.values(), ids=LUCK)
def test_an_error_in_place_of_an_answer_is_asked_again(body: Any, name: str) -> None:
    """The tries tell it by its number at most, never by the words of a stranger."""
    with Loopback(answering(json_answer(body), GOOD)) as server:
        response = sent(server.url)
        assert len(server.received) == 2
    assert response.json() == json.loads(GOOD.body)
    assert response.extensions["attempts"] == [{"status": 200, "retry_after": None, "error": name}]


@pytest.mark.parametrize("body", ANSWERS.values(), ids=ANSWERS)
def test_what_would_come_again_is_left_as_it_is(body: Any) -> None:
    """Errors of the request itself, and answers that only look like one: one request each."""
    with Loopback(answering(json_answer(body), GOOD)) as server:
        response = sent(server.url)
        assert len(server.received) == 1
    assert response.json() == body
    assert response.extensions["attempts"] == []


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE)
def test_what_no_provider_sends_is_asked_again(body: Any) -> None:
    """Neither a reply nor an error: the tries say that it could not be read."""
    with Loopback(answering(json_answer(body), GOOD)) as server:
        response = sent(server.url)
    assert response.json() == json.loads(GOOD.body)
    assert [tried["error"] for tried in response.extensions["attempts"]] == ["unreadable"]


@pytest.mark.parametrize("status", [400, 413, 422])
def test_an_error_with_a_status_of_its_own_goes_by_that(status: int) -> None:
    """The body is not looked at."""
    with Loopback(answering(json_answer({"error": UPSTREAM}, status), GOOD)) as server:
        assert sent(server.url).status_code == status
        assert len(server.received) == 1


def test_a_source_may_have_an_error_of_that_form() -> None:
    """It is read by the kind that knows its form."""
    with Loopback(answering(json_answer({"error": UPSTREAM}), GOOD)) as server:
        assert sent(server.url, reader=None).json() == {"error": UPSTREAM}


@pytest.mark.parametrize("fault", [True, False])
def test_a_compressed_body_is_read_and_passed_on_as_it_came(fault: bool) -> None:
    """gzip on the way is undone to look, and given on byte for byte."""
    body: Any = {"error": UPSTREAM} if fault else {"choices": [choice("x" * 100_000)], "error": 0}
    packed = gzip.compress(json.dumps(body).encode())
    kind = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")]
    with Loopback(answering(Answer(headers=kind, body=packed), GOOD)) as server:
        retry = tries()
        request = httpx.Request("POST", server.url, extensions={"reader": reading})
        response = retry.handle_request(request)
        assert isinstance(response.stream, httpx.SyncByteStream)
        raw = b"".join(response.stream)
        assert len(server.received) == (2 if fault else 1)
    assert raw == (GOOD.body if fault else packed)


@pytest.mark.parametrize("packed", [b"no gzip", b""])
def test_a_body_that_is_not_what_its_head_says(packed: bytes) -> None:
    """It is passed on for the reader to tell."""
    answer = Answer(headers=[("Content-Encoding", "gzip")], body=packed)
    with Loopback(answering(answer)) as server:
        response = tries().handle_request(httpx.Request("POST", server.url))
        assert isinstance(response.stream, httpx.SyncByteStream)
        assert b"".join(response.stream) == packed


def test_a_stream_is_passed_on_while_it_comes() -> None:
    """The first event is there before the last is sent, whatever an event says."""
    events = [{"error": UPSTREAM}, {"choices": []}]
    stop = threading.Event()
    retry = RetryTransport(httpx.HTTPTransport(), stop, tries=3, first_wait=0.01)
    with Loopback(lambda _: sse_answer(events, hang=True)) as server:
        with httpx.Client(transport=retry, timeout=5) as client:
            with client.stream("POST", server.url) as response:
                first = next(response.iter_lines())
        assert len(server.received) == 1
    assert json.loads(first.removeprefix("data: ")) == events[0]


def test_an_error_to_the_last_try_is_evidence_and_no_answer(tmp_path: Path) -> None:
    """Incomplete says what came; the journal keeps it as failed; the recording goes on later."""
    path, fault = tmp_path / "c.json", json_answer({"error": {**UPSTREAM, "message": f"at {KEY}"}})
    with Loopback(answering(fault, fault, GOOD)) as server:
        recorder = Recorder(path, "once")
        with pytest.raises(Incomplete, match=r"answered 200 with error 502.*harness record"):
            ask(server.url, RecordingTransport(recorder, inner=tries(2)))
        recorder.release()
        lines = read_journal(tmp_path / "c.journal").lines
        assert [line.partition(b" ")[0] for line in lines] == [b"failed"]
        assert_nowhere(tmp_path, KEY)
        with RecordingTransport(path, mode="new_episodes", inner=tries(2)) as transport:
            live = ask(server.url, transport)
    assert (live.text, live.state) == ("Because.", "ok")
    with guard.closed(), RecordingTransport(path) as transport:
        assert ask(server.url, transport) == live
    assert [kept.response.status.code for kept in load(path)] == [200]


def test_an_error_before_the_answer_is_kept_without_its_words(tmp_path: Path) -> None:
    """The cassette tells of the try, and holds no key that a stranger's error repeats."""
    path, fault = tmp_path / "c.json", json_answer({"error": {"code": KEY, "message": KEY}})
    with Loopback(answering(fault, GOOD)) as server:
        with RecordingTransport(path, mode="once", inner=tries()) as transport:
            assert ask(server.url, transport).state == "ok"
    (kept,) = load(path)
    assert [(one.status, one.error) for one in kept.response.attempts] == [(200, "error")]
    assert_nowhere(tmp_path, KEY)
