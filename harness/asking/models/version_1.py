"""How answers were told apart under protocol version 1: kept for studies recorded under it.

There every answer was handed to the jury, also one that never came, and thinking was part of it.
"""

from __future__ import annotations

from typing import Any

from harness.asking.models.answers import UNREADABLE, loads
from harness.asking.models.wire import CUT_OFF, FILTERED, Answer, Wire, text_of, tokens_of
from harness.results.answers import REJECTED


def answer_to(status: int, content: bytes, wire: Wire, who: str) -> Answer:
    """Return what came back, in the states of version 1; who: the call, for a message."""
    if status >= 400:
        return _rejected(f"HTTP {status}: {content.decode('utf-8', 'replace')[:300]}")
    try:
        reply = loads(content)
        return _of_openai(reply) if wire.is_chat else _of_anthropic(reply)
    except UNREADABLE as error:
        return _rejected(f"{who}: no reply of this provider ({type(error).__name__}: {error})")


def _of_openai(reply: Any) -> Answer:
    choice = reply["choices"][0]
    message, finish = choice["message"], choice.get("finish_reason")
    text, refusal = text_of(message.get("content")), text_of(message.get("refusal"))
    declined = bool(refusal) and not text.strip()
    text, state = (refusal, "filtered") if declined else (text, _state(text, finish))
    tokens = tokens_of(reply.get("usage"), "prompt_tokens", "completion_tokens")
    return Answer(text, state, finish, str(reply.get("model") or ""), tokens)


def _of_anthropic(reply: Any) -> Answer:
    blocks = [block["text"] for block in reply["content"] if block["type"] == "text"]
    text, finish = "".join(blocks), reply.get("stop_reason")
    tokens = tokens_of(reply.get("usage"), "input_tokens", "output_tokens")
    return Answer(text, _state(text, finish), finish, str(reply.get("model") or ""), tokens)


def _rejected(problem: str) -> Answer:
    return Answer("", REJECTED, None, "", None, problem)


def _state(text: str, finish: str | None) -> str:
    if finish in FILTERED:
        return "filtered"
    if not text.strip():
        return "empty"
    return "truncated" if finish in CUT_OFF else "ok"
