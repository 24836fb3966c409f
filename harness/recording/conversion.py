"""Between the requests and answers of httpx or httpx2 and plain values."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.decoding import DecodesToTooMuch, are_known, decoded
from harness.recording.exchange import PlainRequest, Reply
from harness.recording.interaction import Attempt, encodings, is_stream


def plain_request(request: Any, body: bytes) -> PlainRequest:
    """Return a request, whose body has been read, as plain values."""
    extensions = request.extensions
    return PlainRequest(
        request.method,
        str(request.url),
        request.headers.raw,
        body,
        extensions.get("call"),
        extensions.get("optional", False),
        extensions.get("kind", "model"),
        extensions.get("endpoint", ""),
    )


def header_pairs(response: Any) -> list[tuple[str, str]]:
    """Return names and values of an answer's headers, as text."""
    return [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw
    ]


def head_of(response: Any) -> Reply:
    """Return an answer without its body."""
    extensions = response.extensions
    version = extensions.get("http_version", b"HTTP/1.1").decode("ascii", "replace")
    return Reply(
        response.status_code,
        response.reason_phrase,
        version,
        header_pairs(response),
        b"",
        attempts_of(extensions.get("attempts", [])),
        settled=extensions.get("settled", False),
    )


def attempts_of(tries: Any) -> list[Attempt]:
    """Return the tries that a transport below has noted, as they are kept."""
    return msgspec.convert(tries, list[Attempt])


def whole_reply(library: Any, response: Any, body: bytes) -> Reply:
    """Return an answer with its body decoded; an encoding nobody knows stays with its bytes.

    Raises the library's ReadError where the body decodes to too much.
    """
    head = head_of(response)
    coding = encodings(head.headers)
    try:
        plain = decoded(coding, body) if coding and body else None
    except DecodesToTooMuch as error:
        raise library.ReadError(str(error)) from error
    if plain is None:
        return head._replace(body=body)
    return head._replace(body=plain, headers=without_encoding(head.headers))


def without_encoding(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return headers without those that say how a body was packed."""
    return [pair for pair in pairs if pair[0].lower() not in ("content-encoding", "content-length")]


def answer_of(library: Any, reply: Reply, stream: Any = None, *, recorded: bool = False) -> Any:
    """Return an answer of a library; recorded: whether it comes from the cassette."""
    return library.Response(
        reply.status,
        headers=[
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers
        ],
        stream=stream or library.ByteStream(reply.body),
        extensions={
            "http_version": reply.http_version.encode(),
            "reason_phrase": reply.reason.encode("ascii", "replace"),
            "attempts": reply.attempts,
            "recorded": recorded,
        },
    )


def is_taken_whole(response: object) -> bool:
    """Tell whether a body is decoded as a whole: a packed one, unless it is a stream."""
    pairs = header_pairs(response)
    return are_known(encodings(pairs)) and bool(encodings(pairs)) and not is_stream(pairs)
