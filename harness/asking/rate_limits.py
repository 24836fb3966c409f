"""Keep to an endpoint's limits: requests at a time, requests and tokens a minute.

Only a 429 lowers the number at a time (to half, at least 1); a run of answers raises it again by
one. Other failures say nothing about the load we make.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import NamedTuple

import httpx

from harness.errors import Incomplete

MINUTE = 60.0
CHARACTERS_A_TOKEN = 4
ANSWERS_TO_RISE = 10
TOO_MANY = 429


class Limits(NamedTuple):
    """What an endpoint allows; None where it names no limit."""

    at_once: int
    requests_a_minute: int | None = None
    tokens_a_minute: int | None = None


class LimitTransport(httpx.BaseTransport):
    """Send within the limits, wait where they are reached, and send none once `stop` is set."""

    def __init__(self, inner: httpx.BaseTransport, limits: Limits, stop: threading.Event) -> None:
        self._inner, self._stop = inner, stop
        self._places = _Places(limits.at_once)
        self._paces = [
            _Pace(limit, stop)
            for limit in (limits.requests_a_minute, limits.tokens_a_minute)
            if limit is not None
        ]
        self._counts_tokens = limits.tokens_a_minute is not None
        self._counts_requests = limits.requests_a_minute is not None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Wait for a place, send, and read the whole answer before giving the place up."""
        self._places.take()
        try:
            self._wait(request)
            response = self._inner.handle_request(request)
            stream = response.stream  # closed on its own: a closed response gives nothing more
            assert isinstance(stream, httpx.SyncByteStream)
            try:
                body = b"".join(stream)
            finally:
                stream.close()
            self._places.learn(response.status_code)
        finally:
            self._places.give()
        response.stream = httpx.ByteStream(body)
        return response

    def _wait(self, request: httpx.Request) -> None:
        sizes = [1] if self._counts_requests else []
        if self._counts_tokens:
            sizes.append(len(request.read()) // CHARACTERS_A_TOKEN)
        for pace, size in zip(self._paces, sizes, strict=True):
            pace.wait(size)
        if self._stop.is_set():
            raise stopped(request)

    def close(self) -> None:
        """Close the transport below."""
        self._inner.close()


def stopped(request: httpx.Request) -> Incomplete:
    """Say that a request was not sent because the recording is ending."""
    return Incomplete(
        f"{request.extensions.get('call')}: not sent, the recording is stopping. "
        "It will be asked when `harness record` goes on."
    )


class _Places:
    """So many requests at a time, fewer after a 429."""

    def __init__(self, places: int) -> None:
        self._most = self._allowed = places
        self._taken = self._answers = 0
        self._free = threading.Condition()

    def take(self) -> None:
        with self._free:
            self._free.wait_for(lambda: self._taken < self._allowed)
            self._taken += 1

    def give(self) -> None:
        with self._free:
            self._taken -= 1
            self._free.notify()

    def learn(self, status: int) -> None:
        with self._free:
            if status == TOO_MANY:
                self._allowed, self._answers = max(1, self._allowed // 2), 0
                return
            self._answers += status < 400
            if self._answers >= ANSWERS_TO_RISE and self._allowed < self._most:
                self._allowed, self._answers = self._allowed + 1, 0
                self._free.notify()


class _Pace:
    """At most so much in any minute; one request larger than all of it goes alone."""

    def __init__(self, a_minute: int, stop: threading.Event) -> None:
        self._a_minute, self._stop = a_minute, stop
        self._sent: deque[tuple[float, int]] = deque()
        self._guard = threading.Lock()

    def wait(self, size: int) -> None:
        """Wait until this much may be sent, or the recording stops."""
        while not self._stop.is_set():
            pause = self._take(size)
            if pause is None:
                return
            self._stop.wait(pause)

    def _take(self, size: int) -> float | None:
        with self._guard:
            time_now = time.monotonic()
            while self._sent and self._sent[0][0] <= time_now - MINUTE:
                self._sent.popleft()
            if self._sent and sum(sent for _, sent in self._sent) + size > self._a_minute:
                return self._sent[0][0] + MINUTE - time_now
            self._sent.append((time_now, size))
            return None
