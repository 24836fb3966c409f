"""A proxy that runs: in the foreground until a signal, or in a thread beside a program."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from typing import Self

from harness.proxy.reverse import ProxyTally, ReverseProxy

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve(proxy: ReverseProxy, port: int, started: Callable[[], None]) -> ProxyTally:
    """Serve until a signal comes (Ctrl-C, SIGTERM, SIGHUP); then save, and return what happened."""

    async def run() -> ProxyTally:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        for number in SIGNALS:
            loop.add_signal_handler(number, stop.set)
        await proxy.start(port)
        started()
        await stop.wait()
        return await proxy.close()

    return asyncio.run(run())


class RunningProxy:
    """A proxy in a thread of its own while the context lasts; then `tally` says what happened."""

    def __init__(self, proxy: ReverseProxy) -> None:
        self.proxy = proxy
        self.tally: ProxyTally | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self.proxy.start(), self._loop).result()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            closing = asyncio.run_coroutine_threadsafe(self.proxy.close(), self._loop)
            self.tally = closing.result()
        finally:
            self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
