"""What came back from a call, decided in one place: see the table in harness.results.answers.

Shapes of a provider's content filter: HTTP 400 with the code content_filter, or the inner code
ResponsibleAIPolicyViolation, for a prompt, and the finish reason content_filter for an answer
(Azure OpenAI, Content filtering); a 400 that says so in words (OpenAI's invalid_prompt, Anthropic's
"content filtering policy"); the stop reason refusal, with as much text as had come (Anthropic,
Handle streaming refusals); 403 with `flagged_input` or `reasons` in the error's metadata
(OpenRouter, Errors and Debugging); no choices beside prompt_filter_results that are filtered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from harness.asking.faults import LASTING
from harness.asking.models.blank import is_blank
from harness.asking.models.thinking import Marks, spoken
from harness.asking.models.wire import (
    BROKEN_OFF,
    CUT_OFF,
    FILTERING,
    Answer,
    Content,
    Wire,
    ends_in,
    is_without_words,
)
from harness.asking.replies.parser import refuses
from harness.results.answers import (
    CUT_OFF_THINKING,
    EMPTY,
    FILTERED,
    KINDS,
    NO_REPLY,
    OK,
    REFUSED,
    REJECTED,
    TRUNCATED,
)

FILTER_CODES = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")
FILTER_WORDS = ("content filtering policy", "usage policy", "content management policy")
LONGEST_WORDS = 300  # characters of a stranger's words in a message
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


def answer_to(status: int, content: bytes, wire: Wire, own: Marks | None = None) -> Answer:
    """Return what came back, as one of KINDS; own: the marks of this model's thinking.

    status: HTTP's; what is bad luck or refuses every call is the caller's to tell before.
    """
    try:
        reply = loads(content)
    except UNREADABLE as error:
        kind = REJECTED if status >= 400 else NO_REPLY
        return failed(kind, f"HTTP {status}, no JSON ({error}): {_words(content)}")
    if status >= 400 or _fault_of(reply) is not None:
        problem = f"HTTP {status}: {_words(content, reply)}"
        return failed(_kind_of_fault(status, reply), problem)
    try:
        return _answer(wire.content(reply), own)
    except UNREADABLE as error:
        kind = FILTERED if _prompt_is_filtered(reply) else NO_REPLY
        problem = f"HTTP {status} ({type(error).__name__}: {error}): {_words(content)}"
        return failed(kind, problem)


def _words(content: bytes, reply: Any = None) -> str:
    """Return the words of an error, or of whatever came, quoted and cut."""
    fault = _fault_of(reply)
    message = fault.get("message") if isinstance(fault, dict) else fault
    text = message if isinstance(message, str) else content.decode("utf-8", "replace")
    return json.dumps(text[:LONGEST_WORDS], ensure_ascii=False)


def failed(kind: str, problem: str) -> Answer:
    """Return the answer that stands for a call without one."""
    return Answer("", kind, None, "", None, problem, lost=True)


def loads(content: bytes) -> Any:
    """Return JSON as plain data; a lone surrogate, which msgspec refuses, becomes U+FFFD."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _replaced(json.loads(content.decode("utf-8", "replace")))


def _answer(content: Content, own: Marks | None) -> Answer:
    """Return an answer without its thinking; one that is missing has no text."""
    declined = bool(content.refusal) and is_blank(content.text)
    said = spoken(content.refusal if declined else content.text, own)
    kind = _kind(said.text, content.finish_reason, declined=declined, ended=said.ended)
    is_missing = KINDS[kind].is_missing
    text = "" if is_missing else said.text
    return Answer(
        text,
        kind,
        "refusal" if declined else content.finish_reason,
        content.served,
        content.tokens,
        thought=said.thought,
        lost=is_missing,
        first=() if said.thought else _first_of(text, content),
    )


def _first_of(text: str, content: Content) -> tuple[tuple[str, float], ...]:
    """Return the likeliest first tokens where the likeliest begins the text; else ().

    Those of a thought, which an endpoint may keep in a field of its own, say nothing of the text.
    """
    likeliest = max(content.first, key=lambda pair: pair[1], default=("", 0.0))[0].strip()
    return content.first if likeliest and text.lstrip().startswith(likeliest) else ()


def _kind(said: str, finish: str | None, *, declined: bool, ended: bool) -> str:
    """Tell what a readable reply is, by what was said and by why it ended."""
    if ends_in(finish, FILTERING):
        return FILTERED
    if not ended:
        return CUT_OFF_THINKING
    if is_blank(said):
        return CUT_OFF_THINKING if ends_in(finish, CUT_OFF) else EMPTY
    if declined:
        return REFUSED
    if ends_in(finish, CUT_OFF):
        return TRUNCATED
    return REFUSED if refuses(said) else OK


def _fault_of(reply: Any) -> Any:
    """Return the error that stands in an answer's place, as Luck of faults.py; None without."""
    if not isinstance(reply, dict):
        return None
    choices = reply.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict):
        fault = first.get("error") or reply.get("error")
        if ends_in(first.get("finish_reason"), BROKEN_OFF):
            return fault or {}
        return (fault or None) if is_without_words(first) else None
    return (reply.get("error") or None) if first is None and not reply.get("content") else None


def _kind_of_fault(status: int, reply: Any) -> str:
    fault = _fault_of(reply)
    error = fault if isinstance(fault, dict) else {}
    if _is_filter(error):
        return FILTERED
    return REJECTED if status >= 400 or str(error.get("code")) in LASTING else NO_REPLY


def _is_filter(error: Mapping[str, Any]) -> bool:
    inner, metadata = error.get("innererror"), error.get("metadata")
    codes = [error.get("code"), error.get("type")]
    codes += [inner.get("code")] if isinstance(inner, dict) else []
    if any(code in FILTER_CODES for code in codes):
        return True
    if isinstance(metadata, dict) and ("flagged_input" in metadata or "reasons" in metadata):
        return True
    words = str(error.get("message")).casefold()
    return any(sign in words for sign in FILTER_WORDS)


def _prompt_is_filtered(reply: Any) -> bool:
    """Tell whether a reply without choices says that the prompt was filtered."""
    try:
        results = [part["content_filter_results"] for part in reply["prompt_filter_results"]]
        return any(part["filtered"] is True for result in results for part in result.values())
    except UNREADABLE:
        return False


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_replaced(key): _replaced(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner) for inner in value]
    return value
