"""A real HTTP/1.1 server on 127.0.0.1 that answers with what a plain function says."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

POLL = 0.02  # seconds between two looks at a hanging client, and at the server's own end
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it arrived: path and query as sent, headers in order with their repeats."""

    method: str
    path: str
    query: str
    headers: list[Pair]
    body: bytes
    number: int  # 0-based, in order of arrival

    def header(self, name: str) -> str | None:
        """Return the first header of that name, in any case."""
        return next((v for k, v in self.headers if k.lower() == name.lower()), None)

    def json(self) -> Any:
        """Return the body parsed as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """What to send back: nothing is added but the framing, so two servers send the same bytes.

    `chunks` (in place of `body`) go out one by one with chunked encoding, a number being a pause
    in seconds. `cut` sends all that is given and closes short of the promised end; `hang` sends
    it and keeps the connection open until the client leaves or the server closes. Status 0 sends
    nothing: the connection is dropped, or with `hang` stays silent. A Content-Length or
    Transfer-Encoding in `headers` replaces ours.
    """

    status: int = 200
    reason: str | None = None
    headers: Sequence[Pair] = ()
    body: bytes = b""
    chunks: Sequence[bytes | float] | None = None
    cut: bool = False
    hang: bool = False
    http_version: str = "HTTP/1.1"

    @property
    def ends(self) -> bool:
        """Tell whether the client gets all it was promised."""
        return bool(self.status) and not self.cut and not self.hang


def json_answer(value: object, status: int = 200, headers: Sequence[Pair] = ()) -> Answer:
    """Make an answer of a JSON value."""
    kind = ("Content-Type", "application/json")
    return Answer(status, headers=[kind, *headers], body=json.dumps(value).encode())


def sse_event(data: object, name: str | None = None) -> bytes:
    """Make one server-sent event: text of one line as it is, anything else as JSON."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def sse_answer(
    events: Iterable[object], pause: float = 0.0, cut: bool = False, hang: bool = False
) -> Answer:
    """Make a stream, one chunk an event (bytes as they are), `pause` seconds between two."""
    chunks: list[bytes | float] = []
    for event in events:
        if chunks and pause:
            chunks.append(pause)
        chunks.append(event if isinstance(event, bytes) else sse_event(event))
    kind = ("Content-Type", "text/event-stream")
    return Answer(headers=[kind], chunks=chunks, cut=cut, hang=hang)


@dataclass(slots=True)
class _Ledger:
    """What happened so far, for the threads of all connections."""

    received: list[Received] = field(default_factory=list)
    answered: int = 0
    active: int = 0
    errors: list[BaseException] = field(default_factory=list)
    connections: list[socket.socket] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    closing: threading.Event = field(default_factory=threading.Event)


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave in one segment; what has to be live is flushed
    server: _Server

    def respond(self) -> None:
        ledger, received = self.server.ledger, self._receive()
        whole = False
        try:
            answer = self._ask(received)
            if whole := self._send(answer):
                self.server.sent(received, answer)
        finally:
            self.close_connection = self.close_connection or not whole
            with ledger.changed:
                ledger.active -= 1
                ledger.answered += whole
                ledger.changed.notify_all()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # any method there is
            return self.respond
        raise AttributeError(name)

    def _receive(self) -> Received:
        ledger, body = self.server.ledger, self._read_body()
        path, _, query = self.path.partition("?")
        with ledger.changed:
            number = len(ledger.received)
            received = Received(self.command, path, query, self.headers.items(), body, number)
            ledger.received.append(received)
            ledger.active += 1
        return received

    def _ask(self, received: Received) -> Answer:
        try:
            return self.server.answer(received)
        except Exception as error:  # the test hears of it when the context ends
            self.server.ledger.errors.append(error)
            return Answer(500, reason="Loopback Answer Raised", body=repr(error).encode())

    def _read_body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return b"".join(self._read_chunks())
        return self._read(int(self.headers.get("Content-Length", 0)))

    def _read_chunks(self) -> Iterator[bytes]:
        for line in iter(self.rfile.readline, b""):
            size = int(line, 16)
            yield self._read(size)
            self._read(2)
            if not size:
                return
        raise ConnectionResetError("client left in the middle of a chunked body")

    def _read(self, size: int) -> bytes:
        data = self.rfile.read(size)
        if len(data) < size:
            raise ConnectionResetError(f"client left after {len(data)} of {size} bytes")
        return data

    def _send(self, answer: Answer) -> bool:
        whole = answer.ends
        if answer.status:
            self._send_head(answer)
            if self.command != "HEAD" and answer.status not in (204, 304):
                whole = self._send_body(answer) and whole
            self.wfile.flush()
        if answer.hang:
            self._linger()
        return whole

    def _send_head(self, answer: Answer) -> None:
        self.protocol_version = answer.http_version
        self.send_response_only(answer.status, answer.reason)
        for name, value in [*answer.headers, *self._framing(answer)]:
            self.send_header(name, value)
        self.end_headers()

    def _framing(self, answer: Answer) -> list[Pair]:
        given = {name.lower() for name, _ in answer.headers}
        if answer.status in (204, 304) or given & {"content-length", "transfer-encoding"}:
            return []
        if answer.chunks is not None:
            return [("Transfer-Encoding", "chunked")]
        promised = len(answer.body) + (not answer.ends)  # all given bytes arrive, yet fall short
        return [("Content-Length", str(promised))]

    def _send_body(self, answer: Answer) -> bool:
        if answer.chunks is None:
            self.wfile.write(answer.body)
            return True
        self.wfile.flush()
        for piece in answer.chunks:
            if not isinstance(piece, bytes):
                if self.server.ledger.closing.wait(piece):
                    return False
            elif piece:  # a chunk of no bytes would end the stream
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n" if answer.ends else b"")
        return True

    def _linger(self) -> None:
        while not self.server.ledger.closing.wait(POLL):
            ready, _, _ = select.select([self.connection], [], [], 0)
            if ready and not self.connection.recv(1, socket.MSG_PEEK):
                return

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # the default of 5 makes 50 clients wait a second for a second SYN

    def __init__(self, answer: Answering, sent: Sent, port: int) -> None:
        self.answer, self.sent, self.ledger = answer, sent, _Ledger()
        super().__init__(("127.0.0.1", port), _Exchange)

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # http.server's own looks up a host name
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self.ledger.connections.append(connection)
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None:
        if (error := sys.exception()) and not isinstance(error, OSError):  # a client may leave
            self.ledger.errors.append(error)


Answering = Callable[[Received], Answer]
Sent = Callable[[Received, Answer], None]


class Loopback:
    """Serve `answer` on a loopback port while the context lasts.

    `answer` and `sent` (called once an answer has left completely) run on a thread a connection,
    so several at once. Whatever `answer` raises is a 500 to the client and raised again when the
    context ends.
    """

    def __init__(
        self, answer: Answering, sent: Sent = lambda received, answer: None, port: int = 0
    ) -> None:
        self._server = _Server(answer, sent, port)
        self._ledger = self._server.ledger
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"  # no slash at its end

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(POLL,), daemon=True).start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()
        if error is None and self._ledger.errors:
            raise self._ledger.errors[0]

    def close(self) -> None:
        """End hanging streams, close every connection and the port; a second call does nothing."""
        self._ledger.closing.set()
        self._server.shutdown()
        with self._ledger.changed:
            self._ledger.changed.wait_for(lambda: not self._ledger.active, timeout=1.0)
        for connection in self._ledger.connections:
            with contextlib.suppress(OSError):  # most are closed already
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()

    @property
    def received(self) -> list[Received]:
        """All requests so far, in order of arrival."""
        return list(self._ledger.received)

    @property
    def answered(self) -> int:
        """Number of answers sent to their end; a client may be some microseconds ahead of it."""
        return self._ledger.answered

    @property
    def connections(self) -> int:
        """Number of connections accepted."""
        return len(self._ledger.connections)

    def wait_answered(self, count: int, timeout: float = 5.0) -> bool:
        """Wait until `count` answers were sent to their end; False when the time is up."""
        with self._ledger.changed:
            return self._ledger.changed.wait_for(lambda: self._ledger.answered >= count, timeout)
