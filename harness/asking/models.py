"""Ask a model over the transport that we are handed, and tell an answer from a failure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import httpx
import msgspec

from harness.asking.wire import WIRES, Answer, Endpoint, Message
from harness.errors import REFUSALS, EndpointRefused, Incomplete, is_passing

LIMITED = ("connect", "read", "write", "pool")  # the parts of a call that httpx limits in time


class ChatModel:
    """One model behind one transport."""

    def __init__(self, endpoint: Endpoint, transport: httpx.BaseTransport) -> None:
        self.endpoint = endpoint
        self._transport = transport
        self._wire = WIRES[endpoint.provider]

    def ask(
        self,
        call: str,
        messages: Sequence[Message],
        *,
        params: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Ask once, under the name `call`.

        params: this role's own; the model's override them. schema: a JSON schema the reply is to
        follow, asked for in the model's json_mode. Raises Incomplete where no answer could be had,
        EndpointRefused where none ever will.
        """
        body = self._wire.body(self.endpoint, messages, schema)
        body |= {**(params or {}), **self.endpoint.params}
        kept = {name: value for name, value in body.items() if name not in self.endpoint.omit}
        try:
            status, content = self._send(call, kept)
        except httpx.TransportError as error:
            raise Incomplete(
                f"{call}: {self.endpoint.name} at {self.endpoint.base_url} gave no answer "
                f"({type(error).__name__}: {error}). It will be asked again when `harness record` "
                "goes on."
            ) from error
        return self._read(call, status, content)

    def _send(self, call: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        content = msgspec.json.encode(body)
        url = _parsed(self._wire.url(self.endpoint))
        # A stream and whole headers: all that httpx works out for a content takes ten times longer.
        request = httpx.Request(
            "POST",
            url,
            headers=[
                (b"Host", url.netloc),
                (b"content-type", b"application/json"),
                *_encoded(self._wire.headers(self.endpoint)),
                (b"Content-Length", b"%d" % len(content)),
            ],
            stream=httpx.ByteStream(content),
            extensions={
                "call": call,
                "endpoint": self.endpoint.name,
                "timeout": dict.fromkeys(LIMITED, self.endpoint.timeout),
            },
        )
        response = self._transport.handle_request(request)
        try:
            return response.status_code, response.read()
        finally:
            response.close()

    def _read(self, call: str, status: int, content: bytes) -> Answer:
        said = content.decode("utf-8", "replace")[:300]
        who = f"{call}: {self.endpoint.name} ({self.endpoint.model}) at {self.endpoint.base_url}"
        if status in REFUSALS:
            raise EndpointRefused(
                f"{who} answered {status}: {said!r}. Check the key, the credit and the model's "
                "name (`harness check`), then go on with `harness record`; nothing is lost."
            )
        if is_passing(status):
            raise Incomplete(
                f"{who} answered {status} to the last try: {said!r}. It will be asked again when "
                "`harness record` goes on."
            )
        if status >= 400:
            return _rejected(f"HTTP {status}: {said}")
        try:
            return self._wire.answer(_loads(content))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            return _rejected(f"{who}: no reply of this provider ({type(error).__name__}: {error})")


@lru_cache(maxsize=256)
def _parsed(url: str) -> httpx.URL:
    return httpx.URL(url)


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]


def _rejected(problem: str) -> Answer:
    return Answer("", "rejected", None, "", None, problem)


def _loads(content: bytes) -> Any:
    """Read JSON; a lone surrogate, which msgspec refuses, becomes U+FFFD."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _replaced(json.loads(content.decode("utf-8", "replace")))


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_replaced(key): _replaced(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner) for inner in value]
    return value
