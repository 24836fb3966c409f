"""A request and its answer as plain values, between a client's library and the cassette."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from harness.decoding import decoded
from harness.errors import REFUSALS, is_passing
from harness.recording.digest import canonical_request, digest
from harness.recording.interaction import (
    KEPT_REQUEST_HEADERS,
    Attempt,
    Failure,
    Interaction,
    RecordedRequest,
    encodings,
    header,
    header_map,
    stored_body,
)
from harness.recording.redaction import (
    KeyRing,
    clean_form,
    clean_multipart,
    clean_text,
    clean_url,
)

Pairs = list[tuple[str, str]]


class Exchange(NamedTuple):
    """A request: `call` names it by its position in the protocol, None where nobody names it.

    optional: an error of the connection is an answer. kind: "model" or "source"; endpoint: the
    study's name of it, "" outside a study.
    """

    method: str
    url: str
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    call: str | None = None
    optional: bool = False
    kind: str = "model"
    endpoint: str = ""

    @property
    def pairs(self) -> Pairs:
        """Give the headers as text."""
        return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self.headers]


class Reply(NamedTuple):
    """What comes back to the caller; the fields are those of RecordedResponse.

    settled: whoever sent it says that this is an answer, whatever its status.
    """

    status: int
    reason: str
    http_version: str
    headers: Pairs
    body: bytes
    attempts: list[Attempt]
    chunks: list[int] | None = None
    error: Failure | None = None
    partial: bool = False
    redacted: bool = False
    settled: bool = False


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
        response.redacted,
    )


def digest_of(exchange: Exchange) -> str:
    """Return the digest of a request, its body decoded of a known Content-Encoding."""
    kind = header(exchange.pairs, "content-type")
    return digest(exchange.method, exchange.url, kind, plain_body(exchange))


def stored_exchange(interaction: Interaction) -> Exchange:
    """Return the request that an interaction stores, in the form of a new one."""
    headers = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in interaction.sent_headers]
    request, response = interaction.request, interaction.response
    body = interaction.request_bytes
    return Exchange(request.method, request.uri, headers, body, call=response.call)


def is_recorded(exchange: Exchange, interaction: Interaction) -> bool:
    """Tell whether a request is the one that an interaction stores.

    Its bytes are compared, or else both canonical forms; what is said about either counts nothing.
    """
    request = interaction.request
    if (
        exchange.url == request.uri
        and exchange.method == request.method
        and exchange.body == interaction.request_bytes
    ):
        return True
    return _canonical(exchange) == _canonical(stored_exchange(interaction))


def _canonical(exchange: Exchange) -> str:
    kind = header(exchange.pairs, "content-type")
    return canonical_request(exchange.method, exchange.url, kind, plain_body(exchange))


def stored_request(exchange: Exchange) -> RecordedRequest:
    """Give a request as the cassette holds it: secrets out, headers by allow-list."""
    kept = [
        (name.lower(), value)
        for name, value in exchange.pairs
        if name.lower() in KEPT_REQUEST_HEADERS
    ]
    try:
        text: str | None = sent_bytes(exchange).decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is not None:
        form = "x-www-form-urlencoded" in header(kept, "content-type")
        text = clean_form(text) if form else clean_text(text)
    return RecordedRequest(exchange.method, clean_url(exchange.url), text, header_map(kept))


def sent_bytes(exchange: Exchange) -> bytes:
    """Give a request's body with the secret fields of a multipart one taken out."""
    multipart = header(exchange.pairs, "content-type").lower().startswith("multipart/")
    return clean_multipart(exchange.body) if multipart else exchange.body


def searched_body(exchange: Exchange, request: RecordedRequest) -> bytes:
    """Give what to search for keys in a request: its stored text, or its decoded bytes."""
    return plain_body(exchange) if request.body is None else request.body.encode()


def plain_body(exchange: Exchange) -> bytes:
    """Give a request's body without such fields, decoded of a known Content-Encoding."""
    sent = sent_bytes(exchange)
    body = decoded(encodings(exchange.pairs), sent)
    return sent if body is None else body


def without_keys(kept: Interaction, keys: KeyRing) -> Interaction:
    """Take keys out of an answer that came before they were known to be keys."""
    response, body = kept.response, keys.clean(kept.body_bytes)
    for name, values in response.headers.items():
        response.headers[name] = [keys.clean_text(value) for value in values]
    if response.header_list is not None:
        listed = [(name, keys.clean_text(value)) for name, value in response.header_list]
        response.header_list = listed
    if body != kept.body_bytes:
        response.body, response.redacted = stored_body(body), True
        response.chunks = response.chunks and [len(body)]
    return kept


def fate_of(exchange: Exchange, reply: Reply) -> Literal["answer", "failure", "refused"]:
    """Tell an answer from an infrastructure error and from an endpoint that refuses every call."""
    if exchange.call is None or reply.settled:
        return "answer"
    failed = reply.error is not None or reply.partial
    if not failed and reply.status in REFUSALS:
        missing = exchange.kind == "source" and reply.status == 404
        return "answer" if missing else "refused"
    if failed or is_passing(reply.status):
        return "answer" if exchange.optional else "failure"
    return "answer"
