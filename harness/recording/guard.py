"""No network during a replay: an audit hook that refuses connections and new programs.

An audit hook cannot be taken out again, so it asks a flag; outside `closed()` it lets all pass.
"""

from __future__ import annotations

import contextlib
import platform
import sys
import threading
from collections.abc import Iterator
from typing import Any

from harness.errors import Blocked

REFUSED_EVENTS = frozenset(
    {
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.gethostbyaddr",
        "socket.getnameinfo",
        "socket.sendto",
        "socket.sendmsg",
        "socket.bind",
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "pty.spawn",
    }
)


class _Guard:
    """Whether the network is closed, and how often something tried to get through."""

    installed = False
    closed = 0
    attempts = 0
    lifted = threading.local()


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if _Guard.closed and event in REFUSED_EVENTS and not getattr(_Guard.lifted, "depth", 0):
        _Guard.attempts += 1
        raise Blocked(
            f"{event} {_target(arguments)}: blocked. A replay reaches no network and "
            "starts no program; something was built without the recording transport."
        )


def _target(arguments: tuple[object, ...]) -> str:
    shown = [argument for argument in arguments if isinstance(argument, (str, tuple, int, list))]
    return " ".join(map(str, shown))[:200]


def close() -> None:
    """Close the network for this process from here on; children call this first."""
    if not _Guard.installed:
        platform.platform()  # starts `uname -p` once a process; an SDK asks for it later
        sys.addaudithook(_refuse)
        _Guard.installed = True
    _Guard.closed += 1


def open_again() -> None:
    """Let this process reach the network again."""
    _Guard.closed = max(0, _Guard.closed - 1)


def attempts() -> int:
    """Count the refused attempts of this process so far."""
    return _Guard.attempts


@contextlib.contextmanager
def lifted() -> Iterator[None]:
    """Let this thread alone start a program: one that is kept apart from the network itself."""
    depth = getattr(_Guard.lifted, "depth", 0)
    _Guard.lifted.depth = depth + 1
    try:
        yield
    finally:
        _Guard.lifted.depth = depth


@contextlib.contextmanager
def closed() -> Iterator[None]:
    """Close the network for the time of a `with` block."""
    close()
    try:
        yield
    finally:
        open_again()
