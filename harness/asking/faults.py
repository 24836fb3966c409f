"""Faults that only an answer's body tells: bad luck of status 200, and a refused key.

Bad luck is what another try may not meet. A wiki is too busy (Manual:Maxlag parameter, API:Errors
and warnings). A SearXNG has no result while engines behind it are silent. A model's endpoint gives
an error instead of choices or of a choice's words, or a choice that ended in one (OpenRouter's
Errors and Debugging), unless the error's code says that it would come again.

Nor is what cannot be read as a reply of its provider an answer: no or null choices, no message, a
gateway's HTML, cut JSON, nothing. Whoever asks a model sends along how to read it.

Brave tells a wrong key by status 422, as a wrong parameter, and a plan that is used up by 429, as a
request too many; the error's code tells them apart (Brave's API reference).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import httpx
import msgspec

from harness.asking.models.wire import ends_in, is_without_words
from harness.decoding import DecodesToTooMuch, decoded
from harness.errors import EndpointRefused, is_passing
from harness.results.answers import FILTERED, NO_REPLY

BUSY = ("maxlag", "ratelimited")  # a wiki's codes
LASTING = tuple(map(str, (400, 401, 402, 403, 404, 413, 422)))  # codes of a model's endpoint
REFUSING = ("SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND", "QUOTA_LIMITED")
NO_KEY = b'"x-subscription-token"'  # the header that Brave misses where no key was sent
CHECK_KEY = (
    "Check the key, the credit and the address, then go on with `harness record`; nothing is lost."
)
# As in recording.interaction: what comes in pieces is passed on in pieces, and not read here.
STREAM_TYPES = (
    "text/event-stream",
    "application/x-ndjson",
    "application/jsonl",
    "application/stream+json",
)
LONGEST_WORDS = 200  # characters of a stranger's words in a message
UNREADABLE = "unreadable"
NOT_READ = "no reply of this provider"
Reader = Callable[[int, bytes], tuple[str, str]]  # a status and a body: the kind, what is wrong
Form = TypeVar("Form")


class Luck(NamedTuple):
    """Bad luck: its name among the tries, and what happened, in words."""

    name: str
    words: str


class _ModelSaid(msgspec.Struct):
    error: Any = None
    choices: list[dict[str, Any]] | None = None


class _SourceSaid(msgspec.Struct):
    error: Any = None
    errors: list[Any] = []
    results: list[msgspec.Raw] | None = None
    unresponsive_engines: list[msgspec.Raw] = []


def bad_luck(request: httpx.Request, response: httpx.Response) -> Luck | None:
    """Read an answer's body, where it may tell of bad luck, and put it back.

    None where it tells of none. Raises EndpointRefused where it tells of a refused key.
    """
    source, status = request.extensions.get("kind") == "source", response.status_code
    reader = request.extensions.get("reader")
    if request.extensions.get("kind") in ("page", "robots"):
        return None  # whatever it says, it is a page
    if reader is not None:
        return _of_a_reply(status, response, reader)
    if _is_stream(response) or not (status == httpx.codes.OK or (source and status >= 400)):
        return None
    content = _body(response)
    if not source:
        return _of_a_model(content)
    if code := refusal(status, content):
        where = f"{request.extensions.get('call')}: {request.url.host}"
        raise EndpointRefused(f"{where} answered {status} ({code}). {CHECK_KEY}")
    return _of_a_source(response.headers, content) if status == httpx.codes.OK else None


def _of_a_reply(status: int, response: httpx.Response, reader: Reader) -> Luck | None:
    """Look at a reply as the one who asked will read it; one that is filtered is an answer."""
    if is_passing(status):
        return None
    content = _body(response)
    state, problem = reader(status, content)
    if state == FILTERED:
        response.extensions["settled"] = True  # also with a status that refuses every call
    if status == httpx.codes.OK and (luck := _of_a_model(content)):
        return luck
    return Luck(UNREADABLE, f"{NOT_READ} ({problem})") if state == NO_REPLY else None


def refusal(status: int, content: bytes) -> str:
    """Give what an error of Brave's says against the key; "" where it is about something else."""
    if status < 400:
        return ""
    if status == httpx.codes.UNPROCESSABLE_ENTITY and NO_KEY in content:
        return "no key"
    said = _read(content, _SourceSaid) or _SourceSaid()
    codes = [_code(error) for error in (said.error, *said.errors)]
    return next((str(code) for code in codes if code in REFUSING), "")


def silence(engines: Iterable[msgspec.Raw]) -> str:
    """Say that a search has no result, and which engines behind it gave no answer."""
    named = ", ".join(bytes(engine).decode("utf-8", "replace") for engine in engines)
    return f"no result, and no answer from {named[:LONGEST_WORDS]},"


def _of_a_source(headers: httpx.Headers, content: bytes) -> Luck | None:
    said = _read(content, _SourceSaid) or _SourceSaid()
    code = headers.get("mediawiki-api-error") or _code(said.error)
    if code in BUSY:
        return Luck(code, f"the wiki answered {code}")
    if said.results == [] and said.unresponsive_engines:
        return Luck("silent engines", f"the search had {silence(said.unresponsive_engines)}")
    return None


def _of_a_model(content: bytes) -> Luck | None:
    if b'"error"' not in content:  # nearly no answer has it: a large one is not read twice
        return None
    said = _read(content, _ModelSaid) or _ModelSaid()
    if said.choices:
        choice = said.choices[0]
        fault = choice.get("error") or said.error
        failed = ends_in(choice.get("finish_reason"), ("error",)) or (
            _is_told(fault) and is_without_words(choice)
        )
    else:
        fault, failed = said.error, _is_told(said.error)
    return _lucky(fault) if failed else None


def _is_told(fault: Any) -> bool:
    return isinstance(fault, (dict, str)) and bool(fault)


def _lucky(fault: Any) -> Luck | None:
    """Name an error by its number only: names are kept as they are, words are searched for keys."""
    code = str(_code(fault))
    if code in LASTING:
        return None
    name = f"error {code}" if re.fullmatch(r"[0-9]{1,4}", code) else "error"
    words = fault.get("message") if isinstance(fault, dict) else fault
    said = f", {words[:LONGEST_WORDS]!r}," if isinstance(words, str) else ""
    return Luck(name, f"the endpoint answered 200 with {name}{said}")


def _code(error: object) -> Any:
    return error.get("code") if isinstance(error, dict) else None


def _is_stream(response: httpx.Response) -> bool:
    kind = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower() in STREAM_TYPES


def _body(response: httpx.Response) -> bytes:
    """Read a body and put it back; give it without its encoding, b"" where that does not fit."""
    stream = response.stream
    assert isinstance(stream, httpx.SyncByteStream)
    try:
        content = b"".join(stream)
    finally:
        stream.close()
    response.stream = httpx.ByteStream(content)
    encodings = response.headers.get("content-encoding", "")
    try:
        plain = decoded(encodings, content) if encodings and content else content
    except DecodesToTooMuch:  # it is refused above, where answers are kept
        plain = None
    return b"" if plain is None else plain


def _read(content: bytes, form: type[Form]) -> Form | None:
    """Read what a form has of JSON; None where there is no such thing."""
    try:
        return msgspec.json.decode(content, type=form)
    except (ValueError, RecursionError):
        return None
