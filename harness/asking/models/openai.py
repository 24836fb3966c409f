"""OpenAI's chat completions, as OpenRouter, vLLM, Ollama, llama.cpp and many others serve them too.

POST {base_url}/chat/completions with a Bearer key (OpenAI's API reference, Chat). An error may
stand in a reply of status 200, in the place of its choices or in a choice (OpenRouter, Errors and
Debugging), and some give the content in parts, thinking among them. A filtered prompt is told by
HTTP 400, or by prompt_filter_results without choices (Azure OpenAI, Content filtering).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from harness.asking.models.model import Message, ends_in
from harness.asking.models.provider import (
    UNREADABLE,
    Body,
    Content,
    Endpoint,
    ErrorReply,
    Provider,
    error_of,
    reason_of,
    text_of,
    text_parts,
    tokens_of,
)

BROKEN_OFF = ("error", "insufficient_system_resource")  # the second is DeepSeek's
TERMS = MappingProxyType(
    {
        "api.openai.com": "OpenAI",
        "openai.azure.com": "Microsoft (Azure OpenAI)",
        "api.anthropic.com": "Anthropic",
        "generativelanguage.googleapis.com": "Google",
        "openrouter.ai": "OpenRouter, and the provider it passed the call to",
        "api.mistral.ai": "Mistral AI",
        "api.deepseek.com": "DeepSeek",
        "api.x.ai": "xAI",
        "api.groq.com": "Groq",
        "api.together.xyz": "Together AI",
        "api.cohere.com": "Cohere",
    }
)


class OpenAI(Provider):
    """Chat completions."""

    terms = TERMS
    address_variables: Sequence[str] = ("OPENAI_BASE_URL", "OPENAI_API_BASE")

    def url(self, endpoint: Endpoint) -> str:
        """Return the chat completions address under the base URL."""
        return f"{endpoint.base_url.rstrip('/')}/chat/completions"

    def body(
        self, endpoint: Endpoint, messages: Sequence[Message], schema: Mapping[str, object] | None
    ) -> Body:
        """Return model and messages, and the schema of the reply in the model's json_mode."""
        body: Body = {"model": endpoint.model, "messages": list(messages)}
        if schema is not None and endpoint.json_mode == "schema":
            json_schema = {"name": "reply", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        if schema is not None and endpoint.json_mode == "object":
            body["response_format"] = {"type": "json_object"}
        return body

    def content(self, reply: Any) -> Content:
        """Return the first choice; a reasoning field beside the content is never the answer.

        A strict schema leaves no room to decline in: the words of a refusal then stand in a field
        of their own, beside a null content.
        """
        try:
            choice = reply["choices"][0]
            message = choice["message"]
        except UNREADABLE:
            if _prompt_is_filtered(reply):
                return Content("", "content_filter", "", None)
            raise
        return Content(
            _joined(message.get("content")),
            reason_of(choice.get("finish_reason")),
            str(reply.get("model") or ""),
            tokens_of(reply.get("usage"), "prompt_tokens", "completion_tokens"),
            text_of(message.get("refusal")),
            _first(choice.get("logprobs")),
        )

    def content_of_version_1(self, reply: Any) -> Content:
        """Return the first choice; of a content in parts nothing."""
        choice = reply["choices"][0]
        text, refusal = (text_of(choice["message"].get(name)) for name in ("content", "refusal"))
        tokens = tokens_of(reply.get("usage"), "prompt_tokens", "completion_tokens")
        served = str(reply.get("model") or "")
        return Content(text, choice.get("finish_reason"), served, tokens, refusal)

    def error_in(self, reply: Any) -> ErrorReply | None:
        """Return an error in the place of the choices or of a choice's words, or that ended one."""
        choices = reply.get("choices") if isinstance(reply, dict) else None
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return super().error_in(reply)
        error = error_of(choice.get("error") or reply.get("error"))
        if ends_in(choice.get("finish_reason"), BROKEN_OFF):
            return error or ErrorReply("", "")
        return error if error and self.is_without_words(reply) else None


def _prompt_is_filtered(reply: Any) -> bool:
    """Tell whether a reply without choices says that the prompt was filtered."""
    try:
        results = [prompt["content_filter_results"] for prompt in reply["prompt_filter_results"]]
        return any(rated["filtered"] is True for result in results for rated in result.values())
    except UNREADABLE:
        return False


def _first(logprobs: Any) -> tuple[tuple[str, float], ...]:
    """Return the alternatives of the first token that is no white space; () where there are none.

    logprobs: {"content": [{"token", "logprob", "top_logprobs": [{"token", "logprob"}, ...]}, ...]},
    a position of the text each (OpenAI's API reference, The chat completion object).
    """
    try:
        position = next(token for token in logprobs["content"] if token["token"].strip())
        alternatives = position["top_logprobs"]
        pairs = [(str(token["token"]), float(token["logprob"])) for token in alternatives]
    except (*UNREADABLE, StopIteration):
        return ()
    return tuple(pair for pair in pairs if pair[1] <= 0)  # NaN is left out, too


def _joined(content: object) -> str:
    """Return a message's content; raises TypeError for what is neither a text nor its parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "".join(text_parts(content))
    raise TypeError(f"the content is a {type(content).__name__}")


PROVIDER = OpenAI()
