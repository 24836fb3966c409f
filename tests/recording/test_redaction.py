"""A key in an answer: taken out of it, for the caller and on disk, and the answer kept."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer, sse_event
from recording.search import assert_nowhere, holds
from recording.sessions import FACES, client, facts, recorded, send, twice

from harness.recording.redaction import REDACTED

PLAIN, ODD = "sk-test-0123456789abcdef", 'k+/="\\ü%20-0123456789=='
OTHER = "sk-other-abcdef9876543210"
GZIP, TEXT = ("Content-Encoding", "gzip"), ("Content-Type", "text/plain")


def based(key: str, shift: int) -> bytes:
    """Give base64 with the key somewhere inside."""
    return base64.b64encode(b"a" * (30 + shift) + key.encode() + b"zz")


def echo(key: str, way: str) -> Answer:
    """Answer with the key in it, and with the word kept."""
    body = f'{{"error": "wrong key {key}", "kept": true}}'.encode()
    answers = {
        "4xx": Answer(400, headers=[TEXT], body=body),
        "json": json_answer({"error": f"wrong key {key} ", "kept": True}, 422),
        "slashes": Answer(body=json.dumps({"kept": key}).replace("/", "\\/").encode()),
        "gzip": Answer(headers=[GZIP], body=gzip.compress(body)),
        "percent": Answer(body=f"kept?x={quote(key, safe='')}&y={quote(key)}".encode()),
        "binary": Answer(body=b"\xff\xfekept" + key.encode() + b"\x00"),
        "header": Answer(headers=[("X-Echo", f"a {quote(key)} b"), ("X-Kept", "kept")]),
        "Set-Cookie": Answer(headers=[("Set-Cookie", f"kept={quote(key)}; Path=/")]),
        "SET-COOKIE": Answer(headers=[("SET-COOKIE", f"kept={quote(key)}; Path=/")]),
        "Api-Key": Answer(headers=[("Api-Key", quote(key)), ("X-Kept", "kept")]),
        "unescaped": Answer(body=json.dumps({"kept": key}, ensure_ascii=False).encode()),
        "nested": json_answer({"kept": json.dumps({"inner": key})}),
    }
    if way.startswith("base64"):
        return Answer(body=b'{"kept": "' + based(key, int(way[-1])) + b'"}')
    if way.startswith("url base64"):
        return Answer(body=b"kept " + based(key, int(way[-1])).translate(_url_safe))
    return answers[way]


_url_safe = bytes.maketrans(b"+/", b"-_")
WAYS = ["4xx", "json", "slashes", "gzip", "percent", "binary", "header", "Set-Cookie", "SET-COOKIE"]
WAYS += [
    "Api-Key",
    "nested",
    *(f"base64 {n}" for n in range(3)),
    *(f"url base64 {n}" for n in range(3)),
]


@pytest.mark.parametrize("key", [PLAIN, ODD])
@pytest.mark.parametrize("way", WAYS)
def test_echoed_key(tmp_path: Path, way: str, key: str) -> None:
    """An echoed key becomes [REDACTED] live, in replay and on disk, and the rest is kept."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: str) -> httpx.Response:
        request = httpx.Request("POST", url, content=b"{}")
        return send("sync", path, mode, [request], keys=[key] if mode == "once" else [])[0]

    live, again = twice(path, lambda received: echo(key, way), talk)
    if "ookie" in way.lower() or way == "Api-Key":
        assert REDACTED in str(again.headers)
    else:
        assert facts(live) == facts(again)
        seen = live.content + str(live.headers).encode()
        assert REDACTED.encode() in seen and b"kept" in seen
        assert not holds(live.content, key)
        assert recorded(path)[0].response.redacted
    assert_nowhere(tmp_path, key)


def test_search_finds_what_was_not_taken_out(tmp_path: Path) -> None:
    """The search that the other tests rely on finds a key in each of these answers."""
    path = tmp_path / "c.json"
    for way in ("json", "percent", "binary", "base64 0", "base64 1", "base64 2", "slashes"):
        with Loopback(lambda received, way=way: echo(ODD, way)) as server:  # type: ignore[misc]
            send("sync", path, "all", [httpx.Request("GET", server.url)])
        assert holds(path.read_bytes(), ODD), way


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("cut", [1, 9, len(PLAIN) - 1])
@pytest.mark.parametrize("shift", [None, 0, 1, 2])
def test_key_across_pieces_of_a_stream(
    tmp_path: Path, face: str, cut: int, shift: int | None
) -> None:
    """A key that comes in two pieces of a stream is taken out, plain and in base64."""
    path = tmp_path / "c.json"
    echoed = PLAIN.encode() if shift is None else based(PLAIN, shift)
    event = sse_event(f"wrong {echoed.decode()} kept")
    where = event.index(echoed) + cut + (0 if shift is None else 40)
    chunks: list[bytes | float] = [event[:where], 0.05, event[where:], 0.05, sse_event("end")]
    answer = Answer(headers=[("Content-Type", "text/event-stream")], chunks=chunks)

    def talk(url: str, mode: str) -> bytes:
        headers = {"authorization": f"Bearer {PLAIN if mode == 'once' else OTHER}"}
        request = httpx.Request("GET", url, headers=headers)
        return send(face, path, mode, [request])[0].content

    live, again = twice(path, lambda received: answer, talk)
    assert live == again
    assert REDACTED.encode() in live
    assert live.endswith(b" kept\n\ndata: end\n\n")
    assert recorded(path)[0].response.redacted
    assert_nowhere(tmp_path, PLAIN)


def test_nothing_is_held_back_from_a_live_stream(tmp_path: Path) -> None:
    """The search for keys delays no event that does not end like a key's beginning."""
    events = [sse_event({"n": n}) for n in range(4)]
    path = tmp_path / "c.json"
    answer = Answer(headers=[("Content-Type", "text/event-stream")], chunks=[*events, b"data: sk"])
    with Loopback(lambda received: answer) as server, client(path, "once", keys=[PLAIN]) as live:
        with live.stream("GET", server.url) as response:
            pieces = list(response.iter_raw())
    assert b"".join(pieces) == b"".join(events) + b"data: sk"


@pytest.mark.parametrize("where", ["/next?x={}", "/next?api_key={}", "/{}/next"])
def test_redirect_with_the_key(tmp_path: Path, where: str) -> None:
    """A key in a redirect's Location is taken out, and the redirect followed in replay too."""
    path = tmp_path / "c.json"

    def answer(received: Received) -> Answer:
        if received.path == "/":
            return Answer(307, headers=[("Location", where.format(PLAIN))])
        return json_answer({"path": received.path})

    def talk(url: str, mode: str) -> tuple[int, bytes]:
        headers = {"x-api-key": PLAIN if mode == "once" else OTHER}
        request = httpx.Request("GET", f"{url}/", headers=headers)
        (response,) = send("sync", path, mode, [request], follow_redirects=True)
        return response.history[0].status_code, response.content

    live, again = twice(path, answer, talk)
    assert live == again
    assert live[0] == 307
    assert_nowhere(tmp_path, PLAIN)


def test_key_known_only_later(tmp_path: Path) -> None:
    """A token that an answer hands out, and a later request uses, is not in the finished file."""
    path = tmp_path / "c.json"

    def answer(received: Received) -> Answer:
        return json_answer({"session": PLAIN, "text": "kept"}, headers=[("X-Session", PLAIN)])

    def talk(url: str, mode: str) -> str:
        with client(path, mode) as live:
            token = live.post(f"{url}/login", json={"user": "me"}).json()["session"]
            headers = {"authorization": f"Bearer {token}"}
            text: str = live.get(f"{url}/data", headers=headers).json()["text"]
            return text

    live, again = twice(path, answer, talk)
    assert live == again == "kept"
    assert_nowhere(tmp_path, PLAIN)


def test_short_keys_are_not_searched_for(tmp_path: Path) -> None:
    """A key like "none" does not eat the word out of the answers."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: str) -> bytes:
        headers = {"authorization": "Bearer none"}
        (response,) = send("sync", path, mode, [httpx.Request("GET", url, headers=headers)])
        return response.content

    live, again = twice(path, lambda received: json_answer("none of it"), talk)
    assert live == again == b'"none of it"'
    assert not recorded(path)[0].response.redacted


def test_flag_is_only_where_a_key_was(tmp_path: Path) -> None:
    """Only the answer that held a key is marked as changed."""
    path = tmp_path / "c.json"
    with Loopback(lambda received: json_answer(received.json())) as server:
        with client(path, "once", keys=[PLAIN]) as live:
            for n in range(3):
                live.post(server.url, json={"n": n, "api_key": PLAIN if n == 1 else "none"})
    assert [kept.response.redacted for kept in recorded(path)].count(True) == 1
