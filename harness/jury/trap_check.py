"""Look for the invented experts and phrases on the web: none of them should be there.

One recorded search an entry, so that the same command gives the same report without a network.
That an entry was not found is evidence, not proof: an engine returns some pages, and of a page it
shows a few words. An expert is looked for as the whole text of the entry, name and institution.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec

from harness.asking.retry import RetryTransport
from harness.errors import (
    REFUSALS,
    CheckFailed,
    EndpointRefused,
    Incomplete,
    Miss,
    UsageError,
    is_passing,
)
from harness.recording.recorder import Recorder
from harness.recording.transport import RecordingTransport
from harness.results import TrapPool
from harness.study.texts import read_pools
from harness.version import VERSION

TRIES = 3
SECONDS = 30.0
HEADERS = {"accept": "application/json", "user-agent": f"harness/{VERSION}"}


class SearchedTrap(NamedTuple):
    """An expert or a phrase of a pool, and its place there, counted from 1."""

    domain: str
    kind: str
    number: int
    text: str

    @property
    def call(self) -> str:
        """Return the name under which its search is recorded."""
        return f"{self.domain}/{self.kind}-{self.number:02d}"


class TrapHit(NamedTuple):
    """The first result that has an entry's words."""

    title: str
    url: str


class TrapSearch(NamedTuple):
    """What a search gave; found is None where no result has the words.

    silent: the engines behind the search that the reply names as not answering.
    """

    entry: SearchedTrap
    found: TrapHit | None
    silent: tuple[str, ...]

    @property
    def line(self) -> str:
        """Return the finding in one line."""
        outcome = f"found: {self.found.title} <{self.found.url}>" if self.found else "not found"
        less = f" (no answer from: {', '.join(self.silent)})" if self.silent else ""
        return f'{self.entry.domain}, {self.entry.kind}: "{self.entry.text}": {outcome}{less}'


class SearchResult(msgspec.Struct):
    """One result of a search, as SearXNG writes it."""

    title: str | None = None
    url: str | None = None
    content: str | None = None


class SearchReply(msgspec.Struct):
    """A reply of SearXNG: its results, and the engines that gave none, each with the reason."""

    results: list[SearchResult]
    unresponsive_engines: list[object] = []


def trap_pools(path: Path | None = None) -> list[TrapPool]:
    """Read a user's trap file, or the pools of the package; raises UsageError for a mistake."""
    if path is not None:
        return read_pools(path)
    with as_file(files("harness.protocols.ddft") / "data" / "traps.toml") as packaged:
        return read_pools(packaged)


def entries(pools: Sequence[TrapPool]) -> list[SearchedTrap]:
    """Return what is looked up: experts and phrases; a claim is a sentence that nobody wrote."""
    return [
        SearchedTrap(pool.domain, kind, number, trap.text)
        for pool in pools
        for kind, traps in (("expert", pool.experts), ("phrase", pool.phrases))
        for number, trap in enumerate(traps, 1)
    ]


def check_traps(
    pools: Sequence[TrapPool], endpoint: str, cassette: Path, *, first_wait: float = 1.0
) -> Iterator[TrapSearch]:
    """Look up every expert and phrase, one after the other, in the order of the pools.

    endpoint: the address of a SearXNG, or of what speaks its JSON. cassette: replayed where it is
    there, else recorded; it is written when all is looked up, and what came before an interruption
    is kept beside it, so the same call goes on. first_wait: seconds before a second try, of three.

    Raises UsageError for an address that is none, Incomplete where the source is down,
    EndpointRefused where it refuses, CheckFailed where its reply is none, or where the cassette
    holds other searches.
    """
    address = _address(endpoint)
    recorder = Recorder(cassette, "once")
    tries = RetryTransport(
        httpx.HTTPTransport(), threading.Event(), tries=TRIES, first_wait=first_wait
    )
    try:
        with RecordingTransport(recorder, inner=tries) as transport:
            for entry in entries(pools):
                yield _finding(entry, _search(transport, address, entry, cassette))
            recorder.check()
            recorder.save()
    except Miss as miss:
        raise CheckFailed(
            f"{cassette}: was recorded with other traps, or from another address; to search anew, "
            f"name another --cassette.\n{miss}"
        ) from miss
    finally:
        recorder.release()


def _address(endpoint: str) -> httpx.URL:
    try:
        address = httpx.URL(f"{endpoint.rstrip('/')}/search")
    except httpx.InvalidURL as error:
        raise UsageError(f"--endpoint {endpoint!r}: is no address ({error})") from error
    if address.scheme not in ("http", "https") or not address.host:
        raise UsageError(
            f"--endpoint {endpoint!r}: is no address; expected one such as http://localhost:8080"
        )
    return address


def _search(
    transport: RecordingTransport, address: httpx.URL, entry: SearchedTrap, cassette: Path
) -> SearchReply:
    where = f"{entry.call}: the search at {address}"
    try:
        status, content = _sent(transport, _request(address, entry))
    except httpx.TransportError as error:
        raise Incomplete(
            f"{where} gave no answer ({type(error).__name__}: {error}). What came before is kept; "
            "the same command goes on."
        ) from error
    _check_status(where, status)
    return _reply(where, status, content, cassette)


def _request(address: httpx.URL, entry: SearchedTrap) -> httpx.Request:
    return httpx.Request(
        "GET",
        address.copy_merge_params({"q": f'"{entry.text}"', "format": "json"}),
        headers=HEADERS,
        extensions={"call": entry.call, "timeout": httpx.Timeout(SECONDS).as_dict()},
    )


def _sent(transport: RecordingTransport, request: httpx.Request) -> tuple[int, bytes]:
    response = transport.handle_request(request)
    try:
        return response.status_code, response.read()
    finally:
        response.close()


def _check_status(where: str, status: int) -> None:
    if status in REFUSALS:
        raise EndpointRefused(
            f"{where} answered {status}. Check the address; SearXNG answers 403 where its "
            "settings do not list json under search.formats. Nothing is lost."
        )
    if is_passing(status):
        raise Incomplete(
            f"{where} answered {status} to the last try. What came before is kept; the same "
            "command goes on."
        )


def _reply(where: str, status: int, content: bytes, cassette: Path) -> SearchReply:
    try:
        if status != httpx.codes.OK:
            raise ValueError(f"status {status}")
        return msgspec.convert(json.loads(content), SearchReply)
    except (ValueError, RecursionError) as error:
        raise CheckFailed(
            f"{where} answered what is no search reply ({error}): {content[:200]!r}. Expected JSON "
            'such as {"results": [{"title": ..., "url": ..., "content": ...}]}. It is recorded, so '
            f"try another --endpoint with another --cassette than {cassette}."
        ) from error


def _finding(entry: SearchedTrap, reply: SearchReply) -> TrapSearch:
    words = _folded(entry.text)
    silent = tuple(_engine(engine) for engine in reply.unresponsive_engines)
    for result in reply.results:
        if any(words in _folded(text or "") for text in (result.title, result.content)):
            hit = TrapHit(_shown(result.title or "(no title)"), _shown(result.url or "no address"))
            return TrapSearch(entry, hit, silent)
    return TrapSearch(entry, None, silent)


def _engine(engine: object) -> str:
    return _shown(": ".join(map(str, engine)) if isinstance(engine, list) else str(engine))


def _folded(text: str) -> str:
    """Make case and the kind of white space no difference."""
    return " ".join(text.casefold().split())


def _shown(text: str) -> str:
    """Return a stranger's words without what could move a terminal's cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
