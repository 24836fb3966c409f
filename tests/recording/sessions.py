"""Talks over the recording transport: held live while recording, then replayed without a net."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import httpx
from loopback import Answering, Loopback, Received

from harness.recording import guard
from harness.recording.cassette import load
from harness.recording.interaction import Interaction
from harness.recording.transport import RecordingTransport

T = TypeVar("T")
FACES = ("sync", "async")
Requests = Sequence[httpx.Request]


def client(path: Path, mode: Any = "none", **more: Any) -> httpx.Client:
    """Make a real client over a transport of its own."""
    keys = more.pop("keys", ())
    transport = RecordingTransport(path, mode=mode, keys=keys)
    return httpx.Client(transport=transport, trust_env=False, timeout=5.0, **more)


def async_client(path: Path, mode: Any = "none", **more: Any) -> httpx.AsyncClient:
    """Make the async twin of `client`."""
    keys = more.pop("keys", ())
    transport = RecordingTransport(path, mode=mode, keys=keys)
    return httpx.AsyncClient(transport=transport, trust_env=False, timeout=5.0, **more)


def send(face: str, path: Path, mode: str, requests: Requests, **more: Any) -> list[httpx.Response]:
    """Send requests one after the other over either face; the responses are read and closed."""
    if face == "sync":
        with client(path, mode, **more) as live:
            return [live.send(request) for request in requests]

    async def talk() -> list[httpx.Response]:
        async with async_client(path, mode, **more) as live:
            return [await live.send(request) for request in requests]

    return asyncio.run(talk())


def twice(
    path: Path, answer: Answering, talk: Callable[[str, str], T], mode: str = "once"
) -> tuple[T, T]:
    """Hold `talk(url, mode)` while recording, and again with the server gone and the net closed."""
    with Loopback(answer) as server:
        live = talk(server.url, mode)
    before = guard.attempts()
    with guard.closed():
        again = talk(server.url, "none")
    assert guard.attempts() == before
    return live, again


def asked_twice(
    path: Path,
    answer: Answering,
    make: Callable[[str], Requests],
    face: str = "sync",
    **more: Any,
) -> tuple[list[httpx.Response], list[httpx.Response]]:
    """Send what `make(url)` gives, recorded and replayed over one face."""
    return twice(path, answer, lambda url, mode: send(face, path, mode, make(url), **more))


def recorded(path: Path) -> list[Interaction]:
    """Give what a cassette holds, in its order."""
    return list(load(path))


def unexpected(received: Received) -> Any:
    """Answer nothing: no request is to come."""
    raise AssertionError(f"{received.method} {received.path} reached the server")


def facts(response: httpx.Response) -> tuple[Any, ...]:
    """Give all that a caller can see of a response, except its clock."""
    return (
        response.status_code,
        response.reason_phrase,
        response.http_version,
        response.headers.raw,
        response.content,
        response.text,
        str(response.url),
    )
