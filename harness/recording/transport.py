"""The only way to the network: an httpx transport that records, and replays without a network.

It serves sync and async clients, of httpx and of its fork httpx2, and patches nothing. A request's
library is told from its class; both libraries name their parts alike.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec

from harness.errors import Miss
from harness.recording.exchange import Exchange, Reply, recorded_reply
from harness.recording.interaction import Attempt, Failure, Interaction, decoded, header, is_stream
from harness.recording.recorder import Mode, Pending, Recorder
from harness.recording.redaction import KeyRing


class RecordingTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Wrap a transport; record what passes through it into one cassette, or replay it from there.

    cassette: the file, or a Recorder that is already open. mode: vcrpy's words: "none" replays
    and never sends (the default), "once" records where there is no file yet, "new_episodes" sends
    what is not recorded, "all" records everything anew. inner: the transport to the network, by
    default one of the client's own library. keys: values that must appear nowhere in the file;
    those in the headers made for keys are known without it.

    Use it as `httpx.Client(transport=RecordingTransport("cassette.json"))`, and in every SDK that
    takes such a client. A request may carry `extensions={"call": name, "optional": bool}`. Close
    the client (or use `with`): that writes the cassette; what came before a crash is in a journal
    beside it, and mode "new_episodes" goes on from there.

    Raises Miss (no Exception: SDKs would try again) where a request is not what was recorded.
    """

    def __init__(
        self,
        cassette: str | Path | Recorder,
        *,
        mode: Mode = "none",
        inner: Any = None,
        keys: Iterable[str] = (),
    ) -> None:
        self.recorder = (
            cassette
            if isinstance(cassette, Recorder)
            else Recorder(Path(cassette), mode, keys=KeyRing(keys))
        )
        self._owned = not isinstance(cassette, Recorder)
        self._inner = inner

    def handle_request(self, request: Any) -> Any:
        """Answer one request from the recording, or send it and keep the answer."""
        library = _library(request)
        found = self.recorder.begin(_exchange(request, request.read()))
        if isinstance(found, Interaction):
            return _replayed(library, request, found)
        try:
            response = self._transport(library.HTTPTransport).handle_request(request)
        except library.TransportError as error:
            _keep_error(found, error)
            raise
        if is_stream(_pairs(response)):
            return _live(library, response, found)
        try:
            body = b"".join(response.stream)
        except library.TransportError as error:
            _keep_error(found, error)
            raise
        finally:
            response.close()
        return _answer(library, found.finish(_whole_reply(response, body)))

    async def handle_async_request(self, request: Any) -> Any:
        """Do the same for an async client."""
        library = _library(request)
        found = self.recorder.begin(_exchange(request, await request.aread()))
        if isinstance(found, Interaction):
            return _replayed(library, request, found)
        try:
            inner = self._transport(library.AsyncHTTPTransport)
            response = await inner.handle_async_request(request)
        except library.TransportError as error:
            _keep_error(found, error)
            raise
        if is_stream(_pairs(response)):
            return _live(library, response, found)
        try:
            body = b"".join([piece async for piece in response.stream])
        except library.TransportError as error:
            _keep_error(found, error)
            raise
        finally:
            await response.aclose()
        return _answer(library, found.finish(_whole_reply(response, body)))

    def _transport(self, default: Any) -> Any:
        if self._inner is None:
            self._inner = default()
        return self._inner

    def check(self) -> None:
        """Raise the first miss again, or a Miss naming a recorded call that nobody asked for."""
        self.recorder.check()

    def close(self) -> None:
        """Write the cassette, where something was recorded; raise the first miss again."""
        if hasattr(self._inner, "close"):
            self._inner.close()
        self._finish()

    async def aclose(self) -> None:
        """Do the same for an async client."""
        if hasattr(self._inner, "aclose"):
            await self._inner.aclose()
        self._finish()

    def _finish(self) -> None:
        if self._owned:
            self.recorder.save()
            self.recorder.release()
        if self.recorder.stopped is not None and sys.exc_info()[1] is None:
            raise self.recorder.stopped


def _library(request: Any) -> Any:
    return sys.modules[type(request).__module__.partition(".")[0]]


def _exchange(request: Any, body: bytes) -> Exchange:
    extensions = request.extensions
    return Exchange(
        request.method,
        str(request.url),
        request.headers.raw,
        body,
        extensions.get("call"),
        extensions.get("optional", False),
        extensions.get("endpoint", "model"),
    )


def _pairs(response: Any) -> list[tuple[str, str]]:
    return [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw
    ]


def _head(response: Any) -> Reply:
    extensions = response.extensions
    version = extensions.get("http_version", b"HTTP/1.1").decode("ascii", "replace")
    return Reply(
        response.status_code,
        response.reason_phrase,
        version,
        _pairs(response),
        b"",
        _attempts(extensions.get("attempts", [])),
    )


def _attempts(tries: Any) -> list[Attempt]:
    return msgspec.convert(tries, list[Attempt])


def _whole_reply(response: Any, body: bytes) -> Reply:
    """Give an answer with its body decoded; an encoding nobody knows stays with its bytes."""
    head = _head(response)
    encodings = header(head.headers, "content-encoding")
    plain = decoded(encodings, body) if encodings and body else None
    if plain is None:
        return head._replace(body=body)
    return head._replace(body=plain, headers=_without_encoding(head.headers))


def _without_encoding(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for pair in pairs if pair[0].lower() not in ("content-encoding", "content-length")]


def _keep_error(pending: Pending, error: Any) -> None:
    pending.fail(type(error).__name__, str(error), _attempts(getattr(error, "attempts", [])))


def _answer(library: Any, reply: Reply, stream: Any = None) -> Any:
    return library.Response(
        reply.status,
        headers=[
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers
        ],
        stream=stream or library.ByteStream(reply.body),
        extensions={
            "http_version": reply.http_version.encode(),
            "reason_phrase": reply.reason.encode("ascii", "replace"),
            "attempts": reply.attempts,
        },
    )


def _replayed(library: Any, request: Any, found: Interaction) -> Any:
    reply = recorded_reply(found)
    if reply.chunks is not None:
        return _answer(library, reply, _faces(library).Replayed(reply, request))
    if reply.error is not None:
        raise _error(library, reply.error, request)
    return _answer(library, reply)


def _error(library: Any, failure: Failure, request: Any) -> Exception:
    kind = getattr(library, failure.type, library.TransportError)
    known = isinstance(kind, type) and issubclass(kind, library.RequestError)
    error: Exception = (kind if known else library.TransportError)(failure.message, request=request)
    return error


def _live(library: Any, response: Any, pending: Pending) -> Any:
    head = _head(response)
    if header(head.headers, "content-encoding"):
        head = head._replace(headers=_without_encoding(head.headers))
    return _answer(library, head, _faces(library).Live(response, _Tape(head, pending)))


class _Tape:
    """What has passed through a live stream; keys are taken out even where they span pieces."""

    def __init__(self, head: Reply, pending: Pending) -> None:
        self._head, self._pending = head, pending
        self._pieces: list[bytes] = []
        self._held = b""
        self._kept = False

    def take(self, piece: bytes) -> bytes:
        """Give what may be passed on of a new piece."""
        cleaned = self._pending.keys.clean(self._held + piece)
        size = self._pending.keys.held_back(cleaned)
        self._held = cleaned[len(cleaned) - size :]
        return self._passed(cleaned[: len(cleaned) - size])

    def _passed(self, piece: bytes) -> bytes:
        if piece:
            self._pieces.append(piece)
        return piece

    def end(self) -> bytes:
        """Give what was held back, at the stream's end."""
        rest, self._held = self._held, b""
        return self._passed(rest)

    def keep(self, error: Exception | None = None, *, partial: bool = False) -> None:
        """Keep the stream as recorded, once."""
        if self._kept:
            return
        self._kept = True
        failure = Failure(type(error).__name__, str(error)) if error else None
        self._pending.finish(
            self._head._replace(
                body=b"".join(self._pieces),
                chunks=[len(piece) for piece in self._pieces],
                error=failure,
                partial=partial,
            )
        )


def _cut(reply: Reply) -> Iterator[bytes]:
    start = 0
    for size in reply.chunks or []:
        yield reply.body[start : start + size]
        start += size


class _Faces:
    """Stream classes of one library: its clients accept only their own."""

    Live: Any
    Replayed: Any


@functools.cache
def _faces(library: Any) -> _Faces:
    class Live(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc]
        """Pass a stream on while keeping it."""

        def __init__(self, response: Any, tape: _Tape) -> None:
            self._response, self._tape = response, tape

        def __iter__(self) -> Iterator[bytes]:
            try:
                for piece in self._response.iter_bytes():
                    yield from _some(self._tape.take(piece))
            except library.RequestError as error:
                yield from _some(self._tape.end())
                self._tape.keep(error)
                raise
            yield from _some(self._tape.end())
            self._tape.keep()

        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                async for piece in self._response.aiter_bytes():
                    for part in _some(self._tape.take(piece)):
                        yield part
            except library.RequestError as error:
                for part in _some(self._tape.end()):
                    yield part
                self._tape.keep(error)
                raise
            for part in _some(self._tape.end()):
                yield part
            self._tape.keep()

        def close(self) -> None:
            self._response.close()
            self._tape.keep(partial=True)

        async def aclose(self) -> None:
            await self._response.aclose()
            self._tape.keep(partial=True)

    class Replayed(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc]
        """Give a recorded stream piece by piece, and its error where it had one."""

        def __init__(self, reply: Reply, request: Any) -> None:
            self._reply, self._request = reply, request

        def __iter__(self) -> Iterator[bytes]:
            yield from _cut(self._reply)
            self._end()

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for piece in _cut(self._reply):
                yield piece
            self._end()

        def _end(self) -> None:
            if self._reply.error is not None:
                raise _error(library, self._reply.error, self._request)
            if self._reply.partial:
                raise Miss(
                    f"{self._request.extensions.get('call') or self._request.url}: the "
                    "client left this stream early when it was recorded, now it asks for "
                    "more. Only what came until then is recorded."
                )

    faces = _Faces()
    faces.Live, faces.Replayed = Live, Replayed
    return faces


def _some(piece: bytes) -> Iterable[bytes]:
    return (piece,) if piece else ()
