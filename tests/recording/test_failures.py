"""Errors of the connection and statuses that are none of the request's fault."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer
from recording.sessions import FACES, asked_twice, client, recorded, send, twice

from harness.asking.retry import RetryTransport
from harness.errors import Incomplete, Miss
from harness.recording.transport import RecordingTransport

SILENT, DROPPED, CUT = Answer(0, hang=True), Answer(0), Answer(body=b"half", cut=True)
BUSY = Answer(429, headers=[("Retry-After", "0.3")], body=b"busy")
CALL = {"call": "turn-1/subject"}


def fails(face: str, path: Path, mode: str, request: httpx.Request) -> str:
    """Send a request that is to fail and give the error's class and message."""
    with pytest.raises(httpx.TransportError) as failed:
        send(face, path, mode, [request])
    assert failed.value.request.url == request.url
    return f"{type(failed.value).__name__}: {failed.value}"


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(
    ("answer", "kind"),
    [(SILENT, "ReadTimeout"), (DROPPED, "RemoteProtocolError"), (CUT, "RemoteProtocolError")],
)
def test_errors_replay_as_the_same_class(
    tmp_path: Path, face: str, answer: Answer, kind: str
) -> None:
    """A timeout, a dropped connection and a body cut short come back as the same httpx error."""
    path, waits = tmp_path / "c.json", {"timeout": httpx.Timeout(0.3).as_dict()}

    def talk(url: str, mode: str) -> str:
        return fails(face, path, mode, httpx.Request("GET", url, extensions=waits))

    live, again = twice(path, lambda received: answer, talk)
    assert live == again
    assert again.startswith(kind)


@pytest.mark.parametrize("face", FACES)
def test_refused_connection(tmp_path: Path, face: str) -> None:
    """A server that is not there replays as ConnectError."""
    path = tmp_path / "c.json"
    with Loopback(lambda received: DROPPED) as server:
        pass
    live = fails(face, path, "once", httpx.Request("GET", server.url))
    assert fails(face, path, "none", httpx.Request("GET", server.url)) == live
    assert live.startswith("ConnectError")


def test_error_of_a_class_that_httpx_does_not_know(tmp_path: Path) -> None:
    """An error of a transport's own class replays as the httpx class it derives from."""

    class Broken(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            class OwnTimeout(httpx.ConnectTimeout):
                pass

            raise OwnTimeout("too slow \ud800")

    path = tmp_path / "c.json"
    live = httpx.Client(transport=RecordingTransport(path, mode="once", inner=Broken()))
    with live, pytest.raises(httpx.ConnectTimeout):
        live.get("http://host.example/")
    with client(path) as again, pytest.raises(httpx.ConnectTimeout, match="too slow") as failed:
        again.get("http://host.example/")
    assert type(failed.value) is httpx.ConnectTimeout


def retrying(path: Path, mode: Any) -> httpx.Client:
    """Make a client whose retries stand under the recorder."""
    inner = RetryTransport(httpx.HTTPTransport(), threading.Event(), tries=3, first_wait=0.05)
    return httpx.Client(transport=RecordingTransport(path, mode=mode, inner=inner))


def test_attempts_are_kept_and_not_waited_for(tmp_path: Path) -> None:
    """429 with Retry-After, a drop, then 200: one answer with both tries, replayed at once."""
    path, answers = tmp_path / "c.json", [BUSY, DROPPED, json_answer({"fine": True})]

    def talk(url: str, mode: str) -> tuple[bytes, list[Any], float]:
        begin = time.monotonic()
        with retrying(path, mode) as live:
            response = live.post(url, content=b"{}", extensions=CALL)
        return response.content, response.extensions["attempts"], time.monotonic() - begin

    live, again = twice(path, lambda received: answers[received.number], talk)
    assert live[:2] == again[:2]
    tries = [(one.status, one.retry_after, one.error) for one in again[1]]
    assert tries == [(429, "0.3", None), (None, None, "RemoteProtocolError")]
    assert live[2] > max(0.3, again[2])


@pytest.mark.parametrize("answer", [BUSY, Answer(503), Answer(529), DROPPED, Answer(401)])
def test_infrastructure_errors_are_no_answers(tmp_path: Path, answer: Answer) -> None:
    """A named call that failed is sent again, at once or on resume, and leaves no trace."""
    path, answers = tmp_path / "c.json", [answer, answer, json_answer({"fine": True})]

    def ask(live: httpx.Client, url: str) -> int:
        try:
            return live.post(url, content=b"{}", extensions=CALL).status_code
        except httpx.RemoteProtocolError:
            return 0

    with Loopback(lambda received: answers[received.number]) as server:
        with client(path, "once") as live:
            assert ask(live, server.url) == answer.status
        with client(path, "new_episodes") as live:
            assert ask(live, server.url) == answer.status
            assert ask(live, server.url) == 200
    (kept,) = recorded(path)
    assert (kept.response.call, kept.response.occurrence) == ("turn-1/subject", 0)
    with client(path) as again:
        assert ask(again, server.url) == 200


@pytest.mark.parametrize(
    ("answer", "more"),
    [
        (DROPPED, {"call": "source/1", "optional": True}),
        (Answer(503), {"call": "source/1", "optional": True, "kind": "source"}),
        (Answer(410), {"call": "source/1", "optional": True, "kind": "source"}),
        (Answer(404), {"call": "source/1", "optional": True, "kind": "source"}),
        (Answer(404), {"call": "source/1", "kind": "source"}),
        (Answer(404), {}),
        (Answer(503), {}),
        (Answer(400), {"call": "turn-1/subject"}),
        (Answer(422), {"call": "turn-1/subject"}),
    ],
)
def test_failures_that_are_answers(tmp_path: Path, answer: Answer, more: dict[str, Any]) -> None:
    """What an optional, unnamed or always refused request got replays as it was."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: str) -> int:
        request = httpx.Request("GET", url, extensions=more)
        try:
            return send("sync", path, mode, [request])[0].status_code
        except httpx.RemoteProtocolError:
            return 0

    live, again = twice(path, lambda received: answer, talk)
    assert live == again == answer.status
    assert len(recorded(path)) == 1


@pytest.mark.parametrize("status", [401, 402, 403, 432, 433])
@pytest.mark.parametrize("optional", [False, True])
def test_a_source_that_refuses_gives_no_answer(tmp_path: Path, status: int, optional: bool) -> None:
    """Neither cassette nor journal keeps it, so that it is asked again with another key."""
    path, answers = tmp_path / "c.json", [Answer(status), json_answer({"fine": True})]
    more = {"call": "source/1", "optional": optional, "kind": "source"}
    with Loopback(lambda received: answers[received.number]) as server:
        for mode, expected in (("once", status), ("new_episodes", 200)):
            with client(path, mode) as live:
                assert live.get(server.url, extensions=more).status_code == expected
    assert [kept.response.status.code for kept in recorded(path)] == [200]


def test_interrupted_request_leaves_its_place(tmp_path: Path) -> None:
    """A request stopped by the program itself does not leave a hole among equal ones."""

    class Interrupted(httpx.BaseTransport):
        tries = 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            self.tries += 1
            if self.tries == 2:
                raise Incomplete("stopped")
            return httpx.Response(200, content=str(self.tries).encode())

    path = tmp_path / "c.json"
    transport = RecordingTransport(path, mode="once", inner=Interrupted())
    with httpx.Client(transport=transport) as live:
        assert live.get("http://host.example/").content == b"1"
        with pytest.raises(Incomplete):
            live.get("http://host.example/")
        assert live.get("http://host.example/").content == b"3"
    again = client(path)
    assert [again.get("http://host.example/").content for _ in range(2)] == [b"1", b"3"]
    with pytest.raises(Miss, match="exhausted, 2 of 2"):
        again.get("http://host.example/")


def redirecting(received: Received) -> Answer:
    """Send /start on to /end, with cookies on both."""
    if received.path == "/start":
        headers = [("Location", "/end?from=start"), ("Set-Cookie", "session=first-0001; Path=/")]
        return Answer(302, headers=headers)
    cookies = [("Set-Cookie", "a=1; HttpOnly"), ("Set-Cookie", "b=2")]
    return Answer(headers=cookies, body=(received.header("cookie") or "none").encode())


@pytest.mark.parametrize("face", FACES)
def test_redirects(tmp_path: Path, face: str) -> None:
    """A redirect keeps its history, its final URL and the names of its cookies."""
    (live,), (again,) = asked_twice(
        tmp_path / "c.json",
        redirecting,
        lambda url: [httpx.Request("GET", f"{url}/start")],
        face,
        follow_redirects=True,
    )
    for response in (live, again):
        assert [(past.status_code, past.url.path) for past in response.history] == [(302, "/start")]
        assert str(response.url).endswith("/end?from=start")
        assert list(response.cookies) == ["a", "b"]
    assert live.content == again.content == b"session=first-0001"
    assert live.cookies["a"] == "1"
    assert again.cookies["a"] == "[REDACTED]"


def test_named_call_that_is_redirected(tmp_path: Path) -> None:
    """Both hops of a named call are kept, as its first and second occurrence."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: str) -> bytes:
        with client(path, mode, follow_redirects=True) as live:
            return live.get(f"{url}/start", extensions=CALL).content

    live, again = twice(path, redirecting, talk)
    assert live == again
    assert [kept.response.occurrence for kept in recorded(path)] == [0, 1]
