"""Ask a model: OpenAI-compatible chat completions over the transport that we are handed.

Wire format: the chat completions endpoint, POST {base_url}/chat/completions, as OpenAI's API
reference describes it and vLLM, Ollama and llama.cpp serve it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import httpx
import msgspec

from harness.errors import EndpointRefused, Incomplete

Message = dict[str, str]
JSON_MODES = ("schema", "object", "none")


class Endpoint(NamedTuple):
    """Where a model is and how it wants to be asked.

    name: ours, in call names and results. params: sent with every request (temperature, ...), and
    `omit` names what is taken out again. json_mode: how JSON is asked for. timeout: seconds.
    """

    name: str
    base_url: str
    model: str
    params: Mapping[str, Any]
    omit: Sequence[str] = ()
    json_mode: str = "schema"
    api_key: str | None = None
    timeout: float = 600.0


class Answer(NamedTuple):
    """What a model said.

    state: "ok", "empty", "truncated" (by the token limit), "filtered" or "rejected" (a refusal of
    the endpoint that every repetition would meet; `problem` says its words). tokens: prompt and
    completion, None where the endpoint does not say.
    """

    text: str
    state: str
    finish_reason: str | None
    served: str
    tokens: tuple[int, int] | None
    problem: str = ""


Ask = Callable[..., Answer]


class ChatModel:
    """One model behind one transport."""

    def __init__(self, endpoint: Endpoint, transport: httpx.BaseTransport) -> None:
        self.endpoint = endpoint
        self._transport = transport

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
        body = self.body(messages, params or {}, schema)
        try:
            status, content = self._send(call, body)
        except httpx.TransportError as error:
            raise Incomplete(
                f"{call}: {self.endpoint.name} at {self.endpoint.base_url} gave no "
                f"answer ({type(error).__name__}: {error}). It will be asked again "
                "when `harness record` goes on."
            ) from error
        return self._read(call, status, content)

    def body(
        self,
        messages: Sequence[Message],
        params: Mapping[str, Any],
        schema: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """Give the request's JSON body."""
        body: dict[str, Any] = {"model": self.endpoint.model, "messages": list(messages)}
        body |= {**params, **self.endpoint.params}
        if schema is not None and self.endpoint.json_mode == "schema":
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": schema},
            }
        if schema is not None and self.endpoint.json_mode == "object":
            body["response_format"] = {"type": "json_object"}
        return {name: value for name, value in body.items() if name not in self.endpoint.omit}

    def _send(self, call: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        headers = {"content-type": "application/json"}
        if self.endpoint.api_key:
            headers["authorization"] = f"Bearer {self.endpoint.api_key}"
        request = httpx.Request(
            "POST",
            f"{self.endpoint.base_url.rstrip('/')}/chat/completions",
            headers=headers,
            content=msgspec.json.encode(body),
            extensions={"call": call, "timeout": httpx.Timeout(self.endpoint.timeout).as_dict()},
        )
        response = self._transport.handle_request(request)
        try:
            return response.status_code, response.read()
        finally:
            response.close()

    def _read(self, call: str, status: int, content: bytes) -> Answer:
        said = content.decode("utf-8", "replace")[:300]
        who = f"{call}: {self.endpoint.name} ({self.endpoint.model}) at {self.endpoint.base_url}"
        if status in (401, 402, 403, 404):
            raise EndpointRefused(
                f"{who} answered {status}: {said!r}. Check the key, the credit "
                "and the model's name (`harness check`), then go on with "
                "`harness record`; nothing is lost."
            )
        if status >= 500 or status in (408, 409, 425, 429):
            raise Incomplete(
                f"{who} answered {status} to the last try: {said!r}. It will be asked "
                "again when `harness record` goes on."
            )
        if status >= 400:
            return Answer("", "rejected", None, "", None, f"HTTP {status}: {said}")
        return self._answer(who, content)

    def _answer(self, who: str, content: bytes) -> Answer:
        try:
            reply = _loads(content)
            choice = reply["choices"][0]
            message = choice["message"]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            return Answer(
                "",
                "rejected",
                None,
                "",
                None,
                f"{who} answered something that is no chat completion "
                f"({type(error).__name__}: {error})",
            )
        text, finish = message.get("content"), choice.get("finish_reason")
        text = text if isinstance(text, str) else ""
        return Answer(
            text,
            _state(text, finish),
            finish,
            str(reply.get("model") or ""),
            _tokens(reply.get("usage")),
        )


def _state(text: str, finish: str | None) -> str:
    if finish == "content_filter":
        return "filtered"
    if not text.strip():
        return "empty"
    return "truncated" if finish == "length" else "ok"


def _tokens(usage: Any) -> tuple[int, int] | None:
    try:
        return int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    except (KeyError, TypeError, ValueError):
        return None


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
