"""One cassette for several clients, and what is left when a program ends without closing one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer
from recording.sessions import client, recorded, twice
from study_folder import PACKAGE

from harness.errors import Incomplete
from harness.recording.transport import RecordingTransport


def number(received: Received) -> Answer:
    """Answer with the number of the request."""
    return json_answer({"number": received.number})


def test_one_transport_for_both_kinds_of_client(tmp_path: Path) -> None:
    """A sync and an async client over one transport record one cassette, and replay it."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: Any) -> list[int]:
        transport = RecordingTransport(path, mode=mode)
        live = httpx.Client(transport=transport, trust_env=False)
        numbers = [live.post(url, json={"same": 1}).json()["number"]]

        async def ask() -> int:
            async with httpx.AsyncClient(transport=transport, trust_env=False) as other:
                return int((await other.post(url, json={"same": 1})).json()["number"])

        numbers.append(asyncio.run(ask()))
        numbers.append(live.post(url, json={"same": 1}).json()["number"])
        live.close()
        return numbers

    live, again = twice(path, number, talk)
    assert live == again == [0, 1, 2]
    assert len(recorded(path)) == 3
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.json"]


def test_two_transports_share_a_cassette(tmp_path: Path) -> None:
    """Two transports on one file count equal requests together, recorded and replayed."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: Any) -> list[int]:
        with client(path, mode) as first, client(path, mode) as second:
            return [
                live.post(url, json={"same": 1}).json()["number"] for live in (first, second, first)
            ]

    live, again = twice(path, number, talk)
    assert live == again == [0, 1, 2]


def test_two_modes_on_one_cassette(tmp_path: Path) -> None:
    """A second transport in another recording mode is refused: who records decides."""
    with client(tmp_path / "c.json", "once") as live:
        with pytest.raises(Incomplete, match="is recording this now"):
            client(tmp_path / "c.json", "all")
        with Loopback(number) as server:
            live.post(server.url)


def test_an_inner_transport_of_the_wrong_kind(tmp_path: Path) -> None:
    """A sync inner transport under an async client is refused in words."""
    transport = RecordingTransport(tmp_path / "c.json", mode="once", inner=httpx.HTTPTransport())

    async def ask() -> None:
        async with httpx.AsyncClient(transport=transport) as live:
            await live.get("http://127.0.0.1:1")

    with pytest.raises(Exception, match="has no handle_async_request"):
        asyncio.run(ask())


def test_a_recording_of_nothing_warns(tmp_path: Path) -> None:
    """A client that never asked leaves a warning with its empty cassette."""
    live = client(tmp_path / "c.json", "once")
    with pytest.warns(UserWarning, match="0 calls went through this transport"):
        live.close()


PROGRAM = """
import asyncio, httpx, sys, threading
from harness.recording.transport import RecordingTransport
path, url, mode, how, word = sys.argv[1:]
transport = RecordingTransport(path, mode=mode)
client = httpx.Client(transport=transport, trust_env=False)

def ask():
    print(client.post(url, json={"word": word}).json())

async def gathered():
    async with httpx.AsyncClient(transport=transport, trust_env=False) as live:
        return await asyncio.gather(live.post(url, json={"word": word}), return_exceptions=True)

if how == "plain":
    ask()
elif how == "swallowed":
    try:
        ask()
    except BaseException:
        pass
elif how == "thread":
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
elif how == "reported":
    try:
        ask()
    except BaseException:
        pass
    try:
        transport.close()
    except BaseException as error:
        print("heard", error)
print("went on")
"""


def run(path: Path, url: str, mode: str, how: str, word: str) -> Any:
    """Run a program that never closes its client."""
    command = [sys.executable, "-c", PROGRAM, str(path), url, mode, how, word]
    return subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True)


def test_a_program_that_closes_nothing_leaves_a_cassette(tmp_path: Path) -> None:
    """The cassette is written when the program ends, and replays."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        done = run(path, server.url, "once", "plain", "a")
    assert (done.returncode, done.stderr) == (0, "")
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.json"]
    again = run(path, server.url, "none", "plain", "a")
    assert again.stdout == done.stdout


@pytest.mark.parametrize("how", ["swallowed", "thread"])
def test_a_stop_that_nobody_reported(tmp_path: Path, how: str) -> None:
    """A miss that the program swallows is printed at its end, and the exit code is 1."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        run(path, server.url, "once", "plain", "a")
    done = run(path, server.url, "none", how, "b")
    assert done.stdout == "went on\n"
    assert "the program went on after this stop" in done.stderr
    assert "not recorded. Nothing was sent" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("how", ["reported", "plain"])
def test_a_stop_that_was_reported_is_not_printed_again(tmp_path: Path, how: str) -> None:
    """Where close raised it, or the program ended with it, nothing is added."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        run(path, server.url, "once", "plain", "a")
    done = run(path, server.url, "none", how, "b")
    assert "the program went on" not in done.stderr
    assert done.returncode == (0 if how == "reported" else 1)


def test_a_client_that_is_let_go_of(tmp_path: Path) -> None:
    """A client that nobody closes and nobody keeps writes its cassette at once."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        client(path, "once").post(server.url)
    assert len(recorded(path)) == 1
