"""Connections that go past the recording transport: refused, or counted.

An audit hook sees what Python's own sockets do; what a C library, another process or uvloop does,
it does not see.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

from harness.errors import Blocked

CONNECTIONS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
LOOK_UPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_sending: ContextVar[bool] = ContextVar("harness_sending", default=False)


@dataclass
class Bypass:
    """What went past the transport: `connections` has an address each, or a name looked up."""

    refuses: bool
    connections: list[str] = field(default_factory=list)


class _Hook:
    """Whether the hook stands, who looks on, and how many calls are being sent by transports."""

    installed = False
    watching: list[Bypass] = []
    sending = 0


@contextlib.contextmanager
def sending() -> Iterator[None]:
    """Let connections pass that a transport makes."""
    token = _sending.set(True)
    _Hook.sending += 1
    try:
        yield
    finally:
        _Hook.sending -= 1
        _sending.reset(token)


@contextlib.contextmanager
def offline() -> Iterator[Bypass]:
    """Refuse every connection that goes past a RecordingTransport: it raises Blocked.

    Blocked is no Exception, so that no client library can retry it away.
    """
    with _watched(Bypass(refuses=True)) as bypass:
        yield bypass


@contextlib.contextmanager
def watch() -> Iterator[Bypass]:
    """Count the connections that go past every RecordingTransport, and warn of them at the end."""
    with _watched(Bypass(refuses=False)) as bypass:
        yield bypass
    if bypass.connections:
        warnings.warn(
            f"{len(bypass.connections)} connections went past the recording transport, the first "
            f"to {bypass.connections[0]}: what they brought is not recorded.",
            stacklevel=3,
        )


@contextlib.contextmanager
def _watched(bypass: Bypass) -> Iterator[Bypass]:
    if not _Hook.installed:
        sys.addaudithook(_see)
        _Hook.installed = True
    _Hook.watching.append(bypass)
    try:
        yield bypass
    finally:
        _Hook.watching.remove(bypass)


def _see(event: str, arguments: tuple[object, ...]) -> None:
    if not _Hook.watching or _sending.get():
        return
    if event in CONNECTIONS and (address := _address(arguments)):
        _note(f"{event} {address}", address, _Hook.watching)
    elif event in LOOK_UPS and not _Hook.sending:  # an event loop looks up in other threads
        host = f"{arguments[0]!s:.200}"
        _note(f"{event} {host}", host, [bypass for bypass in _Hook.watching if bypass.refuses])


def _note(words: str, address: str, watching: list[Bypass]) -> None:
    for bypass in watching:
        bypass.connections.append(address)
    if any(bypass.refuses for bypass in watching):
        raise Blocked(
            f"{words}: blocked by harness.offline(). Something connects by itself; build its "
            "client on a RecordingTransport, or let it go through `harness serve`."
        )


def _address(arguments: tuple[object, ...]) -> str:
    """Return host and port; "" for what stays on this machine, such as a Unix socket."""
    address = arguments[1] if len(arguments) > 1 else None
    return f"{address[0]}:{address[1]}" if isinstance(address, tuple) else ""
