"""HTTP/1.1 on a loopback port, parsed by h11: requests whole, answers piece by piece."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import h11

from harness.decoding import MOST_DECODED

Headers = list[tuple[bytes, bytes]]  # names in lower case
MOST_HEAD = 2**18  # bytes of a request's line and headers
BODILESS = (204, 304)


class Incoming(NamedTuple):
    """A request as it arrived."""

    method: str
    target: str
    headers: Headers
    body: bytes

    def header(self, name: bytes) -> str:
        """Return the first header of a name (in lower case), "" where there is none."""
        return next((value for key, value in self.headers if key == name), b"").decode("latin-1")


class ClientLeft(Exception):
    """The client closed its connection before the answer's end."""


class Outgoing:
    """The way back to a client: `start`, `send` the pieces, `end`; or `drop` the connection."""

    def __init__(self, connection: Connection, method: str) -> None:
        self._connection, self._method = connection, method
        self._bodiless = method == "HEAD"
        self.started = False

    async def start(self, status: int, reason: str, headers: Headers) -> None:
        """Send the head; a body goes out in chunks, so that its end is seen."""
        self.started = True
        self._bodiless = self._bodiless or status in BODILESS or status < 200
        kept = [pair for pair in headers if pair[0] != b"content-length" or self._bodiless]
        if not self._bodiless:
            kept.append((b"transfer-encoding", b"chunked"))
        await self._connection.write(
            h11.Response(status_code=status, headers=kept, reason=reason.encode("latin-1"))
        )

    async def send(self, piece: bytes) -> None:
        """Send a piece of the body."""
        if piece and not self._bodiless:
            await self._connection.write(h11.Data(data=piece))

    async def end(self) -> None:
        """Send the end."""
        await self._connection.write(h11.EndOfMessage())

    async def whole(self, status: int, headers: Headers, body: bytes) -> None:
        """Send an answer of our own."""
        await self.start(status, "", headers)
        await self.send(body)
        await self.end()

    def drop(self) -> None:
        """Close the connection in the midst, so that the client sees it break."""
        self._connection.abort()


Handler = Callable[[Incoming, Outgoing], Awaitable[None]]


class Connection(asyncio.Protocol):
    """One client's connection: one request after the other, each in a task of its own.

    Where the client leaves, the task is cancelled.
    """

    def __init__(self, handle: Handler, connections: set[Connection]) -> None:
        self._handle, self._connections = handle, connections
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD)
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._request: h11.Request | None = None
        self._body: list[bytes] = []
        self._size = 0
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        """Take in bytes; what follows a request waits until that is answered."""
        self._http.receive_data(data)
        if self._task is None:
            self._advance()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002  asyncio's form
        """Cancel what is being answered: nobody waits for it."""
        self._connections.discard(self)
        self._transport = None
        self._writable.set()
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        """Hold pieces back: the client reads slower than they come."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Go on sending."""
        self._writable.set()

    def _advance(self) -> None:
        try:
            self._take_events()
        except h11.RemoteProtocolError as error:
            self._refuse(error)

    def _take_events(self) -> None:
        while self._task is None and self._transport is not None:
            event = self._http.next_event()
            if event is h11.NEED_DATA or event is h11.PAUSED:
                self._continue_if_asked()
                return
            if isinstance(event, h11.Request):
                self._request, self._body, self._size = event, [], 0
            elif isinstance(event, h11.Data):
                self._body.append(bytes(event.data))
                self._size += len(event.data)
                if self._size > MOST_DECODED:
                    raise h11.RemoteProtocolError("the body is too large", error_status_hint=413)
            elif isinstance(event, h11.EndOfMessage):
                self._task = asyncio.create_task(self._answer())
            elif isinstance(event, h11.ConnectionClosed):
                self._transport.close()
                return

    def _continue_if_asked(self) -> None:
        if self._http.they_are_waiting_for_100_continue and self._transport is not None:
            go_on = h11.InformationalResponse(status_code=100, headers=[])
            self._transport.write(self._http.send(go_on))

    def _refuse(self, error: h11.RemoteProtocolError) -> None:
        """Say that a request is malformed, and close."""
        if self._transport is None:
            return
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            refusal = h11.Response(
                status_code=error.error_status_hint, headers=[(b"connection", b"close")]
            )
            self._transport.write(self._http.send(refusal))
        self._transport.close()

    async def _answer(self) -> None:
        assert self._request is not None
        request = self._request
        method = request.method.decode("ascii")
        incoming = Incoming(
            method,
            request.target.decode("latin-1"),
            [(bytes(name), bytes(value)) for name, value in request.headers],
            b"".join(self._body),
        )
        self._body = []
        try:
            await self._handle(incoming, Outgoing(self, method))
        except (ClientLeft, asyncio.CancelledError):
            self.abort()
            return
        except BaseException:
            self.abort()
            raise
        self._next()

    def _next(self) -> None:
        self._task = None
        if self._transport is None or self._transport.is_closing():
            return
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            self._advance()
        else:
            self._transport.close()

    async def write(self, event: h11.Event) -> None:
        """Send an event to the client; raises ClientLeft where it is gone."""
        if self._transport is None:
            raise ClientLeft
        data = self._http.send(event)
        if data:
            self._transport.write(data)
        await self._writable.wait()

    def abort(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    @property
    def is_idle(self) -> bool:
        """Tell whether no request is being answered."""
        return self._task is None

    async def stop(self) -> None:
        """Close the connection; what is being answered is cancelled, and ends first."""
        task = self._task
        self.abort()
        if task is not None:
            task.cancel()
            await asyncio.wait([task])


class Server:
    """A server on 127.0.0.1 while it is started."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None

    async def start(self, port: int = 0, listener: socket.socket | None = None) -> int:
        """Listen, on a socket that listens already where there is one, and return the port."""
        loop = asyncio.get_running_loop()
        place = {"host": "127.0.0.1", "port": port} if listener is None else {"sock": listener}
        self._server = await loop.create_server(
            lambda: Connection(self._handle, self._connections), backlog=1024, **place
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self, patience: float = 0.0) -> None:
        """Listen no more; wait so many seconds for what is being answered, and cancel the rest."""
        assert self._server is not None
        self._server.close()
        deadline = asyncio.get_running_loop().time() + patience
        while self._busy() and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)
        await asyncio.gather(*(connection.stop() for connection in list(self._connections)))

    def _busy(self) -> list[Connection]:
        return [connection for connection in self._connections if not connection.is_idle]
