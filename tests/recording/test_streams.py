"""Streams: live while recorded, piece by piece in replay, with the end they had."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from loopback import Answer, Received, json_answer, sse_answer, sse_event
from recording.sessions import FACES, async_client, client, recorded, twice

from harness.errors import Miss

EVENTS = [{"n": n, "text": "Zürich"} for n in range(5)]
PIECES = [sse_event(event) for event in EVENTS]


class Seen(NamedTuple):
    """What a client saw of a stream: its pieces, when they came, and the error at its end."""

    pieces: list[bytes]
    times: list[float]
    error: str = ""


def read(face: str, path: Path, mode: str, url: str, most: int = 99) -> Seen:
    """Read a stream's raw pieces, at most so many."""
    pieces: list[bytes] = []
    times: list[float] = []

    def take(piece: bytes) -> bool:
        pieces.append(piece)
        times.append(time.monotonic())
        return len(pieces) == most

    async def read_async() -> None:
        async with async_client(path, mode) as live, live.stream("GET", url) as response:
            async for piece in response.aiter_raw():
                if take(piece):
                    return

    try:
        if face == "async":
            asyncio.run(read_async())
            return Seen(pieces, times)
        with client(path, mode) as live, live.stream("GET", url) as response:
            any(take(piece) for piece in response.iter_raw())
    except httpx.HTTPError as error:
        return Seen(pieces, times, f"{type(error).__name__}: {error}")
    return Seen(pieces, times)


@pytest.mark.parametrize("face", FACES)
def test_live_while_recorded(tmp_path: Path, face: str) -> None:
    """Five events 0.2 s apart arrive one by one while recorded; replay gives them at once."""
    path = tmp_path / "c.json"
    live, again = twice(
        path,
        lambda received: sse_answer(EVENTS, pause=0.2),
        lambda url, mode: read(face, path, mode, url),
    )
    assert live.pieces == again.pieces == PIECES
    assert all(later - earlier > 0.1 for earlier, later in pairwise(live.times))
    assert again.times[-1] - again.times[0] < live.times[-1] - live.times[0]
    assert recorded(path)[0].response.chunks == [len(piece) for piece in PIECES]


@pytest.mark.parametrize("face", FACES)
def test_cut_in_the_middle(tmp_path: Path, face: str) -> None:
    """A stream that breaks after its second event replays as two pieces and the same error."""
    path = tmp_path / "c.json"
    live, again = twice(
        path,
        lambda received: sse_answer(EVENTS[:2], pause=0.05, cut=True),
        lambda url, mode: read(face, path, mode, url),
    )
    assert live.pieces == again.pieces == PIECES[:2]
    assert live.error == again.error
    assert again.error.startswith("RemoteProtocolError")


@pytest.mark.parametrize("face", FACES)
def test_client_that_leaves(tmp_path: Path, face: str) -> None:
    """A stream without end, left after two events, is kept so far and marked partial."""
    path = tmp_path / "c.json"
    live, again = twice(
        path,
        lambda received: sse_answer(EVENTS[:3], pause=0.05, hang=True),
        lambda url, mode: read(face, path, mode, url, most=2),
    )
    assert live.pieces == again.pieces == PIECES[:2]
    (kept,) = recorded(path)
    assert kept.response.partial
    assert kept.body_bytes == b"".join(PIECES[:2])


@pytest.mark.parametrize("face", FACES)
def test_more_of_a_partial_stream_is_a_miss(tmp_path: Path, face: str) -> None:
    """A replay that reads on where the recording's client had left stops, and says so at close."""
    path = tmp_path / "c.json"
    url, _ = twice(
        path,
        lambda received: sse_answer(EVENTS[:2], hang=True),
        lambda url, mode: read(face, path, mode, url, most=2) and url,
    )
    with pytest.raises(Miss, match="left this stream early"):
        read(face, path, "none", url)
    again = client(path)
    with pytest.raises(Miss, match="left this stream early") as first:
        again.get(url)
    with pytest.raises(Miss) as second:
        again.get(url)
    with pytest.raises(Miss) as third:
        again.close()
    assert str(first.value) == str(second.value) == str(third.value)


def test_lines_text_and_whole_body(tmp_path: Path) -> None:
    """iter_lines, iter_text and a plain get see the same of a stream, live and in replay."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: str) -> tuple[list[str], str, bytes]:
        with client(path, mode) as live:
            with live.stream("GET", f"{url}/lines") as response:
                lines = list(response.iter_lines())
            with live.stream("GET", f"{url}/text") as response:
                text = "".join(response.iter_text())
            return lines, text, live.get(f"{url}/whole").content

    live, again = twice(path, lambda received: sse_answer(EVENTS), talk)
    assert live == again
    assert again[2] == b"".join(PIECES)
    assert again[0][0] == 'data: {"n": 0, "text": "Z\\u00fcrich"}'


def test_pieces_that_split_a_character(tmp_path: Path) -> None:
    """A character whose bytes come in two pieces is whole in the text and split in the pieces."""
    path, chunks = tmp_path / "c.json", [b"data: Z\xc3", b"\xbcrich\n\n"]
    live, again = twice(
        path,
        lambda received: sse_answer(chunks, pause=0.05),
        lambda url, mode: read("sync", path, mode, url),
    )
    assert live.pieces == again.pieces == chunks
    assert recorded(path)[0].response.body == {"string": "data: Zürich\n\n"}


def test_streaming_an_answer_of_one_piece(tmp_path: Path) -> None:
    """An answer that is no stream can be read by client.stream, in pieces of a wanted size too."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: str) -> tuple[list[bytes], list[bytes]]:
        with client(path, mode) as live:
            with live.stream("GET", url) as response:
                raw = list(response.iter_raw(4))
            with live.stream("GET", url) as response:
                return raw, list(response.iter_bytes(3))

    live, again = twice(path, lambda received: json_answer({"n": received.number}), talk)
    assert live == again
    assert again == ([b'{"n"', b": 0}"], [b'{"n', b'": ', b"1}"])


def test_requests_that_are_streams(tmp_path: Path) -> None:
    """A body given piece by piece is sent whole, kept whole and matched as a whole."""
    path = tmp_path / "c.json"

    def pieces() -> Iterator[bytes]:
        yield from (b"one ", b"two ", b"three")

    def talk(url: str, mode: str) -> bytes:
        with client(path, mode) as live:
            return live.post(url, content=pieces()).content

    live, again = twice(path, lambda received: Answer(body=received.body), talk)
    assert live == again == b"one two three"


def test_stream_that_times_out(tmp_path: Path) -> None:
    """A stream that falls silent ends in ReadTimeout, and in replay without the waiting."""
    path = tmp_path / "c.json"

    @contextmanager
    def reading(url: str, mode: str) -> Iterator[httpx.Response]:
        with client(path, mode) as live, live.stream("GET", url, timeout=0.3) as response:
            yield response

    def talk(url: str, mode: str) -> tuple[list[bytes], float]:
        begin = time.monotonic()
        got: list[bytes] = []
        with pytest.raises(httpx.ReadTimeout), reading(url, mode) as response:
            got.extend(response.iter_bytes())
        return got, time.monotonic() - begin

    live, again = twice(path, lambda received: sse_answer(EVENTS[:2], hang=True), talk)
    assert b"".join(live[0]) == b"".join(PIECES[:2])
    assert live[0] == again[0]
    assert live[1] > max(0.3, again[1])


def test_stream_of_a_named_call_that_breaks_is_no_answer(tmp_path: Path) -> None:
    """A named call whose stream broke is asked again on resume and not in the finished file."""
    path = tmp_path / "c.json"

    def answer(received: Received) -> Answer:
        return sse_answer(EVENTS[:2], cut=received.number == 0)

    def talk(url: str, mode: str) -> bytes:
        with client(path, mode) as live:
            request = live.build_request("GET", url, extensions={"call": "turn-1/subject"})
            if mode == "once":
                with pytest.raises(httpx.RemoteProtocolError):
                    live.send(request)
            return live.send(request).content

    live, again = twice(path, answer, talk)
    assert live == again == b"".join(PIECES[:2])
    (kept,) = recorded(path)
    assert (kept.response.occurrence, kept.response.error) == (0, None)
