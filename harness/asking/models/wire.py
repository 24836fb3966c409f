"""Wire formats of model providers: a question as each wants it, an answer as each gives it.

openai: POST {base_url}/chat/completions with a Bearer key, as OpenAI's API reference describes it
and OpenRouter, vLLM, Ollama and llama.cpp serve it. azure: the same body, POST
{base_url}/openai/deployments/{model}/chat/completions?api-version=..., key in `api-key` (Azure
OpenAI REST reference, data plane inference). anthropic: POST {base_url}/v1/messages, key in
`x-api-key`, with `anthropic-version`; max_tokens is required, the system prompt stands apart, and
the content is a list of blocks (Anthropic's API reference, Messages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode

from harness.asking.models.blank import is_blank

Message = dict[str, str]
NO_TEXT = "(empty)"  # stands for an answer without a text
Body = dict[str, Any]
ANTHROPIC_VERSION = "2023-06-01"
ANTHROPIC_MAX_TOKENS = 1024
# Finish reasons, in the words of OpenAI and of Anthropic.
FILTERED = ("content_filter", "refusal")
CUT_OFF = ("length", "max_tokens", "model_context_window_exceeded")
# Finish reasons of filters: OpenAI's and Azure's, Anthropic's, Bedrock's, Gemini's, in lower case.
FILTERING = (
    "content_filter", "refusal", "content_filtered", "guardrail_intervened", "safety",
    "prohibited_content", "blocklist", "spii", "recitation",
)  # fmt: skip
BROKEN_OFF = ("error", "insufficient_system_resource")  # the second is DeepSeek's
MOST_TOKENS = 10**9  # of one call: no model reads or writes as many


class Endpoint(NamedTuple):
    """Where a model is and how it wants to be asked.

    name: ours, in call names and results. model: the provider's; on Azure the deployment. params:
    sent with every request, and `omit` names what is taken out again. json_mode: how JSON is asked
    for ("schema", "object", "none"). timeout: seconds. thinking: how this model's begins and ends,
    where it has marks of its own. headers, query: sent with every request.
    key_header: carries the bare key, in the place of the provider's own header.
    """

    name: str
    base_url: str
    model: str
    params: Mapping[str, Any]
    omit: Sequence[str] = ()
    json_mode: str = "schema"
    api_key: str | None = None
    timeout: float = 600.0
    provider: str = "openai"
    api_version: str = ""
    thinking: tuple[str, str] | None = None
    headers: Mapping[str, str] = MappingProxyType({})
    query: Mapping[str, str] = MappingProxyType({})
    key_header: str | None = None


class Answer(NamedTuple):
    """What a model said, without its thinking.

    state: a kind of results.answers.KINDS (in a study of protocol version 1: "ok", "empty",
    "truncated", "filtered" or "rejected"). finish_reason: the endpoint's, "refusal" for what was
    declined in a field of its own. tokens: prompt and completion, None where the endpoint does not
    say. problem: what came instead of a reply. thought: whether thinking was taken out. lost:
    whether the answer is missing, so that there is nothing to judge and `text` is "". first: the
    likeliest first tokens with their log probabilities, where they were asked for and given, and
    where the likeliest begins `text`; () of an answer that is missing or had thinking.
    """

    text: str
    state: str
    finish_reason: str | None
    served: str
    tokens: tuple[int, int] | None
    problem: str = ""
    thought: bool = False
    lost: bool = False
    first: tuple[tuple[str, float], ...] = ()


class Content(NamedTuple):
    """What a provider's reply holds; refusal: the words of one that has a field of its own.

    first: the likeliest first tokens (the first that are no white space), as in Answer.
    """

    text: str
    finish_reason: str | None
    served: str
    tokens: tuple[int, int] | None
    refusal: str = ""
    first: tuple[tuple[str, float], ...] = ()


class Model(Protocol):
    """Whatever can be asked."""

    def ask(
        self,
        call: str,
        messages: Sequence[Message],
        *,
        params: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Ask once, under the name `call`."""


class Wire(Protocol):
    """One provider's format.

    is_chat: whether it is that of OpenAI's chat completions. unknown: the parameters of a role
    that it does not have.
    """

    is_chat: bool
    unknown: Sequence[str]

    def url(self, endpoint: Endpoint) -> str:
        """Give the address to post to."""

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """Give the headers, the key among them."""

    def body(
        self, endpoint: Endpoint, messages: Sequence[Message], schema: Mapping[str, Any] | None
    ) -> Body:
        """Give the body without the parameters that the study names."""

    def content(self, reply: Any) -> Content:
        """Return what a reply holds.

        Raises KeyError, IndexError, TypeError or AttributeError where it is none.
        """


class OpenAI:
    """Chat completions."""

    is_chat = True
    unknown: Sequence[str] = ()

    def url(self, endpoint: Endpoint) -> str:
        """Give the chat completions address under the base URL."""
        return f"{endpoint.base_url.rstrip('/')}/chat/completions"

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """Give the key as a Bearer token, if there is one."""
        return {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}

    def body(
        self, endpoint: Endpoint, messages: Sequence[Message], schema: Mapping[str, Any] | None
    ) -> Body:
        """Give model and messages, and the form of the reply in the model's json_mode."""
        body: Body = {"model": endpoint.model, "messages": list(messages)}
        if schema is not None and endpoint.json_mode == "schema":
            form = {"name": "reply", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if schema is not None and endpoint.json_mode == "object":
            body["response_format"] = {"type": "json_object"}
        return body

    def content(self, reply: Any) -> Content:
        """Return the first choice; a reasoning field beside the content is never the answer.

        A strict schema leaves no room to decline in: the words of a refusal then stand in a field
        of their own, beside a null content. Some give the content in parts, thinking among them.
        """
        choice = reply["choices"][0]
        message = choice["message"]
        return Content(
            _joined(message.get("content")),
            _reason(choice.get("finish_reason")),
            str(reply.get("model") or ""),
            tokens_of(reply.get("usage"), "prompt_tokens", "completion_tokens"),
            text_of(message.get("refusal")),
            _first(choice.get("logprobs")),
        )


class Azure(OpenAI):
    """Chat completions of a deployment on Azure."""

    def url(self, endpoint: Endpoint) -> str:
        """Give the deployment's address, with the API version as its query."""
        deployment = quote(endpoint.model, safe="")
        return (
            f"{endpoint.base_url.rstrip('/')}/openai/deployments/{deployment}/chat/completions"
            f"?api-version={endpoint.api_version}"
        )

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """Give the key in Azure's own header."""
        return {"api-key": endpoint.api_key} if endpoint.api_key else {}


class Anthropic:
    """Messages."""

    is_chat = False
    unknown: Sequence[str] = ("logprobs", "top_logprobs")

    def url(self, endpoint: Endpoint) -> str:
        """Give the messages address under the base URL."""
        return f"{endpoint.base_url.rstrip('/')}/v1/messages"

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """Give the version of the format, and the key."""
        key = {"x-api-key": endpoint.api_key} if endpoint.api_key else {}
        return {"anthropic-version": endpoint.api_version or ANTHROPIC_VERSION, **key}

    def body(
        self, endpoint: Endpoint, messages: Sequence[Message], schema: Mapping[str, Any] | None
    ) -> Body:
        """Give the system prompt apart from the messages, and the reply's form."""
        system = [said["content"] for said in messages if said["role"] == "system"]
        spoken = [with_text(said) for said in messages if said["role"] != "system"]
        body: Body = {
            "model": endpoint.model,
            "max_tokens": ANTHROPIC_MAX_TOKENS,
            "messages": spoken,
        }
        if system:
            body["system"] = "\n\n".join(system)
        if schema is not None and endpoint.json_mode == "schema":
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return body

    def content(self, reply: Any) -> Content:
        """Return the text blocks; thinking blocks are never the answer."""
        return Content(
            "".join(_text_parts(reply["content"])),
            _reason(reply.get("stop_reason")),
            str(reply.get("model") or ""),
            tokens_of(reply.get("usage"), "input_tokens", "output_tokens"),
        )


WIRES: Mapping[str, Wire] = {"openai": OpenAI(), "azure": Azure(), "anthropic": Anthropic()}


def address(endpoint: Endpoint) -> str:
    """Return the URL that a model's requests are posted to, its study's query parameters in it."""
    url = WIRES[endpoint.provider].url(endpoint)
    if not endpoint.query:
        return url
    return f"{url}{'&' if '?' in url else '?'}{urlencode(endpoint.query)}"


def request_headers(endpoint: Endpoint) -> dict[str, str]:
    """Return the headers of a model's requests, the key and its study's own headers among them."""
    if endpoint.key_header and endpoint.api_key:
        keyless = WIRES[endpoint.provider].headers(endpoint._replace(api_key=None))
        return {**keyless, **endpoint.headers, endpoint.key_header: endpoint.api_key}
    return {**WIRES[endpoint.provider].headers(endpoint), **endpoint.headers}


def request_body(
    endpoint: Endpoint,
    messages: Sequence[Message],
    params: Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
) -> Body:
    """Return what is sent to a model: the role's `params` under its own, `omit` taken out.

    A parameter of the role that the provider's API does not have is left out, too.
    """
    wire = WIRES[endpoint.provider]
    role = {name: value for name, value in params.items() if name not in wire.unknown}
    body = {**wire.body(endpoint, messages, schema), **role, **endpoint.params}
    return {name: value for name, value in body.items() if name not in endpoint.omit}


def ends_in(finish: Any, reasons: Sequence[str]) -> bool:
    """Tell whether a finish reason is one of `reasons`, without regard to case."""
    return isinstance(finish, str) and finish.lower() in reasons


def is_without_words(choice: Mapping[str, Any]) -> bool:
    """Tell whether a choice of a chat has no text, no refusal and no reason for that."""
    if ends_in(choice.get("finish_reason"), (*FILTERING, *CUT_OFF)):
        return False
    message = choice.get("message")
    if not isinstance(message, dict):
        return True
    try:
        return is_blank(_joined(message.get("content")) + text_of(message.get("refusal")))
    except (KeyError, TypeError):
        return True


def with_text(said: Message) -> Message:
    """Give a message as it is, or NO_TEXT for its text: Anthropic takes none without one."""
    return said if said["content"].strip() else {**said, "content": NO_TEXT}


def text_of(value: Any) -> str:
    """Return a text as it is, and "" for whatever is none."""
    return value if isinstance(value, str) else ""


def tokens_of(usage: Any, prompt: str, completion: str) -> tuple[int, int] | None:
    """Return the tokens in and out, None where one is missing or more than any model has."""
    try:
        counts = int(usage[prompt]), int(usage[completion])
    except (KeyError, TypeError, ValueError, OverflowError):  # the last: of 1e999
        return None
    return counts if all(0 <= count <= MOST_TOKENS for count in counts) else None


def _first(logprobs: Any) -> tuple[tuple[str, float], ...]:
    """Return the alternatives of the first token that is no white space; () where there are none.

    logprobs: {"content": [{"token", "logprob", "top_logprobs": [{"token", "logprob"}, ...]}, ...]},
    a position of the text each, as OpenAI's API reference has it (Chat, the completion object).
    """
    try:
        position = next(one for one in logprobs["content"] if one["token"].strip())
        pairs = [(str(one["token"]), float(one["logprob"])) for one in position["top_logprobs"]]
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        return ()
    return tuple(pair for pair in pairs if pair[1] <= 0)  # NaN is left out, too


def _joined(content: Any) -> str:
    """Return a message's content; raises TypeError for what is neither a text nor its parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "".join(_text_parts(content))
    raise TypeError(f"the content is a {type(content).__name__}")


def _text_parts(parts: Sequence[Any]) -> list[str]:
    return [str(part["text"]) for part in parts if part["type"] == "text"]


def _reason(finish: Any) -> str | None:
    return finish if isinstance(finish, str) else None
