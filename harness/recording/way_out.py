"""The transports to the network that stand under a recorder when none is given."""

from __future__ import annotations

import sys
import urllib.request
import warnings
from collections.abc import Mapping
from typing import Any

MOST_CONNECTIONS, MOST_KEPT_ALIVE = 1000, 100  # as many clients of providers have them
OF_A_TRANSPORT = {"verify", "cert", "http1", "http2", "limits", "trust_env"}
OPTIONS = OF_A_TRANSPORT | {"proxy", "mounts"}


def way_out(library: Any, *, asynchronous: bool, options: Mapping[str, object]) -> object:
    """Return a transport of httpx or httpx2 that reaches what a client with these options would.

    options: those of a client that shape its connections (OPTIONS). As with a client, the
    environment's proxies count unless trust_env is False.
    """
    default = library.Limits(
        max_connections=MOST_CONNECTIONS, max_keepalive_connections=MOST_KEPT_ALIVE
    )
    complete = {"limits": default, **options}
    proxied = complete.get("trust_env", True) and urllib.request.getproxies()
    if proxied or not options.keys() <= OF_A_TRANSPORT:
        return (_AsyncClient if asynchronous else _SyncClient)(library, complete)
    return (library.AsyncHTTPTransport if asynchronous else library.HTTPTransport)(**complete)


def warn_of_full_pool(error: Exception, options: Mapping[str, Any]) -> None:
    """Say what a PoolTimeout means: the pool is the recorder's, not that of the client."""
    if type(error).__name__ != "PoolTimeout":
        return
    limits = options.get("limits")
    most = limits.max_connections if limits is not None else MOST_CONNECTIONS
    warnings.warn(
        f"all {most} connections of the recording transport were in use (PoolTimeout). The limits "
        "of a client do not reach its transport: give them to RecordingTransport.for_client.",
        stacklevel=2,
    )


class _SyncClient:
    """A client used as a transport: it chooses the proxy or mount for each address."""

    def __init__(self, library: Any, options: Mapping[str, object]) -> None:
        self._client = library.Client(**options)

    def handle_request(self, request: object) -> object:
        return self._client.send(request, stream=True, follow_redirects=False)

    def close(self) -> None:
        self._client.close()


class _AsyncClient:
    """The same for async clients."""

    def __init__(self, library: Any, options: Mapping[str, Any]) -> None:
        self._client = library.AsyncClient(**options)

    async def handle_async_request(self, request: object) -> object:
        return await self._client.send(request, stream=True, follow_redirects=False)

    async def aclose(self) -> None:
        await self._client.aclose()


def library_of(request: object) -> Any:
    """Return the library whose class a request is of: httpx, or its fork httpx2."""
    return sys.modules[type(request).__module__.partition(".")[0]]
