"""Notice an endpoint that nobody answers at, before every cell has waited for it in vain."""

from __future__ import annotations

import threading

import httpx

from harness.errors import Incomplete

IN_A_ROW = 2
UNREACHED = (httpx.ConnectError, httpx.ConnectTimeout)


class EndpointDown(Incomplete):
    """No connection to an endpoint could be made, twice in a row with all their tries."""


class ReachTransport(httpx.BaseTransport):
    """Send through `inner`; raise EndpointDown for the second call in a row without a connection.

    name, base_url: the endpoint's, for the message. A call that an optional source may leave
    unanswered is passed on and not counted.
    """

    def __init__(self, inner: httpx.BaseTransport, name: str, base_url: str) -> None:
        self._inner, self._name, self._base_url = inner, name, base_url
        self._in_a_row = 0
        self._guard = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request, all tries included."""
        try:
            response = self._inner.handle_request(request)
        except UNREACHED as error:
            if not request.extensions.get("optional") and self._failures() >= IN_A_ROW:
                raise self._down(request, error) from error
            raise
        with self._guard:
            self._in_a_row = 0
        return response

    def close(self) -> None:
        """Close the transport below."""
        self._inner.close()

    def _failures(self) -> int:
        with self._guard:
            self._in_a_row += 1
            return self._in_a_row

    def _down(self, request: httpx.Request, error: httpx.TransportError) -> EndpointDown:
        return EndpointDown(
            f"{request.extensions.get('call')}: {self._name} cannot be reached at "
            f"{self._base_url} ({type(error).__name__}: {error}), for the second call in a row. "
            "The recording stops here and nothing is lost. Start the server, or correct base_url "
            "in study.toml, then go on with `harness record`."
        )
