"""Try again, politely and not for ever: a transport that stands under the recorder.

What is worth another try: 408, 409, 425, 429, every 5xx (529 too), and connections that fail, but
not requests that cannot be sent at all. A Retry-After is honoured; one that is longer than we are
ready to wait ends the tries. Once the recording is to stop, nobody waits and nothing new is sent.

So is bad luck that only the body of an answer tells (faults.py). When the tries end with such an
answer it becomes an httpx.TransportError: passed on as it is, the recorder would keep it as the
answer. A key that is refused there is raised at once, and of that the recorder keeps nothing.

A reply that cannot be read, to a request that met the same in an earlier sitting (`earlier` among
its extensions, the words of its failures), is passed on for good where the request says so
(`settles`): the caller counts that answer as missing.
"""

from __future__ import annotations

import email.utils
import re
import threading
import time
from collections.abc import Callable

import httpx

from harness.asking.faults import NOT_READ, UNREADABLE, Luck, bad_luck
from harness.asking.rate_limits import stopped
from harness.errors import is_passing

TRIES = 6
LONGEST_WAIT = 300.0
HOPELESS = (httpx.LocalProtocolError, httpx.UnsupportedProtocol)


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
        """Return the first answer that is not worth another try, or the last one."""
        attempts: list[dict[str, object]] = []
        while True:
            seconds_asked = None
            last = len(attempts) + 1 >= self._tries
            try:
                response = self._inner.handle_request(request)
                luck = bad_luck(request, response)
            except httpx.TransportError as error:
                if last or isinstance(error, HOPELESS):
                    error.attempts = attempts  # type: ignore[attr-defined]
                    raise
                attempts.append({"error": type(error).__name__})
            else:
                seconds_asked = _retry_after(response)
                passing = luck is not None or is_passing(response.status_code)
                if last or not passing or (seconds_asked or 0) > LONGEST_WAIT:
                    return _settled(request, response, attempts, luck)
                attempts.append(_attempt(response, luck))
                response.close()
            self._retried()
            self._pause(request, seconds_asked, len(attempts))

    def _pause(self, request: httpx.Request, seconds_asked: float | None, tries: int) -> None:
        backoff = min(self._first_wait * 2 ** (tries - 1), 60.0)
        if self._stop.wait(backoff if seconds_asked is None else seconds_asked):
            raise stopped(request)

    def close(self) -> None:
        """Close the transport below."""
        self._inner.close()


def _attempt(response: httpx.Response, luck: Luck | None) -> dict[str, object]:
    attempt = {
        "status": response.status_code,
        "retry_after": response.headers.get("retry-after"),
    }
    return attempt if luck is None else {**attempt, "error": luck.name}


def _settled(
    request: httpx.Request,
    response: httpx.Response,
    attempts: list[dict[str, object]],
    luck: Luck | None,
) -> httpx.Response:
    """Return the answer that ends the tries, with the earlier ones."""
    if luck is None or (luck.name == UNREADABLE and _was_unreadable(request)):
        response.extensions["attempts"] = attempts
        return response
    response.close()
    error = httpx.TransportError(f"{luck.words} to the last try")
    error.attempts = attempts  # type: ignore[attr-defined]
    raise error


def _was_unreadable(request: httpx.Request) -> bool:
    earlier = request.extensions.get("earlier", ())
    return bool(request.extensions.get("settles")) and any(NOT_READ in words for words in earlier)


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds that are asked for; None where none are, or none that can be read."""
    value = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?", value):
        return float(value)
    when = email.utils.parsedate_tz(value)
    try:
        return max(0.0, email.utils.mktime_tz(when) - time.time()) if when else None
    except (ValueError, OverflowError):  # a date that is none
        return None
