"""Calls that the program cancels: recorded as such, replayed as such, and no hole behind them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer, sse_answer
from recording.sessions import async_client, client, recorded, twice

from harness.errors import Miss
from harness.recording import streams

Talk = Callable[[httpx.AsyncClient, str], Awaitable[Any]]


def slow_first(received: Received) -> Answer:
    """Let the first request wait for longer than its client does."""
    if received.number == 0:
        return Answer(0, hang=True)
    return json_answer({"number": received.number})


def held(path: Path, talk: Talk, answer: Any = slow_first) -> tuple[Any, Any]:
    """Hold an async talk, recorded and replayed."""

    def run(url: str, mode: str) -> Any:
        async def go() -> Any:
            async with async_client(path, mode) as live:
                return await talk(live, url)

        return asyncio.run(go())

    return twice(path, answer, run)


async def outcome(call: Awaitable[httpx.Response], limit: float) -> Any:
    """Return an answer, or the name of what came instead."""
    try:
        return (await asyncio.wait_for(call, limit)).json()
    except TimeoutError:
        return "cancelled"


def test_a_call_that_times_out_in_the_program(tmp_path: Path) -> None:
    """`wait_for` cancels a call: the replay waits for the same, and the next call is answered."""

    async def talk(live: httpx.AsyncClient, url: str) -> list[Any]:
        first = await outcome(live.post(url, json={"n": 1}), 0.2)
        return [first, await outcome(live.post(url, json={"n": 2}), 5)]

    live, again = held(tmp_path / "c.json", talk)
    assert live == again == ["cancelled", {"number": 1}]
    (cancelled,) = [r.response for r in recorded(tmp_path / "c.json") if r.response.cancelled]
    assert cancelled.status.code == 599
    assert cancelled.elapsed > 0


def test_equal_calls_of_which_the_first_is_cancelled(tmp_path: Path) -> None:
    """The cancelled twin keeps its place: the other one gets its own answer in replay."""

    async def talk(live: httpx.AsyncClient, url: str) -> list[Any]:
        first = asyncio.create_task(outcome(live.post(url, json={"same": 1}), 0.4))
        await asyncio.sleep(0.1)
        second = await outcome(live.post(url, json={"same": 1}), 5)
        return [await first, second]

    live, again = held(tmp_path / "c.json", talk)
    assert live == again == ["cancelled", {"number": 1}]
    assert sorted(r.response.occurrence for r in recorded(tmp_path / "c.json")) == [0, 1]


def test_a_stream_that_is_cancelled(tmp_path: Path) -> None:
    """A stream cancelled after two pieces replays as these two, and then waits."""

    async def talk(live: httpx.AsyncClient, url: str) -> list[bytes]:
        pieces: list[bytes] = []

        async def read() -> None:
            async with live.stream("GET", url) as response:
                async for piece in response.aiter_raw():
                    pieces.append(piece)

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(read(), 0.4)
        return pieces

    live, again = held(
        tmp_path / "c.json", talk, lambda received: sse_answer([b"one", b"two"], 0.05, hang=True)
    )
    assert live == again == [b"one", b"two"]
    assert recorded(tmp_path / "c.json")[0].response.cancelled


def test_an_answer_that_came_too_late_for_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call cancelled while its answer goes to a slow disk is a cancelled one, in replay too."""
    fsync = os.fsync

    def slow(descriptor: int) -> None:
        time.sleep(0.5)
        fsync(descriptor)

    async def talk(live: httpx.AsyncClient, url: str) -> Any:
        monkeypatch.setattr(os, "fsync", slow)
        first = await outcome(live.post(url, json={"n": 1}), 0.3)
        monkeypatch.setattr(os, "fsync", fsync)
        return [first, await outcome(live.post(url, json={"n": 2}), 5)]

    live, again = held(
        tmp_path / "c.json", talk, lambda received: json_answer({"number": received.number})
    )
    assert live == again == ["cancelled", {"number": 1}]


def test_a_program_that_no_longer_cancels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the replay waits in vain, that is a miss, in words; a sync client gets it at once."""
    path = tmp_path / "c.json"

    async def talk(live: httpx.AsyncClient, url: str) -> Any:
        return url, await outcome(live.post(url, json={"n": 1}), 0.2)

    (url, _), _ = held(path, talk)
    monkeypatch.setattr(streams, "LEAST_PATIENCE", 0.1)

    async def patient() -> None:
        async with async_client(path) as again:
            await again.post(url, json={"n": 1})

    with pytest.raises(Miss, match="the program cancelled this call after"):
        asyncio.run(patient())
    with pytest.raises(Miss, match="cancelled this call"), client(path) as again:
        again.post(url, json={"n": 1})


def test_new_episodes_asks_failures_again(tmp_path: Path) -> None:
    """A 503 that the client was left with is asked again; one that it got past is given again."""
    path, codes = tmp_path / "c.json", [503, 503, 429, 200, 200, 200]

    def answer(received: Received) -> Answer:
        return json_answer({"number": received.number}, codes[received.number])

    def ask(mode: str, url: str, *words: str) -> list[int]:
        with client(path, mode) as live:
            return [live.post(url, json={"word": word}).status_code for word in words]

    with Loopback(answer) as server:
        assert ask("once", server.url, "a", "a", "b", "b") == [503, 503, 429, 200]
        assert ask("none", server.url, "a", "a", "b", "b") == [503, 503, 429, 200]
        assert ask("new_episodes", server.url, "a", "b", "b") == [200, 429, 200]
        assert len(server.received) == 5
    assert ask("none", server.url, "a", "b", "b") == [200, 429, 200]
    assert len(recorded(path)) == 3
