"""Whether an address is on the public internet, after its name is resolved."""

from __future__ import annotations

import ipaddress
import socket

import httpx

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
NAT64 = ipaddress.ip_network("64:ff9b::/96")


def resolved(url: httpx.URL) -> list[str]:
    """Return the numeric addresses of a URL's host; raises httpx.ConnectError where it has none."""
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        listed = socket.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpx.ConnectError(f"{url.host} has no address ({error})") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in listed))


def is_public(numeric: str) -> bool:
    """Tell whether a numeric address is one of the public internet's.

    Not public is what is private, of this machine or link, multicast or reserved, also where such
    an IPv4 address hides in one of IPv6 (mapped, NAT64, 6to4, Teredo).
    """
    address: Address = ipaddress.ip_address(numeric.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address in NAT64 or address.sixtofour is not None or address.teredo is not None:
            return False
        address = address.ipv4_mapped or address
    return address.is_global and not address.is_multicast
