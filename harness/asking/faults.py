"""What only the body of an answer tells: bad luck of status 200, and a refused key.

Bad luck is what another try may not meet. What a body means knows only who asked: the provider of
a model, or the kind of a source. A request carries its reader along, and a transport below, which
tries again, has it read what came.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import httpx

from harness.decoding import DecodesToTooMuch, decoded
from harness.errors import EndpointRefused

CHECK_KEY = (
    "Check the key, the credit and the address, then go on with `harness record`; nothing is lost."
)
LONGEST_WORDS = 200  # characters of a stranger's words in a message
UNREADABLE = "unreadable"
NOT_READ = "no reply of this provider"


class Luck(NamedTuple):
    """Bad luck: its name among the tries, and what happened, in words.

    The name is kept as it is, while words are searched for keys: no stranger's word belongs in it.
    """

    name: str
    words: str


class BodyReading(NamedTuple):
    """What a body says beyond its status.

    luck: bad luck, which is worth another try. settled: it is an answer, also with a status that
    refuses every call. refusal: why the endpoint refuses every call, "" where it does not say so.
    """

    luck: Luck | None = None
    settled: bool = False
    refusal: str = ""


NOTHING = BodyReading()
Reader = Callable[[int, httpx.Headers, bytes], BodyReading]  # a status, a head and a plain body


def bad_luck(request: httpx.Request, response: httpx.Response) -> Luck | None:
    """Have an answer's body read by who asked, and put it back; None without bad luck.

    Raises EndpointRefused where it tells of a refused key.
    """
    reader: Reader | None = request.extensions.get("reader")
    if reader is None:
        return None
    status = response.status_code
    reading = reader(status, response.headers, _body(response))
    if reading.refusal:
        where = f"{request.extensions.get('call')}: {request.url.host}"
        raise EndpointRefused(f"{where} answered {status} ({reading.refusal}). {CHECK_KEY}")
    if reading.settled:
        response.extensions["settled"] = True
    return reading.luck


def _body(response: httpx.Response) -> bytes:
    """Return a body without its encoding, and put it back; b"" where that does not fit."""
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
