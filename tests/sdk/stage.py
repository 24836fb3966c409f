"""The official SDKs before a recording transport, whichever HTTP library they stand on.

A program is a coroutine function of an SDK's client. The same one serves both faces: on a sync
client nothing in it ever waits, so it runs without an event loop. It is recorded against a
loopback server, then replayed when that is gone and the network is closed.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

from loopback import Answer, Loopback, Received

from harness.recording import cassette, guard
from harness.recording.interaction import Interaction
from harness.recording.recorder import Mode
from harness.recording.transport import RecordingTransport

CANARY = "sk-canary-7f3a9c51e2d84b60"
OTHER_KEY = "sk-another-0c4e8a6b2d9f1357"
PROMPT = "What is a measure?"
CHANGED = "What is a metric?"
Program = Callable[[Any], Coroutine[Any, Any, Any]]
Face = Literal["sync", "async"]
Answering = Callable[[Received], Answer]


class Sdk(NamedTuple):
    """An SDK, its two clients, and the path of its base URL."""

    module: ModuleType
    sync: Any
    asynchronous: Any
    base: str

    @property
    def library(self) -> ModuleType:
        """Give the HTTP library whose client the SDK makes by itself: httpx or httpx2."""
        made_of = self.module.DefaultHttpxClient.__mro__[1]
        return sys.modules[made_of.__module__.partition(".")[0]]


class Outcome(NamedTuple):
    """What a stream gave, and the error it ended in."""

    items: list[Any]
    error: type[Exception] | None = None
    message: str = ""


async def settled(value: Any) -> Any:
    """Wait for what an async client gives; what a sync one gives is there."""
    return await value if inspect.isawaitable(value) else value


async def entered(manager: Any) -> Any:
    """Enter a context of either client."""
    enter = getattr(manager, "__aenter__", None) or manager.__enter__
    return await settled(enter())


async def first(stream: Any) -> Any:
    """Give a stream's first item, and leave its loop."""
    if not hasattr(stream, "__aiter__"):
        for item in stream:
            return item
    async for item in stream:
        return item
    raise AssertionError("an empty stream")


async def read_out(stream: Any) -> Outcome:
    """Read a stream to its end, be it an error."""
    items: list[Any] = []
    try:
        if not hasattr(stream, "__aiter__"):
            for item in stream:
                items.append(item)
            return Outcome(items)
        async for item in stream:
            items.append(item)
    except Exception as error:
        return Outcome(items, type(error), str(error))
    return Outcome(items)


class Watched(RecordingTransport):
    """Note of each request that reaches the transport from which library it comes."""

    def __init__(self, path: Path, mode: Mode, seen: list[str]) -> None:
        super().__init__(path, mode=mode)
        self._seen = seen

    def handle_request(self, request: Any) -> Any:
        """Note and answer a request."""
        self._seen.append(type(request).__module__.partition(".")[0])
        return super().handle_request(request)

    async def handle_async_request(self, request: Any) -> Any:
        """Note and answer an async client's request."""
        self._seen.append(type(request).__module__.partition(".")[0])
        return await super().handle_async_request(request)


class Stage:
    """One cassette, and the programs that are run before it.

    `seen` names the library of each request of the last run.
    """

    def __init__(self, sdk: Sdk, face: Face, folder: Path) -> None:
        self._sdk, self._face, self._folder = sdk, face, folder
        self.path = folder / "cassettes" / "sdk" / "cell.json"
        self.url = ""
        self.seen: list[str] = []

    def record(self, program: Program, answer: Answering) -> Any:
        """Run a program against a server, and check that the key is stored nowhere."""
        with Loopback(answer) as server:
            self.url = server.url + self._sdk.base
            result = self._run(program, "once", api_key=CANARY)
        assert len(server.received) == len(self.seen) > 0
        assert CANARY in str(server.received[0].headers)
        assert self.leaks() == []
        return result

    def replay(self, program: Program, **options: Any) -> Any:
        """Run a program without a server, a network and the key; options are the client's."""
        before = guard.attempts()
        try:
            with guard.closed():
                return self._run(program, "none", **{"api_key": OTHER_KEY, **options})
        finally:
            assert guard.attempts() == before

    def both(self, program: Program, answer: Answering) -> tuple[Any, Any]:
        """Record a program and replay it, with as many requests."""
        live, asked = self.record(program, answer), self.seen
        replayed = self.replay(program)
        assert self.seen == asked
        return live, replayed

    def recorded(self) -> list[Interaction]:
        """Read the cassette."""
        return list(cassette.load(self.path))

    def leaks(self) -> list[Path]:
        """Name the files that hold the key."""
        files = [path for path in self._folder.rglob("*") if path.is_file()]
        return [path for path in files if CANARY.encode() in path.read_bytes()]

    def run_alone(self, prompt: str) -> subprocess.CompletedProcess[str]:
        """Replay program.py in a Python of its own."""
        program = Path(__file__).parent / "program.py"
        words = [self._sdk.module.__name__, self._sdk.library.__name__, self._face]
        return subprocess.run(
            [sys.executable, program, *words, self.path, self.url, prompt],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": str(Path(guard.__file__).parents[2])},
        )

    def _run(self, program: Program, mode: Mode, **options: Any) -> Any:
        self.seen = []
        wanted = {"base_url": self.url, "timeout": 10.0, **options}
        transport = Watched(self.path, mode, self.seen)
        try:
            if self._face == "async":
                return asyncio.run(self._run_async(program, transport, wanted))
            return self._run_sync(program, transport, wanted)
        finally:
            assert set(self.seen) <= {self._sdk.library.__name__}

    def _run_sync(self, program: Program, transport: Watched, wanted: Any) -> Any:
        http = self._sdk.library.Client(transport=transport)
        with self._sdk.sync(http_client=http, **wanted) as client:
            try:
                program(client).send(None)
            except StopIteration as end:
                return end.value
            raise AssertionError("a sync client's program waited")

    async def _run_async(self, program: Program, transport: Watched, wanted: Any) -> Any:
        http = self._sdk.library.AsyncClient(transport=transport)
        async with self._sdk.asynchronous(http_client=http, **wanted) as client:
            return await program(client)


def in_turn(answers: Iterable[Answer], rest: Answering) -> Answering:
    """Give these answers first, one a request, then those of another function."""
    queue: Iterator[Answer | None] = chain(answers, repeat(None))
    return lambda received: next(queue) or rest(received)


def shortened(whole: Answering, count: int, *, cut: bool = False, hang: bool = False) -> Answering:
    """Give a stream's first events, 20 ms apart, and then `cut` or `hang`."""

    def answer(received: Received) -> Answer:
        events = list(whole(received).chunks or [])[:count]
        apart: list[bytes | float] = [piece for event in events for piece in (event, 0.02)]
        return replace(whole(received), chunks=apart, cut=cut, hang=hang)

    return answer
