"""A request and its answer as plain values, between a client's library and the cassette."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from harness.recording.digest import digest
from harness.recording.interaction import (
    KEPT_REQUEST_HEADERS,
    Attempt,
    Failure,
    Interaction,
    RecordedRequest,
    decoded,
    header,
    header_map,
)
from harness.recording.redaction import clean_form, clean_text, clean_url

Pairs = list[tuple[str, str]]
REFUSALS = (401, 402, 403, 404)
PASSING = (408, 409, 425, 429)


class Exchange(NamedTuple):
    """A request: `call` names it by its position in the protocol, None where nobody names it.

    optional: an error of the connection is an answer. endpoint: "model" or "source".
    """

    method: str
    url: str
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    call: str | None = None
    optional: bool = False
    endpoint: str = "model"

    @property
    def pairs(self) -> Pairs:
        """Give the headers as text."""
        return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self.headers]


class Reply(NamedTuple):
    """What comes back to the caller; the fields are those of RecordedResponse."""

    status: int
    reason: str
    http_version: str
    headers: Pairs
    body: bytes
    attempts: list[Attempt]
    chunks: list[int] | None = None
    error: Failure | None = None
    partial: bool = False


def recorded_reply(interaction: Interaction) -> Reply:
    """Give a recorded answer as the caller is to see it."""
    response = interaction.response
    return Reply(
        response.status.code,
        response.status.message,
        response.http_version,
        interaction.header_pairs,
        interaction.body_bytes,
        response.attempts,
        response.chunks,
        response.error,
        response.partial,
    )


def digest_of(exchange: Exchange) -> str:
    """Give the digest of a request, its body decoded of a known Content-Encoding."""
    pairs = exchange.pairs
    body = decoded(header(pairs, "content-encoding"), exchange.body)
    return digest(
        exchange.method,
        exchange.url,
        header(pairs, "content-type"),
        exchange.body if body is None else body,
    )


def stored_request(exchange: Exchange) -> RecordedRequest:
    """Give a request as the cassette holds it: secrets out, headers by allow-list."""
    kept = [
        (name.lower(), value)
        for name, value in exchange.pairs
        if name.lower() in KEPT_REQUEST_HEADERS
    ]
    try:
        text: str | None = exchange.body.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is not None:
        form = "x-www-form-urlencoded" in header(kept, "content-type")
        text = clean_form(text) if form else clean_text(text)
    return RecordedRequest(exchange.method, clean_url(exchange.url), text, header_map(kept))


def searched_body(exchange: Exchange, request: RecordedRequest) -> bytes:
    """Give what to search for keys in a request: its stored text, or its decoded bytes."""
    if request.body is not None:
        return request.body.encode()
    body = decoded(header(exchange.pairs, "content-encoding"), exchange.body)
    return exchange.body if body is None else body


def fate_of(exchange: Exchange, reply: Reply) -> Literal["answer", "failure", "refused"]:
    """Tell an answer from an infrastructure error and from an endpoint that refuses every call."""
    if exchange.call is None:
        return "answer"
    if reply.error is not None or reply.partial:
        return "answer" if exchange.optional else "failure"
    if exchange.endpoint == "source" and reply.status == 404:
        return "answer"
    if reply.status in REFUSALS:
        return "refused"
    return "failure" if reply.status >= 500 or reply.status in PASSING else "answer"
