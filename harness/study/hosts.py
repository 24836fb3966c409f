"""Hosts of models, and whose terms govern what they answer."""

from __future__ import annotations

import re

TERMS = {
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
_host = re.compile(r"^[a-z]+://(?:[^/@]*@)?(\[[^\]]*\]|[^/:?#]+)")


def host_of(url: str) -> str:
    """Give the host of an address."""
    found = _host.match(url.lower())
    return found[1] if found else ""


def is_local(host: str) -> bool:
    """Tell whether a host is this machine."""
    return host in ("localhost", "[::1]") or host.startswith("127.")
