"""Gemini's generateContent.

POST {base_url}/models/{model}:generateContent with x-goog-api-key; base_url ends in the version:
https://generativelanguage.googleapis.com/v1beta. Parameters stand in `generationConfig` (Gemini API
reference, Generating content; Gemini API, Structured outputs and Thinking).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from harness.asking.models.model import Message, with_text
from harness.asking.models.provider import (
    Body,
    Content,
    Endpoint,
    ErrorReply,
    Provider,
    reason_of,
    text_of,
    tokens_of,
)

CONFIG = "generationConfig"
# The parameters of a role, and their names in generationConfig.
NAMES = MappingProxyType(
    {
        "max_tokens": "maxOutputTokens",
        "max_completion_tokens": "maxOutputTokens",
        "max_output_tokens": "maxOutputTokens",
        "temperature": "temperature",
        "top_p": "topP",
        "top_k": "topK",
        "seed": "seed",
        "stop": "stopSequences",
        "n": "candidateCount",
        "presence_penalty": "presencePenalty",
        "frequency_penalty": "frequencyPenalty",
        "logprobs": "responseLogprobs",
        "top_logprobs": "logprobs",
    }
)
REASONS = MappingProxyType(
    {
        "MAX_TOKENS": "length",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "BLOCKLIST": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "SPII": "content_filter",
        "IMAGE_SAFETY": "content_filter",
    }
)
WRONG_KEY = "API_KEY_INVALID"  # told by HTTP 400, as a wrong parameter


class Gemini(Provider):
    """generateContent."""

    limit_names = (f"{CONFIG}.maxOutputTokens",)
    choices_name = f"{CONFIG}.candidateCount"
    terms = MappingProxyType({"generativelanguage.googleapis.com": "Google"})
    key_header = ("x-goog-api-key", "{key}")
    address_variables = ("GOOGLE_GEMINI_BASE_URL",)

    def url(self, endpoint: Endpoint) -> str:
        """Return the model's address under the base URL."""
        model = quote(endpoint.model.removeprefix("models/"), safe="")
        return f"{endpoint.base_url.rstrip('/')}/models/{model}:generateContent"

    def body(
        self, endpoint: Endpoint, messages: Sequence[Message], schema: Mapping[str, object] | None
    ) -> Body:
        """Return the system prompt apart from the contents, and the schema of the reply."""
        system = [message["content"] for message in messages if message["role"] == "system"]
        turns = [with_text(message) for message in messages if message["role"] != "system"]
        body: Body = {"contents": [_content(message) for message in turns]}
        if system:
            body["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
        if schema is not None and endpoint.json_mode != "none":
            config: Body = {"responseMimeType": "application/json"}
            if endpoint.json_mode == "schema":
                config["responseJsonSchema"] = schema
            body[CONFIG] = config
        return body

    def parameters(self, parameters: Mapping[str, object]) -> Body:
        """Return a role's parameters in generationConfig; those of other names as they are."""
        config = {NAMES[name]: value for name, value in parameters.items() if name in NAMES}
        if isinstance(stop := config.get("stopSequences"), str):
            config["stopSequences"] = [stop]
        other_parameters = {name: value for name, value in parameters.items() if name not in NAMES}
        return self.merged({CONFIG: config} if config else {}, other_parameters)

    def merged(self, body: Mapping[str, Any], parameters: Mapping[str, Any]) -> Body:
        """Return a body with parameters over its own, also within generationConfig."""
        merged = {**body, **parameters}
        configs = (body.get(CONFIG), parameters.get(CONFIG))
        if all(isinstance(config, Mapping) for config in configs):
            merged[CONFIG] = {**body[CONFIG], **parameters[CONFIG]}
        return merged

    def content(self, reply: Any) -> Content:
        """Return the first candidate; parts that are thoughts are never the answer.

        A prompt that is blocked has no candidates, and a candidate that is cut off or filtered may
        have no parts.
        """
        served, tokens = text_of(reply.get("modelVersion")), _tokens(reply.get("usageMetadata"))
        if not reply.get("candidates"):
            if not reply["promptFeedback"]["blockReason"]:
                raise KeyError("blockReason")
            return Content("", "content_filter", served, tokens)
        candidate = reply["candidates"][0]
        finish = reason_of(candidate.get("finishReason"))
        content_parts = candidate.get("content", {}).get("parts", [])
        if not content_parts and finish is None:
            raise KeyError("parts")
        text = "".join(
            text_of(piece.get("text")) for piece in content_parts if not piece.get("thought")
        )
        first = _first(candidate.get("logprobsResult"))
        return Content(text, REASONS.get(finish or "", finish), served, tokens, first=first)

    def error_in(self, reply: Any) -> ErrorReply | None:
        """Return the error; a key that is wrong refuses every call."""
        error = super().error_in(reply)
        if error is None or not isinstance(reply["error"], dict):
            return error
        details = reply["error"].get("details")
        reasons = details if isinstance(details, list) else []
        wrong_key = any(isinstance(d, dict) and d.get("reason") == WRONG_KEY for d in reasons)
        return error._replace(refuses=wrong_key)


def _content(message: Message) -> Body:
    role = "model" if message["role"] == "assistant" else "user"
    return {"role": role, "parts": [{"text": message["content"]}]}


def _tokens(usage: object) -> tuple[int, int] | None:
    """Return the tokens in and out, thoughts with the latter; a count of 0 may be left out."""
    if not isinstance(usage, dict) or "promptTokenCount" not in usage:
        return None
    counts = tokens_of(
        {"candidatesTokenCount": 0, **usage}, "promptTokenCount", "candidatesTokenCount"
    )
    thoughts = tokens_of(
        {"thoughtsTokenCount": 0, **usage}, "promptTokenCount", "thoughtsTokenCount"
    )
    return (counts[0], counts[1] + thoughts[1]) if counts and thoughts else None


def _first(logprobs: Any) -> tuple[tuple[str, float], ...]:
    """Return the alternatives of the first token that is no white space; () where there are none.

    logprobs: {"chosenCandidates": [{"token"}, ...], "topCandidates": [{"candidates": [{"token",
    "logProbability"}, ...]}, ...]}, a position of the text each.
    """
    try:
        tokens = [str(chosen["token"]) for chosen in logprobs["chosenCandidates"]]
        place = next(place for place, token in enumerate(tokens) if token.strip())
        top = logprobs["topCandidates"][place]["candidates"]
        pairs = [(str(token["token"]), float(token["logProbability"])) for token in top]
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration):
        return ()
    return tuple(pair for pair in pairs if pair[1] <= 0)


PROVIDER = Gemini()
