"""Try again, politely and not for ever: a transport that stands under the recorder.

What is worth another try: 408, 409, 425, 429, every 5xx (529 too), and connections that fail. A
Retry-After is honoured; one that is longer than we are ready to wait ends the tries.
"""

from __future__ import annotations

import email.utils
import threading
import time
from collections.abc import Callable

import httpx

from harness.errors import Incomplete

TRIES = 6
LONGEST_WAIT = 300.0


class RetryTransport(httpx.BaseTransport):
    """Send through `inner`, again where it helps; earlier tries go along as `attempts`.

    stop: an event that ends all waiting. retried: called once for each further try.
    """

    def __init__(
        self,
        inner: httpx.BaseTransport,
        stop: threading.Event,
        *,
        tries: int = TRIES,
        first_wait: float = 1.0,
        retried: Callable[[], None] = lambda: None,
    ) -> None:
        self._inner, self._stop, self._tries = inner, stop, tries
        self._first_wait, self._retried = first_wait, retried

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Give the first answer that is not worth another try, or the last one."""
        attempts: list[dict[str, object]] = []
        while True:
            wait = min(self._first_wait * 2 ** len(attempts), 60.0)
            last = len(attempts) + 1 >= self._tries
            try:
                response = self._inner.handle_request(request)
            except httpx.TransportError as error:
                if last:
                    error.attempts = attempts  # type: ignore[attr-defined]
                    raise
                attempts.append({"error": type(error).__name__})
            else:
                asked = _retry_after(response)
                if last or not _worth_it(response.status_code) or (asked or 0) > LONGEST_WAIT:
                    response.extensions["attempts"] = attempts
                    return response
                attempts.append(
                    {
                        "status": response.status_code,
                        "retry_after": response.headers.get("retry-after"),
                    }
                )
                response.close()
                wait = wait if asked is None else asked
            self._retried()
            if self._stop.wait(wait):
                raise Incomplete(
                    f"{request.extensions.get('call')}: stopped while waiting to try again"
                )

    def close(self) -> None:
        """Close the transport below."""
        self._inner.close()


def _worth_it(status: int) -> bool:
    return status >= 500 or status in (408, 409, 425, 429)


def _retry_after(response: httpx.Response) -> float | None:
    value = response.headers.get("retry-after", "").strip()
    if value.replace(".", "", 1).isdigit():
        return float(value)
    when = email.utils.parsedate_tz(value)
    return max(0.0, email.utils.mktime_tz(when) - time.time()) if when else None


class LimitTransport(httpx.BaseTransport):
    """Keep to so many requests at a time for one endpoint."""

    def __init__(self, inner: httpx.BaseTransport, at_once: int) -> None:
        self._inner, self._places = inner, threading.BoundedSemaphore(at_once)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Wait for a place, send, and read the whole answer before giving the place up."""
        with self._places:
            response = self._inner.handle_request(request)
            body = b"".join(response.stream)  # type: ignore[arg-type]
            response.close()
        response.stream = httpx.ByteStream(body)
        return response

    def close(self) -> None:
        """Close the transport below."""
        self._inner.close()
