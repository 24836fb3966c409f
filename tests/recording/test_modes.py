"""The modes none, once, new_episodes and all; what stops a client for good; what close does."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer
from recording.sessions import async_client, client, recorded
from study_folder import PACKAGE

from harness.errors import Incomplete, KeyInRequest, Miss, UsageError
from harness.recording.recorder import Recorder
from harness.recording.transport import RecordingTransport

KEY = "sk-modes-0123456789"


def number(received: Received) -> Answer:
    """Answer with the number of the request."""
    return json_answer({"number": received.number})


def ask(path: Path, url: str, mode: str, *words: str, **more: Any) -> list[int]:
    """Ask for some words and give the numbers that came back."""
    with client(path, mode, **more) as live:
        return [live.post(url, json={"word": word}).json()["number"] for word in words]


def test_none_needs_a_recording(tmp_path: Path) -> None:
    """Replay without a cassette says that nothing is recorded and creates nothing."""
    with pytest.raises(UsageError, match="nothing is recorded here"):
        client(tmp_path / "sub" / "c.json")
    assert list(tmp_path.iterdir()) == []


def test_unknown_mode(tmp_path: Path) -> None:
    """A mode that vcrpy does not know either is refused by name."""
    with pytest.raises(UsageError, match="'any' is unknown"):
        client(tmp_path / "c.json", "any")


def test_once_records_and_then_replays_only(tmp_path: Path) -> None:
    """Mode once records where there is no file; with a file it never sends."""
    path = tmp_path / "new folder" / "c.json"
    with Loopback(number) as server:
        assert ask(path, server.url, "once", "a", "b") == [0, 1]
        assert ask(path, server.url, "once", "a", "b") == [0, 1]
        with pytest.raises(Miss, match="not recorded"):
            ask(path, server.url, "once", "c")
        assert len(server.received) == 2
    assert {entry.name for entry in path.parent.iterdir()} == {"c.json"}


def test_new_episodes_sends_what_is_missing(tmp_path: Path) -> None:
    """Mode new_episodes gives what is recorded and adds the rest."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, server.url, "new_episodes", "a")
        assert ask(path, server.url, "new_episodes", "a", "b", "a") == [0, 1, 2]
        assert len(server.received) == 3
    assert ask(path, server.url, "none", "a", "a", "b") == [0, 2, 1]


def test_all_records_anew(tmp_path: Path) -> None:
    """Mode all sends everything and replaces what was recorded."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, server.url, "all", "a", "b")
        assert ask(path, server.url, "all", "a") == [2]
    assert len(recorded(path)) == 1
    assert ask(path, server.url, "none", "a") == [2]


def test_all_that_was_stopped_keeps_the_old_file(tmp_path: Path) -> None:
    """A new recording that stops at its first request does not replace the old one."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, server.url, "once", "a", "b")
        before = path.read_bytes()
        with pytest.raises(KeyInRequest):
            ask(path, server.url, "all", "a", KEY, keys=[KEY])
    assert path.read_bytes() == before


DIES = """
import httpx, os, sys
from harness.recording.transport import RecordingTransport
client = httpx.Client(transport=RecordingTransport(sys.argv[1], mode="once"), trust_env=False)
client.post(sys.argv[2], json={"word": "a"})
os._exit(1)
"""


def test_crash_and_resume(tmp_path: Path) -> None:
    """What came before a crash is not paid for again, in mode once and new_episodes."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        subprocess.run([sys.executable, "-c", DIES, str(path), server.url], cwd=PACKAGE)
        with pytest.raises(UsageError, match="was not finished"):
            client(path)
        assert ask(path, server.url, "once", "a", "b") == [0, 1]
        assert len(server.received) == 2
    assert len(recorded(path)) == 2


def test_drift_on_resume(tmp_path: Path) -> None:
    """A named call that asks something else than before the interruption stops as drift."""
    path = tmp_path / "c.json"
    call = {"call": "turn-1/subject"}
    with Loopback(number) as server:
        with client(path, "once") as live:
            live.post(server.url, json={"word": "a"}, extensions=call)
        with pytest.raises(Miss, match="drift"), client(path, "new_episodes") as live:
            live.post(server.url, json={"word": "b"}, extensions=call)
        assert len(server.received) == 1
    assert recorded(path)[0].request.body == '{"word":"a"}'


def test_other_materials_are_refused(tmp_path: Path) -> None:
    """A journal that was begun under another identity is not gone on with, nor harmed."""
    path = tmp_path / "c.json"
    Recorder(path, "once", identity="one").release()
    before = path.with_suffix(".journal").read_bytes()
    with pytest.raises(UsageError, match=r"then one, now two"):
        Recorder(path, "once", identity="two")
    assert path.with_suffix(".journal").read_bytes() == before
    Recorder(path, "once", identity="two", restart=True).release()


def test_second_recorder_is_told_who_records(tmp_path: Path) -> None:
    """Two recorders on one cassette: the second is refused; a reader is not."""
    path = tmp_path / "c.json"
    first = Recorder(path, "new_episodes")
    with pytest.raises(Incomplete, match="is recording this now"):
        Recorder(path, "new_episodes")
    first.save()
    Recorder(path).release()
    first.release()
    Recorder(path, "new_episodes").release()


def test_miss_latches(tmp_path: Path) -> None:
    """After a miss every call, even one that is recorded, and close raise the same words anew."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, server.url, "once", "a", "b")
    again = client(path)
    misses = []
    for word in ("c", "a", "d"):
        with pytest.raises(Miss) as stopped:
            again.post(server.url, json={"word": word})
        misses.append(stopped.value)
    with pytest.raises(Miss) as stopped:
        again.close()
    assert {str(miss) for miss in [*misses, stopped.value]} == {str(misses[0])}


def test_a_latched_miss_does_not_grow(tmp_path: Path) -> None:
    """The thousandth raise of a miss has no longer a traceback than the second."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, server.url, "once", "a")
    again, lengths = client(path), set()
    for _ in range(1000):
        with pytest.raises(Miss) as stopped:
            again.post(server.url, json={"word": "z"})
        lengths.add(len(list(traceback.walk_tb(stopped.value.__traceback__))))
    assert len(lengths) <= 2


def test_async_close_reports_too(tmp_path: Path) -> None:
    """An async client's end raises the miss that someone swallowed."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, server.url, "once", "a")

    async def swallow() -> str:
        async with async_client(path) as again:
            try:
                await again.post(server.url, json={"word": "z"})
            except BaseException:
                return "swallowed"
        return "not reached"

    with pytest.raises(Miss, match="not recorded"):
        asyncio.run(swallow())


def test_close_reports_inside_an_except_clause(tmp_path: Path) -> None:
    """A miss is reported at close also where another error is being handled around it."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, server.url, "once", "a")

    def swallow() -> None:
        with client(path) as again:
            with pytest.raises(Miss):
                again.post(server.url, json={"word": "z"})

    try:
        raise ValueError("handled around")
    except ValueError:
        with pytest.raises(Miss):
            swallow()


def test_retries_of_an_sdk_cannot_swallow_a_miss(tmp_path: Path) -> None:
    """A client library that retries on every Exception stops at the first try."""
    path, tries = tmp_path / "c.json", []
    with Loopback(number) as server:
        ask(path, server.url, "once", "a")

    def insist() -> None:
        with client(path) as again:
            for attempt in range(3):
                tries.append(attempt)
                with contextlib.suppress(Exception):
                    again.post(server.url, json={"word": "z"})

    with pytest.raises(Miss):
        insist()
    assert tries == [0]


def test_another_error_is_not_replaced_by_the_miss(tmp_path: Path) -> None:
    """An error that leaves the `with` block is what the caller sees."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        ask(path, server.url, "once", "a")

    def fail() -> None:
        with client(path) as again:
            with pytest.raises(Miss):
                again.post(server.url, json={"word": "z"})
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()


def test_a_closed_transport_goes_on(tmp_path: Path) -> None:
    """What is asked after a client's end is recorded into the same cassette, and replays."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: Any) -> list[int]:
        transport, numbers = RecordingTransport(path, mode=mode), []
        for word in ("a", "b", "a"):
            with httpx.Client(transport=transport, trust_env=False) as live:
                numbers.append(live.post(url, json={"word": word}).json()["number"])
        return numbers

    with Loopback(number) as server:
        assert talk(server.url, "once") == [0, 1, 2]
    assert len(recorded(path)) == 3
    assert talk(server.url, "none") == [0, 1, 2]


def test_dots_in_names_do_not_mix(tmp_path: Path) -> None:
    """Cassettes whose names differ after a dot don't share a journal or a lock."""
    with Loopback(number) as server:
        first, second = client(tmp_path / "gpt-4.1", "once"), client(tmp_path / "gpt-4.2", "once")
        first.post(server.url, json={"word": "a"})
        second.post(server.url, json={"word": "b"})
        first.close()
        second.close()
    assert [len(recorded(tmp_path / f"gpt-4.{n}")) for n in (1, 2)] == [1, 1]


def test_place_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that cannot be made is a clear error before any request."""
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UsageError, match="cannot be written"):
        client(tmp_path / "file" / "c.json", "once")
