"""A server of a corpus on loopback: HTTP/1.1 with connections that are kept, a thread for each."""

from __future__ import annotations

import socketserver
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.corpus.index import Index
from harness.corpus.site import Site
from harness.errors import UsageError

HOST = "127.0.0.1"


class CorpusServer(ThreadingHTTPServer):
    """Serve an index at a port of this machine, 0 for any that is free; `url` is the address.

    `serve_forever` serves until another thread calls `shutdown`, `with` closes the port at the end.
    Raises UsageError where the port cannot be used.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, index: Index, port: int) -> None:
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise UsageError(
                f"port {port} on {HOST} cannot be used ({error.strerror}). Is another server "
                "there? End it, or name another --port."
            ) from error
        self.url = f"http://{HOST}:{self.server_port}"
        self.site = Site(index, self.url)

    def server_bind(self) -> None:
        """Bind without the look-up of a host name that http.server makes."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.socket.getsockname()[1]

    def handle_error(self, request: Any, client_address: object) -> None:
        """Say nothing of a client that leaves."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together
    server: CorpusServer

    def do_GET(self) -> None:
        response = self.server.site.answer(self.path)
        self.send_response(response.status)
        self.send_header("Content-Type", response.kind)
        self.send_header("Content-Length", str(len(response.body)))
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    do_HEAD = do_GET

    def version_string(self) -> str:
        return "harness-corpus"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
