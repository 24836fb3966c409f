"""The way out to the pages of search results: what comes back is a page's text, not the page.

This stands under the recorder, so a recording holds the text that prompts were made of, and no
later version of the extractor can change them; beside it, in headers, stand the extractor and its
version, and length and SHA-256 of what the server sent. A host is resolved first, and its address
must be public; the connection goes to the address that was checked. robots.txt is asked for once a
session.
"""

from __future__ import annotations

import hashlib
import importlib
import threading
import time
from types import ModuleType
from typing import Any

import httpx

from harness.asking.sources.public_addresses import is_public, resolved
from harness.errors import UsageError

PAGE, ROBOTS = "page", "robots"  # kinds of requests
MOST_BYTES = 4_000_000
MOST_SECONDS = 30.0
MARKUP = ("text/html", "application/xhtml+xml")
PLAIN = ("text/plain", "text/markdown")
NAMED = ("content-type", "content-language", "last-modified", "location", "retry-after")


class PageTransport(httpx.BaseTransport):
    """Send pages' requests through `inner`, and everything else as it is.

    allow_private: whether addresses that are not public may be read, as in a test on this machine.
    """

    def __init__(self, inner: httpx.BaseTransport, *, allow_private: bool) -> None:
        self._inner, self._allow_private = inner, allow_private
        self._robots: dict[str, httpx.Response] = {}
        self._guard = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a page with its text; raises httpx.UnsupportedProtocol for what is not read."""
        kind = request.extensions.get("kind")
        if kind == ROBOTS:
            return self._robots_of(request)
        return self._fetched(request) if kind == PAGE else self._inner.handle_request(request)

    def close(self) -> None:
        """Close the transport below."""
        self._inner.close()

    def _robots_of(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url)
        with self._guard:
            asked_before = self._robots.get(url)
        response = asked_before or self._fetched(request)
        with self._guard:
            self._robots[url] = response
        return _settled(response.status_code, response.headers.raw, response.content)

    def _fetched(self, request: httpx.Request) -> httpx.Response:
        response = self._sent(request)
        try:
            body = _bounded(response)
        finally:
            response.close()
        headers = [(name, response.headers[name]) for name in NAMED if name in response.headers]
        if request.extensions.get("kind") == PAGE and response.status_code == httpx.codes.OK:
            headers, body = _as_text(response.headers, body, str(request.url))
        return _settled(response.status_code, headers, body)

    def _sent(self, request: httpx.Request) -> httpx.Response:
        """Send to the first address that takes the connection, of those that were checked."""
        error: httpx.ConnectError | None = None
        for numeric in self._checked(request.url):
            try:
                return self._inner.handle_request(_to_address(request, numeric))
            except httpx.ConnectError as failure:
                error = failure
        raise error or httpx.ConnectError(f"{request.url.host} has no address")

    def _checked(self, url: httpx.URL) -> list[str]:
        numerics = resolved(url)
        for numeric in numerics:
            if not self._allow_private and not is_public(numeric):
                raise httpx.UnsupportedProtocol(
                    f"{url.host} is at {numeric}, which is not a public address"
                )
        return numerics


def _settled(status: int, headers: Any, body: bytes) -> httpx.Response:
    """Return an answer that is one whatever its status: a page that refuses is no endpoint."""
    return httpx.Response(status, headers=headers, content=body, extensions={"settled": True})


def _to_address(request: httpx.Request, numeric: str) -> httpx.Request:
    """Address a request to a number, its name in Host and in the certificate's check."""
    headers = [pair for pair in request.headers.raw if pair[0].lower() != b"host"]
    return httpx.Request(
        request.method,
        request.url.copy_with(host=numeric),
        headers=[(b"Host", request.url.netloc), *headers],
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )


def _bounded(response: httpx.Response) -> bytes:
    """Return a body; raises httpx.UnsupportedProtocol where it is too long, or takes too long."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise httpx.UnsupportedProtocol("the page came in an encoding that was not asked for")
    pieces, size, end = list[bytes](), 0, time.monotonic() + MOST_SECONDS
    for piece in response.iter_raw():
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise httpx.UnsupportedProtocol(f"the page is longer than {MOST_BYTES} bytes")
        if time.monotonic() > end:
            raise httpx.UnsupportedProtocol(f"the page took longer than {MOST_SECONDS:g} s")
    return b"".join(pieces)


def _as_text(headers: httpx.Headers, body: bytes, url: str) -> tuple[list[tuple[str, str]], bytes]:
    """Return the text of a page, b"" where it has none, and headers that say where it is from."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    text, by = "", "none"
    if kind in MARKUP:
        text, by = _extracted(headers, body, url)
    elif kind in PLAIN:
        text, by = httpx.Response(200, headers=headers, content=body).text, "the page itself"
    origin = [
        ("content-type", "text/plain; charset=utf-8"),
        ("x-page-content-type", headers.get("content-type", "")),
        ("x-page-extractor", by),
        ("x-page-bytes", str(len(body))),
        ("x-page-sha256", hashlib.sha256(body).hexdigest()),
    ]
    dated = [("last-modified", headers[name]) for name in ("last-modified",) if name in headers]
    return [*origin, *dated], text.encode("utf-8", "replace")


def _extracted(headers: httpx.Headers, body: bytes, url: str) -> tuple[str, str]:
    trafilatura = extractor()
    charset = httpx.Response(200, headers=headers).charset_encoding
    try:
        page = body.decode(charset) if charset else body
    except (LookupError, UnicodeDecodeError):  # the extractor looks for the page's own word
        page = body
    text = trafilatura.extract(page, url=url, include_comments=False, include_tables=False)
    return text or "", f"trafilatura {trafilatura.__version__}"


def extractor() -> ModuleType:
    """Return the library that takes texts out of pages; raises UsageError where it is missing."""
    try:
        return importlib.import_module("trafilatura")
    except ImportError as error:
        raise UsageError(
            "fetch = true reads pages with trafilatura, which is not installed. Install "
            f"harness[pages], or leave fetch out ({error})."
        ) from error
