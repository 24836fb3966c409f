"""Hosts of addresses."""

from __future__ import annotations

import re

_host = re.compile(r"^[a-z]+://(?:[^/@]*@)?(\[[^\]]*\]|[^/:?#]+)")


def host_of(url: str) -> str:
    """Return the host of an address."""
    match = _host.match(url.lower())
    return match[1] if match else ""


def is_local(host: str) -> bool:
    """Tell whether a host is this machine."""
    return host in ("localhost", "[::1]") or host.startswith("127.")
