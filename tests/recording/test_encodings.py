"""Compressed bodies: decoded once, kept readable, and the same live and in replay."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import httpx
import pytest
import zstandard
from loopback import Answer, Loopback, Received, json_answer, sse_event
from recording.sessions import FACES, asked_twice, client, facts, recorded, send, twice

from harness.decoding import decoded
from harness.errors import DamagedFile, Miss
from harness.recording.cassette import Cassette
from harness.recording.interaction import stored_body

PLAIN = '{"text": "Zürich, 東京, \\u2028", "a": 1e-7}'.encode()


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def _zstd(data: bytes) -> bytes:
    packed: bytes = zstandard.ZstdCompressor().compress(data)
    return packed


def _brotli(data: bytes) -> bytes:
    packed: bytes = brotli.compress(data)
    return packed


ENCODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "upper case": ("GZIP", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", _raw_deflate),
    "br": ("br", _brotli),
    "zstd": ("zstd", _zstd),
    "zstd in two frames": ("zstd", lambda data: _zstd(data[:9]) + _zstd(data[9:])),
    "two": ("gzip, br", lambda data: _brotli(gzip.compress(data))),
}


def packed(name: str, body: bytes = PLAIN, kind: str = "application/json") -> Answer:
    """Answer with a compressed body."""
    encoding, pack = ENCODINGS[name]
    headers = [("Content-Type", kind), ("Content-Encoding", encoding), ("X-After", "kept")]
    return Answer(headers=headers, body=pack(body))


def get(url: str) -> list[httpx.Request]:
    """Ask once."""
    return [httpx.Request("GET", url + "/packed")]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", ENCODINGS)
def test_known_encodings_are_undone(tmp_path: Path, name: str, face: str) -> None:
    """A compressed body is decoded once; its header goes with it, on disk and for the caller."""
    path = tmp_path / "c.json"
    (live,), (again,) = asked_twice(path, lambda received: packed(name), get, face)
    assert live.content == PLAIN
    assert live.json()["a"] == 1e-7
    assert facts(live) == facts(again)
    assert "content-encoding" not in again.headers
    assert "content-length" not in again.headers
    assert again.headers["x-after"] == "kept"
    assert recorded(path)[0].response.body == {"string": PLAIN.decode()}


def test_encodings_in_headers_of_their_own(tmp_path: Path) -> None:
    """Two Content-Encoding headers mean the same as one with a comma."""
    body = brotli.compress(gzip.compress(PLAIN))
    headers = [("Content-Encoding", "gzip"), ("Content-Encoding", "br")]
    answer = Answer(headers=headers, body=body)
    (live,), (again,) = asked_twice(tmp_path / "c.json", lambda received: answer, get)
    assert live.content == again.content == PLAIN
    assert "content-encoding" not in live.headers


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_no_body_to_decode(tmp_path: Path, face: str, encoding: str) -> None:
    """HEAD and 204 with an encoding's header and no body are given as they came."""

    def answer(received: Received) -> Answer:
        headers = [("Content-Encoding", encoding)]
        if received.method == "HEAD":
            return Answer(headers=[*headers, ("Content-Length", "77")])
        return Answer(204, headers=headers)

    def make(url: str) -> list[httpx.Request]:
        return [httpx.Request("HEAD", url), httpx.Request("DELETE", url)]

    live, again = asked_twice(tmp_path / "c.json", answer, make, face)
    assert list(map(facts, live)) == list(map(facts, again))
    assert [response.content for response in again] == [b"", b""]
    assert [response.headers["content-encoding"] for response in again] == [encoding] * 2
    assert again[0].headers["content-length"] == "77"


@pytest.mark.parametrize("encoding", ["aws-chunked", "gzip, x-own", "compress"])
def test_unknown_encoding_stays_with_its_bytes(tmp_path: Path, encoding: str) -> None:
    """An encoding that nobody can undo keeps its header, its length and its bytes."""
    answer = Answer(headers=[("Content-Encoding", encoding)], body=b"\x01\x02packed")
    path = tmp_path / "c.json"

    def talk(url: str, mode: str) -> tuple[bytes, str, str]:
        with client(path, mode) as live, live.stream("GET", url) as response:
            raw = b"".join(response.iter_raw())
            headers = response.headers
            return raw, headers["content-encoding"], headers["content-length"]

    live, again = twice(path, lambda received: answer, talk)
    assert live == again == (b"\x01\x02packed", encoding, "8")


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "deflate"])
def test_cut_off_bodies_end_alike(tmp_path: Path, name: str, face: str) -> None:
    """A compressed body that is cut off gives live what it gives without us, and in replay."""
    encoding, pack = ENCODINGS[name]
    answer = Answer(headers=[("Content-Encoding", encoding)], body=pack(PLAIN * 9)[:-5])

    def outcome(action: Callable[[], bytes]) -> tuple[str, bytes]:
        try:
            return "fine", action()
        except httpx.DecodingError:
            return "DecodingError", b""

    with Loopback(lambda received: answer) as server, httpx.Client(trust_env=False) as bare:
        without_us = outcome(lambda: bare.get(server.url).content)

    def talk(url: str, mode: str) -> tuple[str, bytes]:
        with client(tmp_path / "c.json", mode) as live:
            return outcome(lambda: live.get(url).content)

    live, again = twice(tmp_path / "c.json", lambda received: answer, talk)
    assert live == again == without_us


def test_compressed_stream(tmp_path: Path) -> None:
    """A compressed stream of events is decoded piece by piece and kept as text."""
    events = b"".join(sse_event({"n": n}) for n in range(3))
    path = tmp_path / "c.json"
    answer = packed("gzip", events, "text/event-stream")
    (live,), (again,) = asked_twice(path, lambda received: answer, get)
    assert live.content == events
    assert facts(live) == facts(again)
    assert "content-encoding" not in again.headers
    assert recorded(path)[0].response.body == {"string": events.decode()}


def test_stream_of_unknown_encoding(tmp_path: Path) -> None:
    """A stream in an unknown encoding keeps its header with its bytes."""
    headers = [("Content-Type", "text/event-stream"), ("Content-Encoding", "x-own")]
    answer = Answer(headers=headers, chunks=[b"\xff\x00", b"\x01"])
    (live,), (again,) = asked_twice(tmp_path / "c.json", lambda received: answer, get)
    assert live.content == again.content == b"\xff\x00\x01"
    assert live.headers["content-encoding"] == again.headers["content-encoding"] == "x-own"


def test_compressed_request(tmp_path: Path) -> None:
    """A gzip request is its payload: packed otherwise it is the same, another one is a miss."""
    path = tmp_path / "c.json"

    def ask(live: httpx.Client, url: str, word: str, level: int) -> httpx.Response:
        body = gzip.compress(f'{{"prompt": "one {word} three"}}'.encode(), level, mtime=level)
        headers = {"content-encoding": "gzip", "content-type": "application/json"}
        return live.post(url, content=body, headers=headers)

    with Loopback(lambda received: json_answer({"number": received.number})) as server:
        with client(path, "once") as live:
            ask(live, server.url, "two", 9)
    with client(path) as again:
        assert ask(again, server.url, "two", 1).json() == {"number": 0}
    with pytest.raises(Miss, match=r"\[two\]") as miss, client(path) as again:
        ask(again, server.url, "2.5", 9)
    assert "[2.5]" in str(miss.value)


def bomb(encoding: str) -> bytes:
    """Give 64 MB of blanks in a few kilobytes."""
    return ENCODINGS[encoding][1](b" " * 2**26)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate", "br", "zstd"])
def test_what_decodes_to_too_much_is_an_error(tmp_path: Path, encoding: str, face: str) -> None:
    """Live and in replay a bomb is the library's own error, and no byte of it is kept."""
    path = tmp_path / "c.json"
    answer = Answer(headers=[("Content-Encoding", ENCODINGS[encoding][0])], body=bomb(encoding))
    with Loopback(lambda received: answer) as server:
        with pytest.raises(httpx.ReadError, match="decodes to more than 16777216 bytes"):
            send(face, path, "once", get(server.url))
    assert path.stat().st_size < 2000
    with pytest.raises(httpx.ReadError, match="decodes to more than 16777216 bytes"):
        send(face, path, "none", get(server.url))


@pytest.mark.parametrize("body", [gzip.compress(PLAIN), bomb("gzip")], ids=["small", "bomb"])
def test_a_body_that_is_still_encoded_is_damage(tmp_path: Path, body: bytes) -> None:
    """What can be decoded is stored so; a cassette cannot bring a bomb to its reader."""
    path = tmp_path / "c.json"
    with Loopback(lambda received: json_answer({})) as server, client(path, "once") as live:
        live.get(server.url)
    (kept,) = recorded(path)
    kept.response.headers["Content-Encoding"] = ["gzip"]
    kept.response.body = stored_body(body)
    Cassette([kept]).save(path)
    with pytest.raises(DamagedFile, match="still encoded"):
        recorded(path)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
def test_a_hundredfold_is_let_in(encoding: str) -> None:
    """Blanks that text is full of decode; so does what is less than 16 MB, however small it was."""
    name, pack = ENCODINGS[encoding]
    assert decoded(name, pack(b" " * 2**24)) == b" " * 2**24
    assert decoded(name, pack(b" " * 2**24)[:-1]) is None
