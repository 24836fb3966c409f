"""An endpoint's limits: kept, lowered by a 429 alone, and left at once when all stops."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from loopback import Answer, Loopback, Received

from harness.asking import rate_limits as limits
from harness.asking.rate_limits import Limits, LimitTransport
from harness.errors import Incomplete


class Busy:
    """A server that knows how many requests it has at a time."""

    def __init__(self, statuses: Callable[[int], int] = lambda _: 200) -> None:
        self.now = self.most = 0
        self.guard = threading.Lock()
        self.statuses = statuses

    def __call__(self, received: Received) -> Answer:
        with self.guard:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        with self.guard:
            self.now -= 1
        return Answer(self.statuses(received.number))


def post_all(url: str, limit: Limits, count: int) -> None:
    transport = LimitTransport(httpx.HTTPTransport(), limit, threading.Event())
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: post(transport, url), range(count)))


def post(transport: httpx.BaseTransport, url: str, body: bytes = b"{}") -> int:
    return transport.handle_request(httpx.Request("POST", url, content=body)).status_code


def test_no_more_than_so_many_at_a_time() -> None:
    """Sixteen threads, three places."""
    busy = Busy()
    with Loopback(busy) as server:
        post_all(server.url, Limits(3), 30)
    assert busy.most == 3


def test_a_429_lowers_the_number_and_answers_raise_it_again() -> None:
    """Half after a 429, one more after ten answers, never above the limit."""
    places = limits._Places(8)
    places.learn(429)
    assert places._allowed == 4
    places.learn(429)
    places.learn(429)
    places.learn(429)
    assert places._allowed == 1
    for _ in range(10):
        places.learn(200)
    assert places._allowed == 2
    for _ in range(1000):
        places.learn(200)
    assert places._allowed == 8


@pytest.mark.parametrize("status", [500, 503, 529, 408])
def test_other_failures_say_nothing_about_our_load(status: int) -> None:
    """Only a 429 lowers concurrency."""
    places = limits._Places(8)
    for _ in range(20):
        places.learn(status)
    assert places._allowed == 8


def test_requests_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third of two a minute waits for the first to be a minute old."""
    monkeypatch.setattr(limits, "MINUTE", 0.4)
    transport_limit = Limits(4, requests_a_minute=2)
    with Loopback(lambda _: Answer()) as server:
        transport = LimitTransport(httpx.HTTPTransport(), transport_limit, threading.Event())
        began = time.monotonic()
        for _ in range(2):
            post(transport, server.url)
        post(transport, server.url)
        assert time.monotonic() - began >= 0.4


def test_tokens_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompts count by their size, and one that is larger than the limit goes alone."""
    monkeypatch.setattr(limits, "MINUTE", 0.4)
    with Loopback(lambda _: Answer()) as server:
        limit = Limits(4, tokens_a_minute=100)
        transport = LimitTransport(httpx.HTTPTransport(), limit, threading.Event())
        began = time.monotonic()
        post(transport, server.url, b"x" * 4000)
        post(transport, server.url, b"x" * 40)
        assert time.monotonic() - began >= 0.4


def test_a_stop_ends_the_waiting_and_sends_nothing() -> None:
    """A request that waits for its minute is not sent once the recording stops."""
    stop = threading.Event()
    with Loopback(lambda _: Answer()) as server:
        limit = Limits(4, requests_a_minute=1)
        transport = LimitTransport(httpx.HTTPTransport(), limit, stop)
        post(transport, server.url)
        threading.Timer(0.1, stop.set).start()
        with pytest.raises(Incomplete, match="not sent"):
            post(transport, server.url)
        assert server.answered == 1
