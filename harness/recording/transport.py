"""The only way to the network: an httpx transport that records, and replays without a network.

It serves sync and async clients, of httpx and of its fork httpx2, and patches nothing. A request's
library is told from its class; both libraries name their parts alike.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self

import anyio.lowlevel
import anyio.to_thread
import httpx

from harness.decoding import are_known
from harness.errors import Miss, RunStopped, UsageError
from harness.recording.bypass import sending
from harness.recording.conversion import (
    answer_of,
    attempts_of,
    head_of,
    is_taken_whole,
    plain_request,
    whole_reply,
    without_encoding,
)
from harness.recording.exchange import Reply, recorded_reply
from harness.recording.interaction import (
    Interaction,
    encodings,
)
from harness.recording.pending import Pending
from harness.recording.recorder import Mode, Recorder
from harness.recording.rules import rules_of
from harness.recording.sharing import Session, session
from harness.recording.streams import (
    Tape,
    error_of,
    failure_of,
    live_stream,
    not_cancelled,
    place_of,
    replayed_stream,
    wait_for_cancellation,
)
from harness.recording.way_out import OPTIONS, library_of, warn_of_full_pool, way_out


class RecordingTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Wrap a transport; record what passes through it into one cassette, or replay it from there.

    cassette: the file, or a Recorder that is already open. mode: vcrpy's words: "none" replays
    and never sends (the default), "once" records where there is no file yet, "new_episodes" sends
    what is not recorded and what failed, "all" records everything anew. inner: the transport to the
    network, by default one of the client's own library. keys: values that must appear nowhere in
    the file; those in the headers made for keys are known without it. ignore, map: what of requests
    is not compared, and hosts that count as another (see rules.py); kept in the cassette, and a
    replay takes no more than that.

    Use it as `httpx.Client(transport=RecordingTransport("cassette.json"))`, and in every SDK that
    takes such a client. One transport serves sync and async clients, and transports of one process
    on one file share it. A request may carry the extensions "call" (its name), "endpoint" (who is
    asked) and "optional" (a bool). Close the client (or use `with`): that writes the cassette; else
    it is written when the program ends. What came before a crash, or before a request that stopped
    the program, is in a journal beside it, and mode "new_episodes" goes on from there.

    Raises Miss (no Exception: SDKs would try again) where a request is not what was recorded.
    """

    def __init__(
        self,
        cassette: str | Path | Recorder,
        *,
        mode: Mode = "none",
        inner: object = None,
        keys: Iterable[str] = (),
        ignore: Iterable[str] = (),
        map: Mapping[str, str] | None = None,
    ) -> None:
        self._options: dict[str, object] = {}
        self._session: Session | None = None
        self._tapes: set[Tape] = set()
        if isinstance(cassette, Recorder):
            self.recorder = cassette
        else:
            self._session = session(Path(cassette), mode, keys, rules_of(ignore, map))
            self.recorder = self._session.recorder
            self._join(self._session)
        self._given = inner
        self._made: dict[str, object] = {}  # by face, with those of a library under its name
        self._faces: set[str] = set()  # in use, and not closed

    @classmethod
    def for_client(
        cls,
        cassette: str | Path,
        *,
        mode: Mode = "none",
        keys: Iterable[str] = (),
        ignore: Iterable[str] = (),
        map: Mapping[str, str] | None = None,
        **options: object,
    ) -> Self:
        """Make a transport that reaches the network as a client with these options would.

        options: limits, proxy, mounts, verify, cert, http1, http2, trust_env, as httpx.Client takes
        them; given to a client beside its transport, they would have no effect.
        """
        unfit = sorted(options.keys() - OPTIONS)
        if unfit:
            raise UsageError(
                f"for_client: {unfit[0]!r} does not shape connections; those that do are "
                f"{', '.join(sorted(OPTIONS))}. Give the others to the client."
            )
        transport = cls(cassette, mode=mode, keys=keys, ignore=ignore, map=map)
        transport._options = options
        return transport

    def _join(self, session: Session) -> None:
        session.join()
        self._finalizer = session.outlive(self, partial(_leave_all, self._tapes))

    def handle_request(self, request: Any) -> Any:
        """Answer one request from the recording, or send it and keep the answer."""
        library = library_of(request)
        answer = self._begin("sync", request, request.read())
        if isinstance(answer, Interaction):
            return _replayed(library, request, answer, self.recorder)
        try:
            with sending():
                response = self._inner(library, "handle_request").handle_request(request)
            if not is_taken_whole(response):
                return _live(library, request, response, answer, self._tapes)
            try:
                body = b"".join(response.stream)
            finally:
                response.close()
            reply = whole_reply(library, response, body)
        except library.TransportError as error:
            answer.finish(self._failed(library, answer, error))
            raise
        except BaseException:
            answer.give_up()
            raise
        return answer_of(library, answer.finish(reply))

    async def handle_async_request(self, request: Any) -> Any:
        """Do the same for an async client."""
        library = library_of(request)
        answer = self._begin("async", request, await request.aread())
        if isinstance(answer, Interaction):
            await anyio.lowlevel.checkpoint()  # as a network would, let others go on
            return await _replayed_async(library, request, answer, self.recorder)
        try:
            inner = self._inner(library, "handle_async_request")
            with sending():
                response = await inner.handle_async_request(request)
            if not is_taken_whole(response):
                return _live(library, request, response, answer, self._tapes)
            try:
                body = b"".join([piece async for piece in response.stream])
            finally:
                await response.aclose()
            reply = whole_reply(library, response, body)
        except library.TransportError as error:
            await answer.finish_async(self._failed(library, answer, error))
            raise
        except anyio.get_cancelled_exc_class():
            answer.cancel()
            raise
        except BaseException:
            answer.give_up()
            raise
        return answer_of(library, await answer.finish_async(reply))

    def _begin(self, face: str, request: Any, body: bytes) -> Interaction | Pending:
        if self._session is not None and not self._finalizer.alive:  # closed, and used again
            self._join(self._session)
        self._faces.add(face)
        answer = self.recorder.begin(plain_request(request, body))
        if isinstance(answer, Pending) and answer.earlier:
            request.extensions["earlier"] = answer.earlier
        return answer

    def _inner(self, library: Any, method: str) -> Any:
        """Return the transport to the network for one face of one library."""
        if self._given is not None:
            if not hasattr(self._given, method):
                raise UsageError(
                    f"inner= is a {type(self._given).__name__}, which has no {method}. Give this "
                    "client a RecordingTransport of its own on the same file, with an inner "
                    "transport of its kind."
                )
            return self._given
        name = f"{library.__name__}.{method}"
        if name not in self._made:
            asynchronous = method == "handle_async_request"
            self._made[name] = way_out(library, asynchronous=asynchronous, options=self._options)
        return self._made[name]

    def _failed(self, library: Any, pending: Pending, error: Exception) -> Reply:
        if self._given is None:
            warn_of_full_pool(error, self._options)
        attempts = attempts_of(getattr(error, "attempts", []))
        return pending.failed(failure_of(library, error), attempts)

    def check(self) -> None:
        """Raise the first miss again, or a Miss naming a recorded call that nobody asked for."""
        try:
            self.recorder.check()
        except RunStopped:
            self._note_report()
            raise

    def close(self) -> None:
        """Write the cassette, where something was recorded; raise the first miss again."""
        try:
            for inner in self._closing("close"):
                inner.close()
        finally:
            self._finish("sync")
        self._raise_stop()

    async def aclose(self) -> None:
        """Do the same for an async client."""
        try:
            for inner in self._closing("aclose"):
                await inner.aclose()
        finally:
            if self.recorder.replays:
                self._finish("async")
            else:
                await anyio.to_thread.run_sync(self._finish, "async")
        self._raise_stop()

    def finish(self) -> None:
        """Write the cassette as `close` does, whatever clients still use this transport."""
        self._faces.clear()
        self._finish("")
        self._raise_stop()

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

    def _closing(self, method: str) -> list[Any]:
        """Return the inner transports that are closed with a client; ours are made anew."""
        kept = {name: inner for name, inner in self._made.items() if not hasattr(inner, method)}
        closing = [inner for name, inner in self._made.items() if name not in kept]
        self._made = kept
        return [*closing, self._given] if hasattr(self._given, method) else closing

    def _finish(self, face: str) -> None:
        """Leave the recording, once no client of either kind uses this transport any more."""
        self._faces.discard(face)
        if self._faces:
            return
        _leave_all(self._tapes)
        if self._session is not None and self._finalizer.detach():
            self._session.leave()

    def _raise_stop(self) -> None:
        stop = self.recorder.stopped
        if stop is not None:
            self._note_report()
            raise stop

    def _note_report(self) -> None:
        if self._session is not None:
            self._session.reported = True


def _leave_all(tapes: set[Tape]) -> None:
    """Keep the streams that the program left without closing them."""
    for tape in list(tapes):
        tape.leave()


@contextlib.contextmanager
def _unless(error: object) -> Iterator[None]:
    """Let an error that is on its way already go before the reason to stop."""
    try:
        yield
    except RunStopped:
        if error is None:
            raise


def _replayed(
    library: object, request: object, recorded: Interaction, recorder: Recorder
) -> object:
    reply, elapsed = recorded_reply(recorded), recorded.response.elapsed
    if reply.chunks is not None:
        stream = replayed_stream(library)(reply, elapsed, request, recorder)
        return answer_of(library, reply, stream, recorded=True)
    if reply.cancelled:
        raise recorder.stop(Miss(not_cancelled(place_of(request), elapsed)))
    if reply.error is not None:
        error = error_of(library, reply.error, request)
        error.recorded = True  # type: ignore[attr-defined]
        raise error
    return answer_of(library, reply, recorded=True)


async def _replayed_async(
    library: object, request: object, recorded: Interaction, recorder: Recorder
) -> object:
    response = recorded.response
    if response.cancelled and response.chunks is None:
        await wait_for_cancellation(place_of(request), response.elapsed, recorder)
    return _replayed(library, request, recorded, recorder)


def _live(library: object, request: Any, response: Any, pending: Pending, tapes: set[Tape]) -> Any:
    head = head_of(response)
    plain = are_known(encodings(head.headers))
    if plain and encodings(head.headers):
        head = head._replace(headers=without_encoding(head.headers))
    bodiless = request.method == "HEAD" or response.status_code in (204, 304)
    head = pending.clean_head(head)
    tape = Tape(library, head, pending, tapes, bodiless=bodiless)
    return answer_of(library, head, live_stream(library)(response, tape, plain=plain))
