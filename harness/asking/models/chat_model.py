"""Ask a model over a transport, and tell an answer from a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import httpx
import msgspec

from harness.asking.faults import NOT_READ, BodyReading
from harness.asking.models import version_1
from harness.asking.models.answers import answer_to, failed, reading_of
from harness.asking.models.model import Answer, Message
from harness.asking.models.provider import (
    Endpoint,
    address,
    provider_of,
    request_body,
    request_headers,
)
from harness.errors import REFUSALS, EndpointRefused, Incomplete, is_passing
from harness.results.answers import FILTERED, NO_REPLY

LIMITED = ("connect", "read", "write", "pool")  # the parts of a call that httpx limits in time


Noticed = Callable[[str, bytes, Answer], None]  # the model, the request's body, what came of it


def unnoticed(model: str, body: bytes, answer: Answer) -> None:
    """Take no notice of an answer."""


READ_TWICE = "; where no reply can be read then either, the answer is missing"


class Manner(NamedTuple):
    """How a study asks its models.

    version: of the protocol, which decides what an answer is. accepts_missing: whether an error
    that stays is an answer, and a missing one. noticed: hears of each answer that was sent for.
    """

    version: int = 2
    accepts_missing: bool = False
    noticed: Noticed = unnoticed


MANNER = Manner()


class _Came(NamedTuple):
    """What came back; recorded: whether from a recording, and so for good."""

    status: int
    content: bytes
    recorded: bool


class ChatModel:
    """One model behind one transport."""

    def __init__(
        self, endpoint: Endpoint, transport: httpx.BaseTransport, manner: Manner = MANNER
    ) -> None:
        self.endpoint = endpoint
        self._transport, self._manner = transport, manner
        self._provider = provider_of(endpoint.provider)
        self._url = _parsed(address(endpoint))
        self._head = [  # the same for every call, and as long in the making as the rest of it
            (b"Host", self._url.netloc),
            (b"content-type", b"application/json"),
            *_encoded(request_headers(endpoint)),
        ]

    def ask(
        self,
        call: str,
        messages: Sequence[Message],
        *,
        params: Mapping[str, object] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> Answer:
        """Ask once, under the name `call`.

        params: this role's own; the model's override them. schema: a JSON schema the reply is to
        follow, asked for in the model's json_mode. Raises Incomplete where no answer could be had,
        EndpointRefused where none ever will.
        """
        data = msgspec.json.encode(request_body(self.endpoint, messages, params or {}, schema))
        try:
            came = self._send(call, data)
        except httpx.TransportError as error:
            answer = self._without_reply(call, error)
            recorded = comes_from_recording(error)
        else:
            answer, recorded = self._read(call, came), came.recorded
        if not recorded:
            self._manner.noticed(self.endpoint.name, data, answer)
        return answer

    def _send(self, call: str, content: bytes) -> _Came:
        # A stream and whole headers: all that httpx works out for a content takes ten times longer.
        request = httpx.Request(
            "POST",
            self._url,
            headers=[*self._head, (b"Content-Length", b"%d" % len(content))],
            stream=httpx.ByteStream(content),
            extensions={
                "call": call,
                "endpoint": self.endpoint.name,
                "timeout": dict.fromkeys(LIMITED, self.endpoint.timeout),
                "optional": self._manner.accepts_missing,
                "reader": self._reading,
                "settles": self._manner.version > 1,
            },
        )
        response = self._transport.handle_request(request)
        try:
            content = response.read()
        except httpx.DecodingError:  # not of the encoding that its head names: no reply
            content = b""
        finally:
            response.close()
        return _Came(response.status_code, content, bool(response.extensions.get("recorded")))

    def _reading(self, status: int, _headers: httpx.Headers, content: bytes) -> BodyReading:
        """Tell a transport below what a body says beyond its status."""
        return reading_of(status, content, self._provider, self.endpoint.thinking)

    def _without_reply(self, call: str, error: httpx.TransportError) -> Answer:
        """Return a missing answer for an error that is one for good; others raise Incomplete."""
        words = f"{type(error).__name__}: {error}"
        if self._manner.accepts_missing or comes_from_recording(error):
            return failed(NO_REPLY, words)
        raise Incomplete(
            f"{call}: {self.endpoint.name} at {self.endpoint.base_url} gave no answer ({words}). "
            "It will be asked again when `harness record` goes on"
            f"{READ_TWICE if NOT_READ in words else ''}."
        ) from error

    def _read(self, call: str, came: _Came) -> Answer:
        status, content, recorded = came
        answer = answer_to(status, content, self._provider, self.endpoint.thinking)
        if status in REFUSALS and answer.state != FILTERED:
            raise EndpointRefused(
                f"{self._who(call)} answered {status}: {_words(content)}. Check the key, the "
                "credit and the model's name (`harness check`), then go on with `harness record`; "
                "nothing is lost."
            )
        if is_passing(status) and not (self._manner.accepts_missing or recorded):
            raise Incomplete(
                f"{self._who(call)} answered {status} to the last try: {_words(content)}. It will "
                "be asked again when `harness record` goes on."
            )
        if self._manner.version == 1:
            return version_1.answer_to(status, content, self._provider, self._who(call))
        return failed(NO_REPLY, answer.problem) if is_passing(status) else answer

    def _who(self, call: str) -> str:
        return f"{call}: {self.endpoint.name} ({self.endpoint.model}) at {self.endpoint.base_url}"


def _words(content: bytes) -> str:
    return repr(content.decode("utf-8", "replace")[:300])


def comes_from_recording(error: BaseException) -> bool:
    """Tell whether an error comes from a recording, and so for good."""
    return bool(getattr(error, "recorded", False))


@lru_cache(maxsize=256)
def _parsed(url: str) -> httpx.URL:
    return httpx.URL(url)


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
