"""Headers and query parameters that a study file adds to requests, checked."""

from __future__ import annotations

import re
from typing import Annotated

import httpx
from pydantic import AfterValidator

from harness.recording.redaction import is_secret_header, is_secret_parameter

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
OURS = ("accept-encoding", "connection", "content-length", "content-type", "host", "te")
HOST = re.compile(
    r"[\w~-]{1,63}(?:\.[\w~-]{1,63})*\.?", re.ASCII
)  # RFC 1035, 2.3.4: 63 octets a label
MOST_PORTS = 65_535
AN_ADDRESS = "expected one like https://api.example.org/v1 or http://localhost:8000/v1"
OURS_TOO = ("transfer-encoding", "upgrade")
A_KEY = "the file is published. Put the key into an environment variable and name it: api_key_env"


def _checked_headers(headers: dict[str, str]) -> dict[str, str]:
    """Return headers as they are; raises ValueError for one that must not stand in a study file."""
    for name, value in headers.items():
        _require_token(name)
        if name.lower() in (*OURS, *OURS_TOO):
            raise ValueError(f"{name!r} is set by the harness itself; leave it out")
        if is_secret_header(name):
            raise ValueError(f"{name!r} looks like a place for a key, and {A_KEY}, key_header")
        if not value.isascii() or not value.isprintable() or value != value.strip():
            raise ValueError(f"{name!r}: a header's value is printable ASCII, got {value!r}")
    lowered = [name.lower() for name in headers]
    if len(set(lowered)) < len(lowered):
        raise ValueError("a header stands twice; capitals do not count")
    return headers


def _checked_query(query: dict[str, str]) -> dict[str, str]:
    """Return query parameters as they are; raises ValueError for one that carries a key."""
    for name in query:
        if not name:
            raise ValueError("a query parameter needs a name")
        if is_secret_parameter(name):
            raise ValueError(f"{name!r} looks like a place for a key, and {A_KEY}")
    return query


def _checked_key_header(name: str) -> str:
    """Return the header that carries a key; it must be one whose value is never kept."""
    _require_token(name)
    if not is_secret_header(name):
        raise ValueError(
            f"{name!r} is not recognized as a header for keys, so its value could be kept; "
            "expected a name that ends in key, token, secret or authorization, such as 'api-key'"
        )
    return name


def _checked_base_url(url: str) -> str:
    """Return an address as it is; raises ValueError where a query or a fragment follows."""
    if "?" in url or "#" in url:
        raise ValueError(
            f"{url!r} goes on behind the path; write what is behind the ? as "
            'query = { "api-version" = "..." }'
        )
    return _checked_address(url)


def _checked_source_url(url: str) -> str:
    """Return a source's address as it is; {domain} in it stands for a word."""
    _checked_address(url.replace("{domain}", "domain"))
    return url


def _checked_address(url: str) -> str:
    """Return an address as it is; raises ValueError for one to which nothing can be sent."""
    try:
        parsed = httpx.URL(url)
        name, host = parsed.host, parsed.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError) as error:
        raise ValueError(f"{url!r} is no address: {error}; {AN_ADDRESS}") from error
    if not (HOST.fullmatch(host) or ":" in host):  # the latter: IPv6, which httpx has read
        raise ValueError(f"{url!r}: {name!r} is no name of a host; {AN_ADDRESS}")
    if parsed.port is not None and not 1 <= parsed.port <= MOST_PORTS:
        raise ValueError(f"{url!r}: there is no port {parsed.port}; {AN_ADDRESS}")
    return url


def _require_token(name: str) -> None:
    if not TOKEN.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a header")


Headers = Annotated[dict[str, str], AfterValidator(_checked_headers)]
Query = Annotated[dict[str, str], AfterValidator(_checked_query)]
KeyHeader = Annotated[str, AfterValidator(_checked_key_header)]
BaseUrl = Annotated[str, AfterValidator(_checked_base_url)]
SourceUrl = Annotated[str, AfterValidator(_checked_source_url)]
