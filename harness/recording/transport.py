"""The only way to the network: an httpx transport that records, and replays without a network.

It serves sync and async clients, of httpx and of its fork httpx2, and patches nothing. A request's
library is told from its class; both libraries name their parts alike.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import httpx
import msgspec

from harness.decoding import DecodesToTooMuch, are_known, decoded
from harness.errors import RunStopped
from harness.recording.exchange import Exchange, Reply, recorded_reply
from harness.recording.interaction import (
    Attempt,
    Interaction,
    encodings,
    is_stream,
)
from harness.recording.pending import Pending
from harness.recording.recorder import Mode, Recorder
from harness.recording.redaction import KeyRing
from harness.recording.streams import Tape, error_of, faces, failure_of


class RecordingTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Wrap a transport; record what passes through it into one cassette, or replay it from there.

    cassette: the file, or a Recorder that is already open. mode: vcrpy's words: "none" replays
    and never sends (the default), "once" records where there is no file yet, "new_episodes" sends
    what is not recorded, "all" records everything anew. inner: the transport to the network, by
    default one of the client's own library. keys: values that must appear nowhere in the file;
    those in the headers made for keys are known without it.

    Use it as `httpx.Client(transport=RecordingTransport("cassette.json"))`, and in every SDK that
    takes such a client. A request may carry the extensions "call" (its name), "endpoint" (who is
    asked) and "optional" (a bool). Close the client (or use `with`): that writes the cassette; what
    came before a crash, or before a request that stopped the program, is in a journal beside it,
    and mode "new_episodes" goes on from there.

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
        self._tapes: set[Tape] = set()

    def handle_request(self, request: Any) -> Any:
        """Answer one request from the recording, or send it and keep the answer."""
        library = _library(request)
        found = self.recorder.begin(_exchange(request, request.read()))
        if isinstance(found, Interaction):
            return _replayed(library, request, found, self.recorder)
        if found.earlier:
            request.extensions["earlier"] = found.earlier
        try:
            response = self._transport(library.HTTPTransport).handle_request(request)
            if is_stream(_pairs(response)):
                return _live(library, response, found, self._tapes)
            try:
                body = b"".join(response.stream)
            finally:
                response.close()
            reply = _whole_reply(library, response, body)
        except BaseException as error:
            _keep_error(library, found, error)
            raise
        return _answer(library, found.finish(reply))

    async def handle_async_request(self, request: Any) -> Any:
        """Do the same for an async client."""
        library = _library(request)
        found = self.recorder.begin(_exchange(request, await request.aread()))
        if isinstance(found, Interaction):
            return _replayed(library, request, found, self.recorder)
        try:
            inner = self._transport(library.AsyncHTTPTransport)
            response = await inner.handle_async_request(request)
            if is_stream(_pairs(response)):
                return _live(library, response, found, self._tapes)
            try:
                body = b"".join([piece async for piece in response.stream])
            finally:
                await response.aclose()
            reply = _whole_reply(library, response, body)
        except BaseException as error:
            _keep_error(library, found, error)
            raise
        return _answer(library, found.finish(reply))

    def _transport(self, default: Any) -> Any:
        if self._inner is None:
            self._inner = default()
        return self._inner

    def check(self) -> None:
        """Raise the first miss again, or a Miss naming a recorded call that nobody asked for."""
        self.recorder.check()

    def close(self) -> None:
        """Write the cassette, where something was recorded; raise the first miss again."""
        try:
            if hasattr(self._inner, "close"):
                self._inner.close()
        finally:
            self._finish()

    async def aclose(self) -> None:
        """Do the same for an async client."""
        try:
            if hasattr(self._inner, "aclose"):
                await self._inner.aclose()
        finally:
            self._finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, error: object = None, trace: object = None) -> None:
        with _unless(error):
            self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: object = None, error: object = None, trace: object = None
    ) -> None:
        with _unless(error):
            await self.aclose()

    def _finish(self) -> None:
        for tape in list(self._tapes):  # streams that the program left without closing them
            tape.keep(partial=True)
        try:
            if self._owned and self.recorder.stopped is None:
                self.recorder.save()
        finally:
            if self._owned:
                self.recorder.release()
        if self.recorder.stopped is not None:
            raise self.recorder.stopped


@contextlib.contextmanager
def _unless(error: object) -> Iterator[None]:
    """Let an error that is on its way already go before the reason to stop."""
    try:
        yield
    except RunStopped:
        if error is None:
            raise


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
        extensions.get("kind", "model"),
        extensions.get("endpoint", ""),
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
        settled=extensions.get("settled", False),
    )


def _attempts(tries: Any) -> list[Attempt]:
    return msgspec.convert(tries, list[Attempt])


def _whole_reply(library: Any, response: Any, body: bytes) -> Reply:
    """Return an answer with its body decoded; an encoding nobody knows stays with its bytes.

    Raises the library's ReadError where the body decodes to too much.
    """
    head = _head(response)
    coding = encodings(head.headers)
    try:
        plain = decoded(coding, body) if coding and body else None
    except DecodesToTooMuch as error:
        raise library.ReadError(str(error)) from error
    if plain is None:
        return head._replace(body=body)
    return head._replace(body=plain, headers=_without_encoding(head.headers))


def _without_encoding(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for pair in pairs if pair[0].lower() not in ("content-encoding", "content-length")]


def _keep_error(library: Any, pending: Pending, error: BaseException) -> None:
    if isinstance(error, library.TransportError):
        failure = failure_of(library, error)
        pending.fail(failure, _attempts(getattr(error, "attempts", [])))
    else:
        pending.give_up()


def _answer(library: Any, reply: Reply, stream: Any = None, *, recorded: bool = False) -> Any:
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
            "recorded": recorded,
        },
    )


def _replayed(library: Any, request: Any, found: Interaction, recorder: Recorder) -> Any:
    reply = recorded_reply(found)
    if reply.chunks is not None:
        stream = faces(library).Replayed(reply, request, recorder)
        return _answer(library, reply, stream, recorded=True)
    if reply.error is not None:
        error = error_of(library, reply.error, request)
        error.recorded = True  # type: ignore[attr-defined]
        raise error
    return _answer(library, reply, recorded=True)


def _live(library: Any, response: Any, pending: Pending, tapes: set[Tape]) -> Any:
    head = _head(response)
    plain = are_known(encodings(head.headers))
    if plain and encodings(head.headers):
        head = head._replace(headers=_without_encoding(head.headers))
    tape = Tape(library, head, pending, tapes)
    return _answer(library, head, faces(library).Live(response, tape, plain=plain))
