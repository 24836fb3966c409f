"""One look-up at a fact source: its HTTP calls, each under a name, and what becomes of each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeVar
from urllib.parse import urlencode

import httpx
import msgspec

from harness.asking.faults import CHECK_KEY, Reader
from harness.asking.models.chat_model import LIMITED
from harness.errors import REFUSALS, EndpointRefused, Incomplete, is_passing
from harness.version import VERSION

NO_SUCH_PAGE = 404  # from a source an answer; every other status that refuses stops the run
LONGEST_QUERY = 300  # characters, and words, that every engine takes
MOST_WORDS = 50
LAST_PORT = 65535
Form = TypeVar("Form")


class Window(NamedTuple):
    """The days that a passage must be from, both included: ISO dates."""

    start: str
    end: str

    def holds(self, date: str) -> bool:
        """Tell whether an ISO date or time is within it; a year or a month is its first day."""
        return self.start <= date[:10] <= self.end


class SourceEndpoint(NamedTuple):
    """Where a source is and how it wants to be asked.

    name: ours, in results. kind: a name of source_kind.kind_of. contact: an address or a page where
    who runs the study can be reached, for the User-Agent. query: what is searched for, {direction}
    in it. max_results: how many results of a search are looked at. fetch: whether their pages are
    read. options: parameters sent as they are, of those of the kind. timeout: seconds.
    """

    name: str
    kind: str
    base_url: str
    api_key: str | None = None
    contact: str = ""
    query: str = "{direction}"
    max_results: int = 5
    fetch: bool = False
    options: Mapping[str, object] = MappingProxyType({})
    timeout: float = 60.0


class NoAnswer(Exception):
    """What came is no answer that can be used; it is recorded, so a replay meets it too."""


def _fits(query: str) -> bool:
    return len(query) <= LONGEST_QUERY and len(query.split()) <= MOST_WORDS


class SourceReply(NamedTuple):
    """What came back from one call: the call's step and address; status, head and body.

    where: the call and its source, for a message.
    """

    step: str
    url: httpx.URL
    status: int
    headers: httpx.Headers
    content: bytes
    where: str

    def read(self, form: type[Form]) -> Form:
        """Return the JSON of a reply of status 200 as a struct; raises NoAnswer for any other."""
        if self.status != httpx.codes.OK:
            raise NoAnswer(f"{self.where} answered {self.status}: {self.words}")
        try:
            return msgspec.json.decode(self.content, type=form)
        except (ValueError, RecursionError) as error:
            raise NoAnswer(
                f"{self.where}: no reply of this kind ({error}): {self.words}"
            ) from error

    @property
    def words(self) -> str:
        """Return the beginning of the body, quoted."""
        return repr(self.content.decode("utf-8", "replace")[:200])


class Inquiry:
    """The calls of one look-up, each named `{call}/{step}`.

    optional: a source that is down is an answer, as for all but the last of several. reader: reads
    a reply for the transport below, see faults.py. Every call
    raises NoAnswer where the source gave none and that is recorded, Incomplete where it is down
    and must be asked again, EndpointRefused where it refuses every call (optional or not: nobody
    wants a study that goes on without a source that is out of credit).
    """

    def __init__(
        self,
        endpoint: SourceEndpoint,
        transport: httpx.BaseTransport,
        call: str,
        optional: bool,
        reader: Reader,
    ) -> None:
        self.endpoint, self._reader = endpoint, reader
        self._transport, self._call, self._optional = transport, call, optional

    def query(self, direction: str) -> str:
        """Fill the query's template; of a direction that is too long the end is left out."""
        words = direction.split()
        while len(words) > 1 and not _fits(self._filled(" ".join(words))):
            words.pop()
        room = LONGEST_QUERY - len(self._filled(""))
        return self._filled(" ".join(words)[: max(room, 1)])

    def _filled(self, direction: str) -> str:
        return self.endpoint.query.replace("{direction}", direction)

    def get(
        self,
        step: str,
        path: str,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> SourceReply:
        """Get a path below the base URL."""
        query = f"?{urlencode(params)}" if params else ""
        return self._send(step, "GET", self._url(path + query), headers or {})

    def post(self, step: str, path: str, body: object, headers: Mapping[str, str]) -> SourceReply:
        """Post JSON to a path below the base URL."""
        sent = {"content-type": "application/json", **headers}
        return self._send(step, "POST", self._url(path), sent, msgspec.json.encode(body))

    def follow(self, step: str, reply: SourceReply) -> SourceReply:
        """Go where a redirect points, if that is on the same host."""
        location = reply.headers.get("location", "")
        try:
            url = reply.url.join(location)
            host, port = url.host, url.port or 0
        except (httpx.InvalidURL, ValueError) as error:
            raise NoAnswer(f"{self.where(reply.step)}: {location!r} is no address") from error
        if url.scheme not in ("http", "https") or not 0 <= port <= LAST_PORT:
            raise NoAnswer(f"{self.where(reply.step)}: {location!r} is no address")
        if host != reply.url.host:
            raise NoAnswer(f"{self.where(reply.step)} sends us to another host: {location!r}")
        return self._send(step, "GET", url, {})

    def fetch(self, step: str, url: httpx.URL, kind: str) -> SourceReply | None:
        """Get something that nobody promised; None where it cannot be had, which is recorded.

        kind: of the request, "page" or "robots".
        """
        accepted = {
            "accept": "text/html, text/plain;q=0.9, */*;q=0.1",
            "accept-encoding": "identity",
        }
        try:
            return self._exchanged(step, "GET", url, accepted, None, kind)
        except httpx.TransportError:
            return None

    def where(self, step: str) -> str:
        """Name a call and its source, for a message."""
        return f"{self._call}/{step}: {self.endpoint.name} at {self.endpoint.base_url}"

    def down(self, step: str, words: str) -> Exception:
        """Return what to raise where the source cannot answer now; `words` say what it did."""
        if self._optional:
            return NoAnswer(f"{self.where(step)} {words}")
        return Incomplete(
            f"{self.where(step)} {words}. It will be asked again when `harness record` goes on."
        )

    def refused(self, reply: SourceReply) -> EndpointRefused:
        """Return what to raise where the source refuses every call."""
        return EndpointRefused(
            f"{self.where(reply.step)} answered {reply.status}: {reply.words}. {CHECK_KEY}"
        )

    def _send(
        self,
        step: str,
        method: str,
        url: httpx.URL,
        headers: Mapping[str, str],
        content: bytes | None = None,
    ) -> SourceReply:
        try:
            return self._checked(self._exchanged(step, method, url, headers, content, "source"))
        except httpx.DecodingError as error:
            raise NoAnswer(f"{self.where(step)}: not what its head says ({error})") from error
        except httpx.TransportError as error:
            words = f"gave no answer ({type(error).__name__}: {error})"
            raise self.down(step, words) from error

    def _exchanged(
        self,
        step: str,
        method: str,
        url: httpx.URL,
        headers: Mapping[str, str],
        content: bytes | None,
        kind: str,
    ) -> SourceReply:
        """Send one request; a page, or its robots.txt, may always fail."""
        request = httpx.Request(
            method,
            url,
            headers={**_common_headers(self.endpoint.contact), **headers},
            content=content,
            extensions={
                "call": f"{self._call}/{step}",
                "kind": kind,
                "endpoint": self.endpoint.name,
                "optional": self._optional or kind != "source",
                "reader": self._reader if kind == "source" else None,
                "timeout": dict.fromkeys(LIMITED, self.endpoint.timeout),
            },
        )
        response = self._transport.handle_request(request)
        try:
            body = response.read()
        finally:
            response.close()
        return SourceReply(
            step, url, response.status_code, response.headers, body, self.where(step)
        )

    def _checked(self, reply: SourceReply) -> SourceReply:
        """Let answers pass; raise where there is none, or never will be."""
        if reply.status in REFUSALS and reply.status != NO_SUCH_PAGE:
            raise self.refused(reply)
        if is_passing(reply.status):
            words = f"answered {reply.status} to the last try: {reply.words}"
            raise self.down(reply.step, words)
        return reply

    def _url(self, path: str) -> httpx.URL:
        return httpx.URL(f"{self.endpoint.base_url.rstrip('/')}{path}")


def _common_headers(contact: str) -> dict[str, str]:
    """Return what says who asks, and what is accepted."""
    agent = f"harness/{VERSION} ({contact})" if contact else f"harness/{VERSION}"
    return {"user-agent": agent, "accept": "application/json", "accept-encoding": "gzip"}
