"""Bodies: passed on piece by piece while they are kept, and given again with the end they had."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import anyio

from harness.decoding import MOST_DECODED
from harness.errors import Miss
from harness.recording.exchange import Reply
from harness.recording.interaction import Failure, header, is_stream
from harness.recording.pending import Pending
from harness.recording.recorder import Recorder
from harness.recording.redaction import clean_url

LAST_EVENT = b"data: [DONE]"  # a client that leaves here has heard all of the stream
LEAST_PATIENCE = 60.0  # seconds for the program to cancel a call that it cancelled when recorded


def failure_of(library: object, error: BaseException) -> Failure:
    """Name the error's class as the library knows it, or the nearest above that it does know."""
    names = (kind.__name__ for kind in type(error).__mro__ if hasattr(library, kind.__name__))
    message = str(error).encode("utf-8", "backslashreplace").decode()
    return Failure(next(names, "TransportError"), message)


def error_of(library: Any, failure: Failure, request: Any) -> Exception:
    """Make a recorded error again, as the library's own class."""
    kind = getattr(library, failure.type, library.TransportError)
    fits = isinstance(kind, type) and issubclass(kind, library.RequestError)
    error: Exception = (kind if fits else library.TransportError)(failure.message, request=request)
    return error


class Tape:
    """What has passed of a body; keys are taken out even where they span pieces.

    unfinished: all tapes of a transport whose end has not come. bodiless: no body will come.
    """

    def __init__(
        self,
        library: Any,
        head: Reply,
        pending: Pending,
        unfinished: set[Tape],
        *,
        bodiless: bool = False,
    ) -> None:
        self._library, self._head, self._pending = library, head, pending
        self._unfinished = unfinished
        unfinished.add(self)
        self._in_pieces = is_stream(head.headers)
        length = header(head.headers, "content-length")
        self._length = 0 if bodiless else int(length) if length.isdecimal() else None
        self._pieces: list[bytes] = []
        self._held = b""
        self._size = 0
        self._redacted, self._kept = head.redacted, False

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
        """Return what was held back, at the stream's end."""
        rest, self._held = self._held, b""
        return self._passed(rest)

    def keep(self, error: Exception | None = None) -> None:
        """Keep the body with its end, once, and wait for the disk."""
        if self._is_new():
            self._pending.finish(self._reply(error))

    async def keep_async(self, error: Exception | None = None) -> None:
        """Do the same without holding up the event loop."""
        if self._is_new():
            await self._pending.finish_async(self._reply(error))

    def leave(self) -> None:
        """Keep a body that the client did not read to its end; whole, where nothing was left."""
        if self._is_new():
            self._pending.leave(self._reply(partial=self._size != self._length))

    def cancel(self) -> None:
        """Keep a body in whose midst the program cancelled the call."""
        body = b"".join(self._pieces)
        if self._size == self._length or body.rstrip().endswith(LAST_EVENT):
            self.leave()
        elif self._is_new():
            self._pending.cancel(self._reply())

    def _is_new(self) -> bool:
        is_new, self._kept = not self._kept, True
        self._unfinished.discard(self)
        return is_new

    def _reply(self, error: Exception | None = None, *, partial: bool = False) -> Reply:
        body = b"".join(self._pieces)
        partial = partial and not body.rstrip().endswith(LAST_EVENT)
        return self._head._replace(
            body=body,
            chunks=self._sizes(body, whole=error is None and not partial),
            error=failure_of(self._library, error) if error else None,
            partial=partial,
            redacted=self._redacted,
        )

    def _sizes(self, body: bytes, *, whole: bool) -> list[int] | None:
        """Return the sizes of a stream's pieces; of other types, how they were cut says nothing."""
        if self._in_pieces:
            return [len(piece) for piece in self._pieces]
        if whole:
            return None
        return [len(body)] if body else []


def _cut(reply: Reply) -> Iterator[bytes]:
    start = 0
    for size in reply.chunks or []:
        yield reply.body[start : start + size]
        start += size


async def wait_for_cancellation(place: str, elapsed: float, recorder: Recorder) -> None:
    """Wait until the program cancels a call again; raise Miss where it does not."""
    await anyio.sleep(max(LEAST_PATIENCE, 2 * elapsed))
    raise recorder.stop(Miss(not_cancelled(place, elapsed)))


def not_cancelled(place: str, elapsed: float) -> str:
    """Return the words for a call that was cancelled when recorded, and now is not."""
    return (
        f"{place}: the program cancelled this call after {elapsed} s when it was recorded, now it "
        "waits for the answer. There is none. Record it anew, or cancel it as then."
    )


def place_of(request: Any) -> str:
    """Return a call's name, or its address without keys."""
    return str(request.extensions.get("call") or clean_url(str(request.url)))


@functools.cache
def live_stream(library: Any) -> Any:
    """Return the class that passes a body on, for httpx or httpx2: each accepts only its own."""

    class Live(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc]
        """Pass a body on while keeping it."""

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
                    for cleaned in _some(self._tape.take(piece)):
                        yield cleaned
            except library.RequestError as error:
                for cleaned in _some(self._tape.end()):
                    yield cleaned
                await self._tape.keep_async(error)
                raise
            except anyio.get_cancelled_exc_class():
                self._tape.cancel()
                raise
            for cleaned in _some(self._tape.end()):
                yield cleaned
            await self._tape.keep_async()

        def hang_up(self) -> None:
            """Say that who reads this has left, in the midst or not."""
            self._tape.cancel()

        def close(self) -> None:
            try:
                self._response.close()
            finally:
                self._tape.leave()

        async def aclose(self) -> None:
            try:
                await self._response.aclose()
            finally:
                self._tape.leave()

    return Live


@functools.cache
def replayed_stream(library: Any) -> Any:
    """Return the class that gives a recorded body, for httpx or httpx2."""

    class Replayed(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc]
        """Yield a recorded body piece by piece, and the end that it had."""

        def __init__(self, reply: Reply, elapsed: float, request: Any, recorder: Recorder) -> None:
            self._reply, self._request, self._recorder = reply, request, recorder
            self._elapsed = elapsed
            self._pieces = iter(list(_cut(reply)))  # a second iteration goes on

        def __iter__(self) -> Iterator[bytes]:
            yield from self._pieces
            if self._reply.cancelled:
                place = place_of(self._request)
                raise self._recorder.stop(Miss(not_cancelled(place, self._elapsed)))
            self._end()

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for piece in self._pieces:
                yield piece
            pushed = self._reply.partial and "pushed" in self._request.extensions
            if self._reply.cancelled or pushed:  # whoever it is pushed to, leaves by itself
                place = place_of(self._request)
                await wait_for_cancellation(place, self._elapsed, self._recorder)
            self._end()

        def hang_up(self) -> None:
            """Take notice of nothing: this is recorded."""

        async def aclose(self) -> None:
            """Close nothing."""

        def _end(self) -> None:
            if self._reply.error is not None:
                raise error_of(library, self._reply.error, self._request)
            if self._reply.partial:
                raise self._recorder.stop(
                    Miss(
                        f"{place_of(self._request)}: the client left this stream early when it was "
                        "recorded, now it asks for more. Only what came until then is recorded."
                    )
                )

    return Replayed


def _some(piece: bytes) -> Iterable[bytes]:
    return (piece,) if piece else ()
