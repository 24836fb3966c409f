"""Anthropic's messages.

POST {base_url}/v1/messages, the key in `x-api-key`, with `anthropic-version`; max_tokens is
required, the system prompt stands apart, and the content is a list of blocks (Anthropic's API
reference, Messages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from harness.asking.models.model import Message, with_text
from harness.asking.models.provider import (
    Body,
    Content,
    Endpoint,
    Provider,
    reason_of,
    text_parts,
    tokens_of,
)

VERSION = "2023-06-01"


class Anthropic(Provider):
    """Messages."""

    unknown_parameters = ("logprobs", "top_logprobs")
    default_limit = 1024
    terms = MappingProxyType({"api.anthropic.com": "Anthropic"})
    key_header = ("x-api-key", "{key}")
    address_variables = ("ANTHROPIC_BASE_URL",)

    def url(self, endpoint: Endpoint) -> str:
        """Return the messages address under the base URL."""
        return f"{endpoint.base_url.rstrip('/')}/v1/messages"

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """Return the version of the format, and the key."""
        version = {"anthropic-version": endpoint.api_version or VERSION}
        return {**version, **super().headers(endpoint)}

    def body(
        self, endpoint: Endpoint, messages: Sequence[Message], schema: Mapping[str, object] | None
    ) -> Body:
        """Return the system prompt apart from the messages, and the reply's schema."""
        system = [message["content"] for message in messages if message["role"] == "system"]
        turns = [with_text(message) for message in messages if message["role"] != "system"]
        body: Body = {
            "model": endpoint.model,
            "max_tokens": self.default_limit,
            "messages": turns,
        }
        if system:
            body["system"] = "\n\n".join(system)
        if schema is not None and endpoint.json_mode == "schema":
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return body

    def content(self, reply: Any) -> Content:
        """Return the text blocks; thinking blocks are never the answer."""
        return Content(
            "".join(text_parts(reply["content"])),
            reason_of(reply.get("stop_reason")),
            str(reply.get("model") or ""),
            tokens_of(reply.get("usage"), "input_tokens", "output_tokens"),
        )


PROVIDER = Anthropic()
