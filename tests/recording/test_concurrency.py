"""Many calls at once: each gets its own answer back, and the file does not show the rush."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer
from recording.sessions import async_client, client, recorded, twice

from harness.recording.cassette import masked

DELAYS = (0.3, 0.05, 0.05)


def echo(received: Received) -> Answer:
    """Answer with the request, later ones sooner."""
    asked = received.json()
    time.sleep(0.02 if asked.get("n", 0) % 2 else 0.0)
    return json_answer({"echo": asked}, headers=[("Date", f"day {received.number}")])


def test_equal_concurrent_requests(tmp_path: Path) -> None:
    """Three equal async requests with unequal delays each get in replay what they got live."""
    path = tmp_path / "c.json"

    def slow(received: Received) -> Answer:
        time.sleep(DELAYS[received.number])
        return json_answer({"number": received.number})

    async def ask(live: httpx.AsyncClient, url: str) -> list[int]:
        tasks = []
        for _ in DELAYS:
            tasks.append(asyncio.create_task(live.post(url, json={"same": 1})))
            await asyncio.sleep(0.01)  # so that the requests are made in this order
        return [response.json()["number"] for response in await asyncio.gather(*tasks)]

    def talk(url: str, mode: str) -> list[int]:
        async def run() -> list[int]:
            async with async_client(path, mode) as live:
                return await ask(live, url)

        return asyncio.run(run())

    live, again = twice(path, slow, talk)
    assert live == again
    assert sorted(live) == [0, 1, 2]


def test_named_calls_in_threads(tmp_path: Path) -> None:
    """Equal requests under different names get the answer of their name, in any order."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: str) -> dict[str, int]:
        names = [f"turn-{n}/subject" for n in range(12)]
        if mode == "none":
            names.reverse()

        def ask(name: str) -> int:
            response = live.post(url, json={"same": 1}, extensions={"call": name})
            number: int = response.json()["number"]
            return number

        with client(path, mode) as live, ThreadPoolExecutor(6) as pool:
            return dict(zip(names, pool.map(ask, names), strict=True))

    live, again = twice(path, lambda received: json_answer({"number": received.number}), talk)
    assert live == again
    assert sorted(again.values()) == list(range(12))


@pytest.mark.parametrize("named", [True, False])
def test_same_bytes_from_fifty_at_once(tmp_path: Path, named: bool) -> None:
    """Fifty concurrent calls recorded twice give the same bytes but for the clock."""

    async def record(path: Path, url: str) -> None:
        async with async_client(path, "once") as live:
            names = [f"call-{n:02}" if named else None for n in range(50)]
            await asyncio.gather(
                *(
                    live.post(url, json={"n": n}, extensions={"call": name})
                    for n, name in enumerate(names)
                )
            )

    paths = [tmp_path / "one.json", tmp_path / "two.json"]
    with Loopback(echo) as server:
        for path in paths:
            asyncio.run(record(path, server.url))
    one, two = (masked(path.read_bytes()) for path in paths)
    assert len(recorded(paths[0])) == 50
    assert one == two
    assert json.loads(one)["interactions"][0]["response"]["headers"]["Date"] == [""]


def test_eight_threads_lose_nothing(tmp_path: Path) -> None:
    """Eight threads of a hundred requests each make 800 interactions that replay."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: str) -> int:
        def ask(n: int) -> bool:
            return bool(live.post(url, json={"n": n}).json() == {"echo": {"n": n}})

        with client(path, mode) as live, ThreadPoolExecutor(8) as pool:
            return sum(pool.map(ask, range(800)))

    def answer(received: Received) -> Answer:
        return json_answer({"echo": received.json()})

    live, again = twice(path, answer, talk)
    assert live == again == len(recorded(path)) == 800


def test_sync_client_in_a_running_loop(tmp_path: Path) -> None:
    """A sync client inside a running event loop records and replays."""
    path = tmp_path / "c.json"

    async def run(url: str, mode: str) -> bytes:
        with client(path, mode) as live:
            return live.post(url, json={"n": 1}).content

    live, again = twice(path, echo, lambda url, mode: asyncio.run(run(url, mode)))
    assert live == again == b'{"echo": {"n": 1}}'
