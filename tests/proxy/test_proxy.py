"""The reverse proxy: any client's calls recorded and replayed, and nothing else let through."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer, sse_answer
from recording.sessions import client, recorded
from study_folder import PACKAGE

from harness.errors import UsageError
from harness.proxy.endpoints import ServedEndpoint, read_endpoints
from harness.proxy.reverse import ReverseProxy
from harness.proxy.run import RunningProxy

Mode = Literal["record", "replay"]


def number(received: Received) -> Answer:
    """Answer with the number of the request and what came of it."""
    return json_answer({"number": received.number, "path": received.path, "q": received.query})


@contextmanager
def proxied(folder: Path, url: str, mode: Mode, **more: Any) -> Iterator[RunningProxy]:
    """Serve one endpoint, "model", of a base URL with a path."""
    endpoints = {"model": ServedEndpoint(f"{url}/v1", **more)}
    with RunningProxy(ReverseProxy(folder, endpoints, mode, report=lambda words: None)) as running:
        yield running


def bare(**more: Any) -> httpx.Client:
    """Return a client that knows nothing of recordings."""
    return httpx.Client(trust_env=False, timeout=5, **more)


def both(folder: Path, answer: Any, talk: Any) -> Any:
    """Hold a talk recorded, and replayed with the server gone; the tallies are good."""
    with Loopback(answer) as server:
        with proxied(folder, server.url, "record") as running:
            live = talk(running.proxy)
        assert running.tally and running.tally.good, running.tally
        sent = running.tally.sent
    with proxied(folder, server.url, "replay") as running:
        again = talk(running.proxy)
    assert running.tally and running.tally.good, running.tally
    assert (running.tally.matched, running.tally.sent) == (sent, 0)
    assert live == again
    return again


def test_calls_are_recorded_by_their_own_address(tmp_path: Path) -> None:
    """Path and query go on to the endpoint; its address, not the proxy's, is in the cassette."""

    def talk(proxy: ReverseProxy) -> Any:
        with bare() as live:
            url = proxy.url("model")
            return [
                live.post(f"{url}/chat?a=1", json={"n": 1}).json(),
                live.get(f"{url}/models/a%2Fb").json(),
            ]

    chat, models = both(tmp_path, number, talk)
    assert (chat["path"], chat["q"]) == ("/v1/chat", "a=1")
    assert models["path"] == "/v1/models/a%2Fb"
    uris = [kept.request.uri for kept in recorded(tmp_path / "program.json")]
    assert all(re.fullmatch(r"http://127\.0\.0\.1:\d+/v1/.*", uri) for uri in uris)


def test_cells_have_counters_of_their_own(tmp_path: Path) -> None:
    """Equal calls of two cells do not mix, whatever their order."""

    def talk(proxy: ReverseProxy) -> Any:
        with bare() as live:
            return {
                cell: [
                    live.post(proxy.url("model", cell), json={}).json()["number"] for _ in range(2)
                ]
                for cell in ("seed=1", "seed=2")
            }

    assert both(tmp_path, number, talk) == {"seed=1": [0, 1], "seed=2": [2, 3]}


def test_recorded_in_process_and_replayed_by_the_proxy(tmp_path: Path) -> None:
    """One cassette serves both ways, to and fro, for named and unnamed calls."""
    with Loopback(number) as server:
        with client(tmp_path / "program.json", "once") as live:
            first = live.post(f"{server.url}/v1/chat", json={"n": 1}).json()
            named = live.post(
                f"{server.url}/v1/chat", json={"n": 2}, extensions={"call": "turn-1"}
            ).json()
        with proxied(tmp_path, server.url, "replay") as running, bare() as again:
            url = running.proxy.url("model")
            assert again.post(f"{url}/chat", json={"n": 1}).json() == first
            headers = {"X-Harness-Call": "turn-1"}
            assert again.post(f"{url}/chat", json={"n": 2}, headers=headers).json() == named
        assert running.tally and running.tally.good
        with proxied(tmp_path / "b", server.url, "record") as running, bare() as live:
            url = running.proxy.url("model")
            third = live.post(f"{url}/chat", json={"n": 3}, headers={"X-Harness-Call": "a"}).json()
        assert "x-harness-call" not in str(server.received[-1].headers).lower()
    with client(tmp_path / "b" / "program.json") as again:
        response = again.post(f"{server.url}/v1/chat", json={"n": 3}, extensions={"call": "a"})
    assert response.json() == third


def test_a_stream_passes_piece_by_piece(tmp_path: Path) -> None:
    """The first events are there while the server holds back the last; all of it replays."""
    events, gate = [{"n": n} for n in range(3)], threading.Event()

    def answer(received: Received) -> Answer:
        def chunks() -> Iterator[bytes]:
            yield from sse_answer(events[:2]).chunks or []  # type: ignore[misc]
            assert gate.wait(5)
            yield b"data: [DONE]\n\n"

        return Answer(headers=[("Content-Type", "text/event-stream")], chunks=chunks())  # type: ignore[arg-type]

    def talk(proxy: ReverseProxy) -> list[bytes]:
        pieces = []
        with bare() as live, live.stream("POST", proxy.url("model"), json={}) as response:
            for piece in response.iter_raw():
                pieces.append(piece)
                if b'"n": 1' in b"".join(pieces):
                    gate.set()
        return [b"".join(pieces)]

    assert b"[DONE]" in both(tmp_path, answer, talk)[0]


def test_what_a_client_sees_of_odd_answers(tmp_path: Path) -> None:
    """HEAD, 204, 500, gzip, a large body, an upload and a dropped connection replay as live."""
    import gzip

    large = bytes(range(256)) * 4096

    def answer(received: Received) -> Answer:
        kind = received.path.rpartition("/")[2]
        if kind == "head":
            return Answer(headers=[("Content-Length", "77"), ("X-Kept", "yes")])
        if kind == "gzip":
            return Answer(headers=[("Content-Encoding", "gzip")], body=gzip.compress(b"plain"))
        answers = {
            "none": Answer(204),
            "error": Answer(500, body=b"broken"),
            "large": Answer(body=large),
            "drop": Answer(0),
            "cut": Answer(headers=[("Content-Type", "text/plain")], body=b"half", cut=True),
        }
        return answers.get(kind) or Answer(body=str(len(received.body)).encode())

    def talk(proxy: ReverseProxy) -> Any:
        url = proxy.url("model")
        seen: list[Any] = []
        with bare() as live:
            head = live.head(f"{url}/head")
            seen.append((head.status_code, head.headers["content-length"], head.headers["x-kept"]))
            for kind in ("none", "error", "gzip", "large"):
                response = live.get(f"{url}/{kind}")
                seen.append((response.status_code, response.content))
            seen.append(live.post(f"{url}/upload", content=large).content)
            seen.append(live.post(f"{url}/chunked", content=iter([b"a" * 70000, b"b"])).content)
            for kind in ("drop", "cut"):
                with pytest.raises(httpx.RemoteProtocolError):
                    live.get(f"{url}/{kind}")
        return seen

    seen = both(tmp_path, answer, talk)
    assert seen[0] == (200, "77", "yes")
    assert seen[3:] == [(200, b"plain"), (200, large), b"1048576", b"70001"]


def test_a_miss_is_a_400_with_the_diff(tmp_path: Path) -> None:
    """No client tries it again; every later call of the cell gets the same."""
    with Loopback(number) as server:
        with proxied(tmp_path, server.url, "record") as running, bare() as live:
            live.post(running.proxy.url("model"), json={"prompt": "one two three"})
        with proxied(tmp_path, server.url, "replay") as running, bare() as again:
            url = running.proxy.url("model")
            for word in ("2.5", "two"):
                response = again.post(url, json={"prompt": f"one {word} three"})
                assert response.status_code == 400
                assert response.headers["x-should-retry"] == "false"
                message = response.json()["error"]["message"]
                assert "[two]" in message and "[2.5]" in message
        assert len(server.received) == 1
    assert running.tally and not running.tally.good
    assert len(running.tally.stops) == 1


def test_what_nobody_asks_for_is_named(tmp_path: Path) -> None:
    """A cell of which nothing is asked fails the replay."""
    with Loopback(number) as server:
        with proxied(tmp_path, server.url, "record") as running, bare() as live:
            live.get(running.proxy.url("model", "one"))
            live.get(running.proxy.url("model", "two"))
        with proxied(tmp_path, server.url, "replay") as running, bare() as live:
            live.get(running.proxy.url("model", "one"))
    assert running.tally and len(running.tally.unused) == 1
    assert running.tally.unused[0].startswith("two: ")


def test_a_client_that_hangs_up(tmp_path: Path) -> None:
    """Before the answer and in its midst: recorded as cancelled, and replayed as the same wait."""

    def answer(received: Received) -> Answer:
        if received.path.endswith("silent"):
            return Answer(0, hang=True)
        return sse_answer([b"one", b"two"], 0.02, hang=True)

    def talk(proxy: ReverseProxy) -> Any:
        url = proxy.url("model")
        with bare() as live:
            with pytest.raises(httpx.ReadTimeout):
                live.get(f"{url}/silent", timeout=0.3)
            pieces = b""
            with live.stream("GET", f"{url}/stream") as response:
                for piece in response.iter_raw():
                    pieces += piece
                    if pieces == b"onetwo":
                        break
        return pieces

    assert both(tmp_path, answer, talk) == b"onetwo"
    assert all(kept.response.cancelled for kept in recorded(tmp_path / "program.json"))


def test_who_is_let_in(tmp_path: Path) -> None:
    """Another Host, an unknown path and a websocket are refused; nothing is sent for them."""
    with Loopback(number) as server:
        with proxied(tmp_path, server.url, "record") as running, bare() as live:
            url = running.proxy.url("model")
            assert live.get(url, headers={"Host": "evil.example"}).status_code == 403
            assert live.get(url.replace("model", "other")).status_code == 404
            assert live.get(url, headers={"Upgrade": "websocket"}).status_code == 501
            with socket.create_connection(("127.0.0.1", running.proxy.port)) as raw:
                raw.sendall(b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")
                assert raw.recv(12) == b"HTTP/1.1 403"
            with socket.create_connection(("127.0.0.1", running.proxy.port)) as raw:
                raw.sendall(b"no HTTP at all\r\n\r\n")
                assert raw.recv(12) == b"HTTP/1.1 400"
        assert server.received == []
    tally = running.tally
    assert tally and (tally.refused, tally.websockets, tally.good) == (3, 1, False)


def test_keys_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint gets the real key in place of the program's dummy; the cassette has neither."""
    key = "sk-real-0123456789abcdef"
    monkeypatch.setenv("MY_KEY", key)
    with Loopback(
        lambda received: json_answer({"you sent": received.header("x-api-key")})
    ) as server:
        more: dict[str, Any] = {"kind": "anthropic", "api_key_env": "MY_KEY"}
        with proxied(tmp_path, server.url, "record", **more) as running, bare() as live:
            headers = {"x-api-key": "dummy", "authorization": "Bearer dummy"}
            response = live.post(running.proxy.url("model"), json={}, headers=headers)
        assert server.received[0].header("x-api-key") == key
        assert server.received[0].header("authorization") is None
    assert response.json() == {"you sent": "[REDACTED]"}
    assert key not in (tmp_path / "program.json").read_text()
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(UsageError, match="MY_KEY is not set"):
        ReverseProxy(tmp_path, {"model": ServedEndpoint(server.url, **more)}, "record")
    with proxied(tmp_path, server.url, "replay", **more) as running, bare() as again:
        assert again.post(running.proxy.url("model"), json={}).json() == response.json()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no endpoints"),
        ("[endpoints.c]\nbase_url = 'http://a'", "is not 'c'"),
        ("[endpoints.a]\nbase_url = 'ftp://a'", "expected an address"),
        ("[endpoints.a]\nbase_url = 'http://a'\nkind = 'x'", "expected one of openai"),
        ("[endpoints.a]\nurl = 'http://a'", "url"),
    ],
)
def test_study_files_that_cannot_be_served(tmp_path: Path, text: str, words: str) -> None:
    """What is wrong with an endpoint is said with the file's name."""
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(UsageError, match=words):
        read_endpoints(tmp_path)


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `harness serve` in a process of its own."""
    command = [sys.executable, "-m", "harness", "serve", str(folder), *options]
    process = subprocess.Popen(command, cwd=PACKAGE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        address = process.stdout.readline().split()[0]
        process.stdout.readline()
        yield process, f"{address}/model"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """End it as Ctrl-C does, and return code and words."""
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    return process.returncode, out


def test_the_command(tmp_path: Path) -> None:
    """`harness serve` writes a study file, records until Ctrl-C, and replays with exit code 0."""
    with Loopback(number) as server:
        options = ["--record", "--endpoint", f"model={server.url}"]
        with served(tmp_path, *options) as (process, url), bare() as live:
            first = live.post(url, json={"n": 1}).json()
            assert ended(process) == (
                0,
                "1 cells, 0 calls matched, 1 sent, 0 unused, 0 websockets refused, "
                "0 other requests refused\n",
            )
    assert "[endpoints.model]" in (tmp_path / "study.toml").read_text()
    with served(tmp_path, "--replay") as (process, url), bare() as again:
        assert again.post(url, json={"n": 1}).json() == first
        assert ended(process)[0] == 0
    with served(tmp_path) as (process, url), bare() as again:
        assert again.post(url, json={"n": 2}).status_code == 400
        code, out = ended(process)
    assert code == 1
    assert "stopped: program, call POST" in out


def test_killed_under_load(tmp_path: Path) -> None:
    """After kill -9 with twenty calls in flight, no answer that a client got is lost."""
    got: dict[int, Any] = {}

    def ask(url: str, start: int) -> None:
        with bare() as live:
            for n in range(start, 100_000, 20):
                try:
                    got[n] = live.post(url, json={"n": n}).json()
                except httpx.HTTPError:
                    return

    def answer(received: Received) -> Answer:
        return json_answer({"n": received.json()["n"], "number": received.number})

    with Loopback(answer) as server:
        options = ["--record", "--endpoint", f"model={server.url}"]
        with served(tmp_path, *options) as (process, url):
            threads = [threading.Thread(target=ask, args=(url, n)) for n in range(20)]
            for thread in threads:
                thread.start()
            while len(got) < 100:
                time.sleep(0.01)
            process.kill()
            for thread in threads:
                thread.join()
        sent = len(server.received)
    done = [sys.executable, "-m", "harness", "finish", str(tmp_path / "program.json")]
    subprocess.run(done, cwd=PACKAGE, check=True, stdout=subprocess.PIPE)
    kept = {
        json.loads(call.request.body or "")["n"]: json.loads(call.body_bytes)
        for call in recorded(tmp_path / "program.json")
    }
    assert got.items() <= kept.items()
    assert len(got) >= 100
    assert sent - len(kept) <= 20
