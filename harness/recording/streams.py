"""Streams: passed on live while they are kept, and given again piece by piece."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from harness.decoding import MOST_DECODED
from harness.errors import Miss
from harness.recording.exchange import Reply
from harness.recording.interaction import Failure
from harness.recording.pending import Pending
from harness.recording.recorder import Recorder
from harness.recording.redaction import clean_url

LAST_EVENT = b"data: [DONE]"  # a client that leaves here has heard all of the stream


def failure_of(library: Any, error: BaseException) -> Failure:
    """Name the error's class as the library knows it, or the nearest above that it does know."""
    known = (kind.__name__ for kind in type(error).__mro__ if hasattr(library, kind.__name__))
    message = str(error).encode("utf-8", "backslashreplace").decode()
    return Failure(next(known, "TransportError"), message)


def error_of(library: Any, failure: Failure, request: Any) -> Exception:
    """Make a recorded error again, as the library's own class."""
    kind = getattr(library, failure.type, library.TransportError)
    known = isinstance(kind, type) and issubclass(kind, library.RequestError)
    error: Exception = (kind if known else library.TransportError)(failure.message, request=request)
    return error


class Tape:
    """What has passed through a live stream; keys are taken out even where they span pieces."""

    def __init__(self, library: Any, head: Reply, pending: Pending, unfinished: set[Tape]) -> None:
        self._library, self._head, self._pending = library, head, pending
        self._unfinished = unfinished
        unfinished.add(self)
        self._pieces: list[bytes] = []
        self._held = b""
        self._size = 0
        self._redacted = self._kept = False

    def take(self, piece: bytes) -> bytes:
        """Return what may be passed on of a new piece; raises ReadError behind too many bytes."""
        self._size += len(piece)
        if self._size > MOST_DECODED:
            raise self._library.ReadError(f"a stream of more than {MOST_DECODED} bytes: refused")
        cleaned = self._pending.keys.clean(self._held + piece)
        self._redacted = self._redacted or cleaned != self._held + piece
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
        self._unfinished.discard(self)
        body = b"".join(self._pieces)
        failure = failure_of(self._library, error) if error else None
        self._pending.finish(
            self._head._replace(
                body=body,
                chunks=[len(piece) for piece in self._pieces],
                error=failure,
                partial=partial and not body.rstrip().endswith(LAST_EVENT),
                redacted=self._redacted,
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
def faces(library: Any) -> _Faces:
    """Give the stream classes for httpx, or for httpx2."""

    class Live(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc]
        """Pass a stream on while keeping it."""

        def __init__(self, response: Any, tape: Tape, *, plain: bool) -> None:
            self._response, self._tape, self._plain = response, tape, plain
            self._pieces: Any = None  # a second iteration goes on, as that of httpcore's streams

        def __iter__(self) -> Iterator[bytes]:
            response = self._response
            if self._pieces is None:
                self._pieces = response.iter_bytes() if self._plain else response.iter_raw()
            try:
                for piece in self._pieces:
                    yield from _some(self._tape.take(piece))
            except library.RequestError as error:
                yield from _some(self._tape.end())
                self._tape.keep(error)
                raise
            yield from _some(self._tape.end())
            self._tape.keep()

        async def __aiter__(self) -> AsyncIterator[bytes]:
            response = self._response
            if self._pieces is None:
                self._pieces = response.aiter_bytes() if self._plain else response.aiter_raw()
            try:
                async for piece in self._pieces:
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
            try:
                self._response.close()
            finally:
                self._tape.keep(partial=True)

        async def aclose(self) -> None:
            try:
                await self._response.aclose()
            finally:
                self._tape.keep(partial=True)

    class Replayed(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc]
        """Give a recorded stream piece by piece, and its error where it had one."""

        def __init__(self, reply: Reply, request: Any, recorder: Recorder) -> None:
            self._reply, self._request, self._recorder = reply, request, recorder
            self._pieces = iter(list(_cut(reply)))  # a second iteration goes on

        def __iter__(self) -> Iterator[bytes]:
            yield from self._pieces
            self._end()

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for piece in self._pieces:
                yield piece
            self._end()

        def _end(self) -> None:
            if self._reply.error is not None:
                raise error_of(library, self._reply.error, self._request)
            if self._reply.partial:
                call = self._request.extensions.get("call") or clean_url(str(self._request.url))
                raise self._recorder.stop(
                    Miss(
                        f"{call}: the client left this stream early when it was recorded, now it "
                        "asks for more. Only what came until then is recorded."
                    )
                )

    faces = _Faces()
    faces.Live, faces.Replayed = Live, Replayed
    return faces


def _some(piece: bytes) -> Iterable[bytes]:
    return (piece,) if piece else ()
