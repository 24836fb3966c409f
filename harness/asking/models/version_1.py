"""How answers were told apart under protocol version 1: kept for studies recorded under it.

There every answer was handed to the jury, also one that never came, and thinking was part of it.
"""

from __future__ import annotations

from harness.asking.models.answers import loads
from harness.asking.models.model import CUT_OFF, FILTERED, Answer
from harness.asking.models.provider import UNREADABLE, Provider
from harness.results.answers import REJECTED


def answer_to(status: int, content: bytes, provider: Provider, who: str) -> Answer:
    """Return what came back, in the states of version 1; who: the call, for a message."""
    if status >= 400:
        return _rejected(f"HTTP {status}: {content.decode('utf-8', 'replace')[:300]}")
    try:
        held = provider.content_of_version_1(loads(content))
    except UNREADABLE as error:
        return _rejected(f"{who}: no reply of this provider ({type(error).__name__}: {error})")
    declined = bool(held.refusal) and not held.text.strip()
    text = held.refusal if declined else held.text
    state = "filtered" if declined else _state(text, held.finish_reason)
    return Answer(text, state, held.finish_reason, held.served, held.tokens)


def _rejected(problem: str) -> Answer:
    return Answer("", REJECTED, None, "", None, problem)


def _state(text: str, finish: str | None) -> str:
    if finish in FILTERED:
        return "filtered"
    if not text.strip():
        return "empty"
    return "truncated" if finish in CUT_OFF else "ok"
