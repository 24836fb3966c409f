"""The reverse proxy: a client's calls go to their endpoint through the recording."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx

from harness.errors import HarnessError, Miss, RunStopped, UsageError
from harness.files import file_name
from harness.proxy.endpoints import ServedEndpoint, keys_of
from harness.proxy.http_server import ClientLeft, Headers, Incoming, Outgoing, Server
from harness.recording.cassette import is_cassette
from harness.recording.recorder import Recorder
from harness.recording.redaction import is_secret_header
from harness.recording.transport import RecordingTransport
from harness.recording.way_out import way_out

HOP_BY_HOP = frozenset(  # RFC 9110, section 7.6.1, and what is ours
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade host expect content-length x-harness-call".split()
)
CALL = b"x-harness-call"
ONLY_CELL = "program"
CELL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=,-]{0,99}")
WAITS = {"connect": 30.0, "read": 600.0, "write": 600.0, "pool": 600.0}
JSON = (b"content-type", b"application/json")
NEVER_AGAIN = (b"x-should-retry", b"false")


class CallTarget(NamedTuple):
    """Where a call goes: its cell, its endpoint, and the address there."""

    cell: str
    endpoint: str
    url: str


class ProxyTally(NamedTuple):
    """What a proxy did, over all cells."""

    cells: int
    matched: int
    sent: int
    unused: list[str]
    websockets: int
    refused: int
    stops: list[str]
    rules: list[str] = []  # what was not compared

    @property
    def good(self) -> bool:
        """Tell whether all went as it was recorded, and nothing was refused."""
        return not (self.unused or self.websockets or self.refused or self.stops)

    def words(self) -> str:
        """Return what happened in a line, and what went wrong below it."""
        line = (
            f"{self.cells} cells, {self.matched} calls matched, {self.sent} sent, "
            f"{len(self.unused)} unused, {self.websockets} websockets refused, "
            f"{self.refused} other requests refused"
        )
        first = [f"unused, the first: {self.unused[0]}"] if self.unused else []
        return "\n".join([line, *self.rules, *first, *(f"stopped: {stop}" for stop in self.stops)])


class ReverseProxy:
    """Serve `http://127.0.0.1:PORT/ENDPOINT/...` and `/c/CELL/ENDPOINT/...`, recorded by cell.

    folder: where the cassettes are, one a cell. mode: "record" sends what is not recorded,
    "replay" never sends. What stops a cell stops all its later calls.
    recorder: of the only cell, where somebody else keeps it. listener: a socket that listens
    already. keys: the environment, or whatever else holds the keys by their variables.
    """

    def __init__(
        self,
        folder: Path,
        endpoints: Mapping[str, ServedEndpoint],
        mode: Literal["record", "replay"],
        *,
        recorder: Recorder | None = None,
        listener: socket.socket | None = None,
        keys: Mapping[str, str] | None = None,
        report: Callable[[str], None] = lambda words: print(words, file=sys.stderr, flush=True),
    ) -> None:
        self._folder, self._endpoints, self._records = folder, endpoints, mode == "record"
        self._report = report
        self._recorder, self._listener = recorder, listener
        environment = os.environ if keys is None else keys
        self._keys = keys_of(endpoints, environment) if self._records else []
        self._key_headers = {
            name: endpoint.key_headers(environment) if self._records else {}
            for name, endpoint in endpoints.items()
        }
        self._cells: dict[str, RecordingTransport] = {}
        self._network: Any = None
        self._server = Server(self._handle)
        self._websockets = self._refused = 0
        self._stops: dict[str, str] = {}
        self.port = 0

    async def start(self, port: int = 0) -> None:
        """Listen on a port of this machine alone; 0 takes a free one."""
        if self._records:
            self._network = way_out(httpx, asynchronous=True, options={})
        if self._recorder is not None:
            self._cells[ONLY_CELL] = RecordingTransport(self._recorder, inner=self._network)
        elif not self._records:
            self._open_recorded()
        self.port = await self._server.start(port, self._listener)

    def url(self, endpoint: str, cell: str = "") -> str:
        """Return the base URL that a client of an endpoint is to use."""
        prefix = f"/c/{cell}" if cell else ""
        return f"http://127.0.0.1:{self.port}{prefix}/{endpoint}"

    async def close(self, patience: float = 2.0) -> ProxyTally:
        """Listen no more, write the cassettes, and return what happened."""
        await self._server.close(patience)
        recorders = {cell: transport.recorder for cell, transport in self._cells.items()}
        unused = [] if self._records else self._unused()
        for cell, transport in self._cells.items():
            try:
                await transport.aclose()
            except (RunStopped, HarnessError) as error:
                self._stops.setdefault(cell, str(error))
        if self._network is not None:
            await self._network.aclose()
        return ProxyTally(
            len(recorders),
            sum(recorder.matched for recorder in recorders.values()),
            sum(recorder.sent for recorder in recorders.values()),
            unused,
            self._websockets,
            self._refused,
            list(self._stops.values()),
            sorted({words for r in recorders.values() if (words := r.cassette.rules.words())}),
        )

    def _unused(self) -> list[str]:
        return [
            f"{cell}: {name}"
            for cell, transport in self._cells.items()
            for name in transport.recorder.unused()
        ]

    def _open_recorded(self) -> None:
        """Open every cassette at once: damage shows, and so does a cell that nobody asks for."""
        for path in sorted(self._folder.glob("*.json")):
            if is_cassette(path):
                self._cells[path.stem] = RecordingTransport(path)
        if not self._cells:
            raise UsageError(f"{self._folder}: nothing is recorded here. Record first: --record")

    async def _handle(self, incoming: Incoming, out: Outgoing) -> None:
        try:
            request, cell = self._request(incoming)
        except _Refused as refusal:
            await out.whole(refusal.status, [JSON, NEVER_AGAIN], _error("refused", str(refusal)))
            return
        try:
            response = await self._transport(cell).handle_async_request(request)
            await _pass_on(response, out)
        except (RunStopped, HarnessError) as stop:
            await self._stop(cell, stop, out)
        except httpx.TransportError:  # live or recorded: the client sees the connection break
            out.drop()

    async def _stop(self, cell: str, stop: RunStopped | HarnessError, out: Outgoing) -> None:
        words = str(stop)
        if cell not in self._stops:
            self._stops[cell] = words
            self._report(words)
        if out.started:
            out.drop()
            return
        kind = "miss" if isinstance(stop, Miss) else type(stop).__name__
        await out.whole(400, [JSON, NEVER_AGAIN], _error(kind, words))

    def _transport(self, cell: str) -> RecordingTransport:
        if cell not in self._cells:
            path = self._folder / f"{file_name(cell)}.json"
            if not self._records:
                raise UsageError(f"{path}: this cell is not recorded.")
            self._cells[cell] = RecordingTransport(
                path, mode="new_episodes", inner=self._network, keys=self._keys
            )
        return self._cells[cell]

    def _request(self, incoming: Incoming) -> tuple[httpx.Request, str]:
        """Return the request that goes on, and its cell; raises _Refused."""
        host = incoming.header(b"host").lower()
        if host not in (f"127.0.0.1:{self.port}", f"localhost:{self.port}"):
            self._refused += 1
            raise _Refused(403, f"Host {host!r} is not this proxy: it serves this machine alone.")
        if "websocket" in incoming.header(b"upgrade").lower():
            self._websockets += 1
            raise _Refused(501, "websockets are not recorded.")
        target = self._target(incoming.target)
        extensions: dict[str, object] = {
            "timeout": WAITS,
            "endpoint": target.endpoint,
            "pushed": True,
        }
        if call := incoming.header(CALL):
            extensions["call"] = call
        headers = _passed_on(incoming.headers)
        keys = self._key_headers[target.endpoint]
        if keys:
            headers = [pair for pair in headers if not is_secret_header(pair[0].decode("latin-1"))]
            headers += [(name.encode(), value.encode()) for name, value in keys.items()]
        request = httpx.Request(
            incoming.method,
            target.url,
            headers=headers,
            content=incoming.body or None,
            extensions=extensions,
        )
        return request, target.cell

    def _target(self, target: str) -> CallTarget:
        path, question, query = target.partition("?")
        parts = path.split("/", 4)
        cell = ONLY_CELL
        if path.startswith("/c/") and len(parts) > 3:
            cell, name, rest = parts[2], parts[3], "/".join(parts[4:])
        else:
            name, rest = parts[1] if len(parts) > 1 else "", "/".join(parts[2:])
        if name not in self._endpoints or not path.startswith("/"):
            self._refused += 1
            names = ", ".join(f"/{name}/..." for name in self._endpoints)
            raise _Refused(404, f"{path} is no path of this proxy; there are {names}")
        if not CELL.fullmatch(cell):
            self._refused += 1
            raise _Refused(404, f"{cell!r} is no name of a cell")
        base = self._endpoints[name].base_url.rstrip("/")
        return CallTarget(cell, name, base + (f"/{rest}" if rest else "") + question + query)


class _Refused(Exception):
    """A request that no endpoint gets; status: what the client is told."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


async def _pass_on(response: Any, out: Outgoing) -> None:
    """Pass an answer on piece by piece; its end waits for the disk."""
    headers = _passed_on([(name.lower(), value) for name, value in response.headers.raw])
    length = [pair for pair in response.headers.raw if pair[0].lower() == b"content-length"]
    headers += [(name.lower(), value) for name, value in length]
    try:
        await out.start(response.status_code, response.reason_phrase, headers)
        async for piece in response.stream:
            await out.send(piece)
        await out.end()
    except (ClientLeft, asyncio.CancelledError):
        if hasattr(response.stream, "hang_up"):
            response.stream.hang_up()
        raise
    finally:
        await response.aclose()


def _passed_on(headers: Headers) -> Headers:
    """Return the headers that are meant for the other end."""
    listed = [value for name, value in headers if name == b"connection"]
    named = {name.strip().lower() for value in listed for name in value.split(b",")}
    return [pair for pair in headers if pair[0] not in HOP_BY_HOP and pair[0] not in named]


def _error(kind: str, words: str) -> bytes:
    """Return an error in a form that the usual clients show the message of."""
    error = {"type": kind, "code": f"harness_{kind}", "message": words}
    return json.dumps({"type": "error", "error": error}).encode()
