"""One recorded exchange, in vcrpy's layout, with our own fields under `response`."""

from __future__ import annotations

import base64
import re
from urllib.parse import urlsplit

import msgspec

from harness.decoding import DecodesToTooMuch, decoded

ERROR_STATUS = 599
ENCODING = "content-encoding"
STREAM_TYPES = (
    "text/event-stream",
    "application/x-ndjson",
    "application/jsonl",
    "application/stream+json",
)
# The last: an API's own header that says which version of it is asked, as "foo-version: 3".
KEPT_REQUEST_HEADERS = re.compile(
    r"accept|content-encoding|content-type|(?!x-)[a-z]+-(?:version|beta)", re.IGNORECASE
)
_plain_address = re.compile(r"[!-Z_a-z~]*")  # without brackets, which may hold an odd host
_digest = re.compile(r"\d+:[0-9a-f]{32}")


class RecordedRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What was asked: method, absolute URL, body text (None where binary), kept headers."""

    method: str
    uri: str
    body: str | None
    headers: dict[str, list[str]]


class Status(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The status line: code and reason phrase."""

    code: int
    message: str


class Attempt(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One try under the recorder that did not give the final answer."""

    status: int | None = None
    retry_after: str | None = None
    error: str | None = None


class Failure(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A recorded error: the name of its httpx class and its message."""

    type: str
    message: str


class RecordedResponse(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What came back.

    status, headers, body: vcrpy's own fields. call: the protocol's name of the exchange, None for
    a client that names none. endpoint: the study's name of the model or source that was asked, ""
    outside a study and in cassettes of format 1. occurrence: its number (from 0) among exchanges of
    the same name, or among unnamed ones of the same digest. digest: in cassettes of format 1 only,
    and never believed (see digest.py). attempts: earlier tries. chunks: byte sizes of a stream's
    pieces. error: raised instead of, or after, the body. partial: the
    client left before the stream ended. cancelled: the program cancelled the call `elapsed` seconds
    after its beginning, and saw no answer, or no more of it. header_list: names and values where
    `headers` cannot hold their order. redacted: a key was taken out of this answer.
    request_base64: a binary request.
    recorded_at: UTC, ISO 8601, to the millisecond from format 2 on; elapsed: seconds, retries
    included.
    """

    status: Status
    headers: dict[str, list[str]]
    body: dict[str, str]
    call: str | None = None
    endpoint: str = ""
    occurrence: int = 0
    digest: str = ""
    attempts: list[Attempt] = []
    http_version: str = "HTTP/1.1"
    header_list: list[tuple[str, str]] | None = None
    chunks: list[int] | None = None
    error: Failure | None = None
    partial: bool = False
    cancelled: bool = False
    redacted: bool = False
    request_base64: str | None = None
    recorded_at: str = ""
    elapsed: float = 0.0


class Interaction(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """One exchange: request and response."""

    request: RecordedRequest
    response: RecordedResponse

    @property
    def sent_headers(self) -> list[tuple[str, str]]:
        """Return the request's headers that were kept, as pairs."""
        return [(name, value) for name, values in self.request.headers.items() for value in values]

    @property
    def request_bytes(self) -> bytes:
        """Return the request's body as it was sent, secrets taken out."""
        if self.response.request_base64 is not None:
            return base64.b64decode(self.response.request_base64)
        return (self.request.body or "").encode()

    @property
    def body_bytes(self) -> bytes:
        """Return the answer's body, decoded of the transfer's encodings."""
        stored = self.response.body
        coded = stored.get("base64")
        return stored["string"].encode() if coded is None else base64.b64decode(coded)

    @property
    def header_pairs(self) -> list[tuple[str, str]]:
        """Return the answer's headers in their order, repeats kept."""
        if self.response.header_list is not None:
            return self.response.header_list
        return [(name, value) for name, values in self.response.headers.items() for value in values]


def flaw(kept: Interaction, file_format: int) -> str | None:
    """Name what could not be replayed though its form is right; None where all is well."""
    response = kept.response
    if not {"string"} <= response.body.keys() <= {"string", "base64"}:
        return "its body has other fields than string and base64"
    if len(response.body) == 2 and response.body["string"]:
        return "it has two bodies"
    try:
        for coded in (response.body.get("base64"), response.request_base64):
            if coded is not None and base64.b64encode(base64.b64decode(coded)).decode() != coded:
                return "its base64 is invalid"
            if coded is not None and _is_text(base64.b64decode(coded)):
                return "its base64 holds what is stored as text"
        for name, values in response.headers.items():
            if len(name) == len(ENCODING) and name.lower() == ENCODING and _is_encoded(kept):
                return "its body is still encoded"
            _check_header(name, values)
        for name, values in kept.request.headers.items():
            _check_header(name, values)
        if not _plain_address.fullmatch(kept.request.uri):
            urlsplit(kept.request.uri)
    except ValueError as error:
        return str(error)
    if (kept.request.body is None) != (response.request_base64 is not None):
        return "its request has no body, or two"
    if response.header_list is not None and header_map(response.header_list) != response.headers:
        return "its two lists of headers differ"
    if response.chunks is not None and sum(response.chunks) != len(kept.body_bytes):
        return "its chunks do not add up to its body"
    if not 100 <= response.status.code <= 999 or response.occurrence < 0:
        return "its status or occurrence is invalid"
    if file_format == 1:
        return None if _digest.fullmatch(response.digest) else "its digest is invalid"
    return "it has a digest, which this format does not" if response.digest else None


def _check_header(name: str, values: list[str]) -> None:
    """Raise ValueError for a header that no message can carry."""
    text = "".join(values)
    if not (name.isascii() and text.isascii()):
        (name + text).encode("latin-1")


def _is_encoded(kept: Interaction) -> bool:
    """Tell whether a body can be decoded; what can be is stored decoded, without its header."""
    body = kept.body_bytes
    try:
        return bool(body) and decoded(encodings(kept.header_pairs), body) is not None
    except DecodesToTooMuch:
        return True


def _is_text(data: bytes) -> bool:
    return "base64" not in stored_body(data)


def stored_body(data: bytes) -> dict[str, str]:
    """Return a body as vcrpy's layout holds it: text where it is UTF-8, else base64 beside it."""
    try:
        return {"string": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"string": "", "base64": base64.b64encode(data).decode()}


def header_map(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Group header values by name, in order of first appearance, names as they were sent."""
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return grouped


def header(pairs: list[tuple[str, str]], name: str) -> str:
    """Return the first value of a header, "" where absent."""
    return next((value for key, value in pairs if key.lower() == name), "")


def encodings(pairs: list[tuple[str, str]]) -> str:
    """Return all Content-Encoding headers as one, "" where there is none."""
    return ", ".join(value for key, value in pairs if key.lower() == ENCODING)


def is_stream(pairs: list[tuple[str, str]]) -> bool:
    """Tell whether an answer is of a type whose pieces matter by themselves."""
    return header(pairs, "content-type").partition(";")[0].strip().lower() in STREAM_TYPES
