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


class PlainRequest(NamedTuple):
    """A request as plain values.

    call: its name, by its position in the protocol, None where nobody names it.
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
        """Return the headers as text."""
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
    cancelled: bool = False
    settled: bool = False


def recorded_reply(interaction: Interaction) -> Reply:
    """Return a recorded answer as the caller is to see it."""
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
        response.cancelled,
    )


def digest_of(request: PlainRequest) -> str:
    """Return the digest of a request, its body decoded of a known Content-Encoding."""
    kind = header(request.pairs, "content-type")
    return digest(request.method, request.url, kind, plain_body(request))


def request_in(interaction: Interaction) -> PlainRequest:
    """Return the request that an interaction stores, in the form of a new one."""
    headers = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in interaction.sent_headers]
    request, response = interaction.request, interaction.response
    body = interaction.request_bytes
    return PlainRequest(request.method, request.uri, headers, body, call=response.call)


def is_recorded(request: PlainRequest, interaction: Interaction) -> bool:
    """Tell whether a request is the one that an interaction stores.

    Its bytes are compared, or else both canonical forms; what is said about either counts nothing.
    """
    stored = interaction.request
    if (
        request.url == stored.uri
        and request.method == stored.method
        and request.body == interaction.request_bytes
    ):
        return True
    return _canonical(request) == _canonical(request_in(interaction))


def _canonical(request: PlainRequest) -> str:
    kind = header(request.pairs, "content-type")
    return canonical_request(request.method, request.url, kind, plain_body(request))


def stored_request(request: PlainRequest) -> RecordedRequest:
    """Return a request as the cassette holds it: secrets out, headers by allow-list."""
    kept = [
        (name.lower(), value)
        for name, value in request.pairs
        if KEPT_REQUEST_HEADERS.fullmatch(name)
    ]
    try:
        text: str | None = sent_bytes(request).decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is not None:
        form = "x-www-form-urlencoded" in header(kept, "content-type")
        text = clean_form(text) if form else clean_text(text)
    return RecordedRequest(request.method, clean_url(request.url), text, header_map(kept))


def sent_bytes(request: PlainRequest) -> bytes:
    """Return a request's body with the secret fields of a multipart one taken out."""
    multipart = header(request.pairs, "content-type").lower().startswith("multipart/")
    return clean_multipart(request.body) if multipart else request.body


def searched_body(request: PlainRequest, stored: RecordedRequest) -> bytes:
    """Return what to search for keys in a request: its stored text, or its decoded bytes."""
    return plain_body(request) if stored.body is None else stored.body.encode()


def plain_body(request: PlainRequest) -> bytes:
    """Return a request's body without such fields, decoded of a known Content-Encoding."""
    sent = sent_bytes(request)
    body = decoded(encodings(request.pairs), sent)
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


def has_failed(interaction: Interaction) -> bool:
    """Tell whether an interaction is an error of the connection or of a busy or broken server.

    So is a call that the program cancelled: nothing is known of its answer.
    """
    response = interaction.response
    return response.error is not None or response.cancelled or is_passing(response.status.code)


def fate_of(request: PlainRequest, reply: Reply) -> Literal["answer", "failure", "refused"]:
    """Tell an answer from an infrastructure error and from an endpoint that refuses every call."""
    if request.call is None or reply.settled or reply.cancelled:
        return "answer"
    failed = reply.error is not None or reply.partial
    if not failed and reply.status in REFUSALS:
        missing = request.kind == "source" and reply.status == 404
        return "answer" if missing else "refused"
    if failed or is_passing(reply.status):
        return "answer" if request.optional else "failure"
    return "answer"
