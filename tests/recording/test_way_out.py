"""The client's own way to the network: limits, proxies, and what goes past the recording."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from loopback import Answer, Loopback, Received, json_answer
from recording.sessions import client, recorded
from study_folder import PACKAGE

import harness
from harness.cli import main
from harness.errors import Blocked, UsageError
from harness.recording.transport import RecordingTransport


def number(received: Received) -> Answer:
    """Answer with the number of the request."""
    return json_answer({"number": received.number})


def slow(received: Received) -> Answer:
    """Answer in pieces, the second after a while."""
    return Answer(chunks=[b"a", 0.4, b"b"])


async def statuses(transport: RecordingTransport, url: str, count: int) -> list[str]:
    """Ask many times at once, with little patience for a connection."""
    waits = httpx.Timeout(20, pool=0.2)
    async with httpx.AsyncClient(transport=transport, trust_env=False, timeout=waits) as live:

        async def ask(n: int) -> str:
            try:
                return str((await live.post(url, json={"n": n})).status_code)
            except httpx.PoolTimeout:
                return "PoolTimeout"

        return await asyncio.gather(*(ask(n) for n in range(count)))


def test_more_calls_than_a_pool_of_a_hundred(tmp_path: Path) -> None:
    """120 calls at once that each take longer than a client waits for a connection all arrive."""
    with Loopback(slow) as server:
        transport = RecordingTransport(tmp_path / "c.json", mode="once")
        assert asyncio.run(statuses(transport, server.url, 120)) == ["200"] * 120


def test_limits_reach_the_network_by_for_client(tmp_path: Path) -> None:
    """A pool of one connection is that of for_client, and a full pool is explained."""
    limits = httpx.Limits(max_connections=1)
    with Loopback(slow) as server:
        transport = RecordingTransport.for_client(tmp_path / "c.json", mode="once", limits=limits)
        with pytest.warns(UserWarning, match="all 1 connections of the recording transport"):
            outcomes = asyncio.run(statuses(transport, server.url, 2))
    assert sorted(outcomes) == ["200", "PoolTimeout"]


def test_options_that_do_not_shape_connections(tmp_path: Path) -> None:
    """An option of the client itself is refused by name."""
    with pytest.raises(UsageError, match="'headers' does not shape connections"):
        RecordingTransport.for_client(tmp_path / "c.json", mode="once", headers={})


@pytest.mark.parametrize("how", ["environment", "for_client"])
def test_proxies_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """A proxy of the environment, or one that is given, gets the recorded requests."""
    with Loopback(number) as proxy:
        if how == "environment":
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            transport = RecordingTransport(tmp_path / "c.json", mode="once")
        else:
            transport = RecordingTransport.for_client(
                tmp_path / "c.json", mode="once", proxy=proxy.url
            )
        with httpx.Client(transport=transport) as live:
            assert live.get("http://nowhere.example/a").json() == {"number": 0}
        assert proxy.received[0].path == "http://nowhere.example/a"
    assert recorded(tmp_path / "c.json")[0].request.uri == "http://nowhere.example/a"


KINDS = [
    "application/json",
    "application/x-jsonl",
    "audio/mpeg",
    "application/vnd.amazon.eventstream",
    "text/plain",
    "application/json-seq",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_passes_live(tmp_path: Path, kind: str) -> None:
    """The first piece is there while the server still holds the second back, whatever the type."""
    path, seen = tmp_path / "c.json", []

    def answer(received: Received) -> Answer:
        return Answer(headers=[("Content-Type", kind)], chunks=[b"first"], hang=True)

    with Loopback(answer) as server, client(path, "once") as live:
        with live.stream("GET", server.url) as response:
            for piece in response.iter_raw():
                seen.append(piece)
                break
    assert seen == [b"first"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_came_before_a_cut_is_there(tmp_path: Path, kind: str) -> None:
    """Behind a cut the program has the bytes that it would have without us, in replay too."""
    path = tmp_path / "c.json"

    def read(url: str, mode: str) -> tuple[bytes, str]:
        seen = b""
        with client(path, mode) as live:
            try:
                with live.stream("GET", url) as response:
                    for piece in response.iter_raw():
                        seen += piece
            except httpx.HTTPError as error:
                return seen, type(error).__name__
        return seen, ""

    def answer(received: Received) -> Answer:
        return Answer(headers=[("Content-Type", kind)], body=b"sixteen bytes ..", cut=True)

    with Loopback(answer) as server:
        live = read(server.url, "once")
    assert live == read(server.url, "none") == (b"sixteen bytes ..", "RemoteProtocolError")


def test_a_word_as_a_key(tmp_path: Path) -> None:
    """A usual dummy in the place of a key may stand in prompts and in answers."""
    path = tmp_path / "c.json"
    for word in ("anything", "lm-studio", "not-needed", "EMPTY"):
        text = f"Is there {word} in it?"
        with Loopback(lambda received: json_answer(received.json())) as server:
            with client(path, "all", headers={"Authorization": f"Bearer {word}"}) as live:
                assert live.post(server.url, json={"prompt": text}).json() == {"prompt": text}
        assert text in path.read_text()


def test_the_first_replacement_warns(tmp_path: Path) -> None:
    """A key that an answer repeats is taken out, and a warning says so once."""
    key = "sk-0123456789abcdef"
    with Loopback(lambda received: json_answer(key)) as server:
        with client(tmp_path / "c.json", "once", headers={"x-api-key": key}) as live:
            with pytest.warns(UserWarning, match="a key stood in an answer"):
                assert live.get(server.url).json() == "[REDACTED]"
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                live.get(server.url)


def test_offline_refuses_what_goes_past(tmp_path: Path) -> None:
    """A client without the transport is refused, one with it records; afterwards both may."""
    with Loopback(number) as server:
        with harness.offline() as bypass:
            with client(tmp_path / "c.json", "once") as live:
                assert live.get(server.url).json() == {"number": 0}
            with pytest.raises(Blocked, match=r"127\.0\.0\.1"):
                httpx.get(server.url, trust_env=False)
        assert bypass.connections == ["127.0.0.1"]
        assert httpx.get(server.url, trust_env=False).status_code == 200


def test_watch_counts_what_goes_past(tmp_path: Path) -> None:
    """Connections beside the transport are counted and warned of; its own are not."""
    with Loopback(number) as server:
        with pytest.warns(UserWarning, match="1 connections went past the recording transport"):
            assert watch_both(tmp_path / "c.json", server) == [f"127.0.0.1:{server.port}"]


def watch_both(path: Path, server: Loopback) -> list[str]:
    """Ask through the transport and past it, and return what was counted."""
    with harness.watch() as bypass, client(path, "once") as live:
        live.get(server.url)
        socket.create_connection(("127.0.0.1", server.port)).close()
    return list(bypass.connections)


def test_async_connections_of_the_transport_are_its_own(tmp_path: Path) -> None:
    """An event loop that looks names up in other threads is not mistaken for a bypass."""

    async def talk(url: str) -> Any:
        transport = RecordingTransport(tmp_path / "c.json", mode="once")
        async with httpx.AsyncClient(transport=transport, trust_env=False) as live:
            return (await live.get(url)).json()

    with Loopback(number) as server, harness.offline() as bypass:
        url = f"http://localhost:{server.port}/"
        assert asyncio.run(talk(url)) == {"number": 0}
    assert bypass.connections == []


DIES = """
import httpx, os, sys
from harness import RecordingTransport
client = httpx.Client(transport=RecordingTransport(sys.argv[1], mode="once"), trust_env=False)
client.get(sys.argv[2])
os._exit(1)
"""


def test_finish_makes_a_cassette_of_a_journal(tmp_path: Path) -> None:
    """What a killed program left becomes a cassette without a call; twice is a clear error."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        subprocess.run([sys.executable, "-c", DIES, str(path), server.url], cwd=PACKAGE)
    done = CliRunner().invoke(main, ["finish", str(path)])
    assert (done.exit_code, done.output) == (0, f"{path}: 1 calls\n")
    with client(path) as again:
        assert again.get(server.url).json() == {"number": 0}
    assert "there is no journal" in CliRunner().invoke(main, ["finish", str(path)]).output
