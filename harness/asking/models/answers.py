"""What came back from a call, decided in one place: see the table in harness.results.answers."""

from __future__ import annotations

import json
import re

import httpx
import msgspec

from harness.asking.faults import LONGEST_WORDS, NOT_READ, NOTHING, UNREADABLE, BodyReading, Luck
from harness.asking.models.blank import is_blank
from harness.asking.models.model import CUT_OFF, FILTERING, Answer, ends_in
from harness.asking.models.provider import UNREADABLE as NO_REPLY_ERRORS
from harness.asking.models.provider import Content, ErrorReply, Provider
from harness.asking.models.thinking import Marks, spoken
from harness.asking.replies.parser import refuses
from harness.errors import is_passing
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

LONGEST_PROBLEM = 300  # characters of a stranger's words in a message


def answer_to(
    status: int, content: bytes, provider: Provider, own_marks: Marks | None = None
) -> Answer:
    """Return what came back, as one of KINDS; own_marks: those of this model's thinking.

    status: HTTP's; what is bad luck or refuses every call is the caller's to tell before.
    """
    try:
        reply = loads(content)
    except NO_REPLY_ERRORS as error:
        kind = REJECTED if status >= 400 else NO_REPLY
        return failed(kind, f"HTTP {status}, no JSON ({error}): {_words(content)}")
    error_reply = provider.error_in(reply)
    if status >= 400 or error_reply is not None:
        problem = f"HTTP {status}: {_words(content, error_reply)}"
        return failed(_kind_of_error(status, error_reply), problem)
    try:
        return _answer(provider.content(reply), own_marks)
    except NO_REPLY_ERRORS as error:
        problem = f"HTTP {status} ({type(error).__name__}: {error}): {_words(content)}"
        return failed(NO_REPLY, problem)


def reading_of(
    status: int, content: bytes, provider: Provider, own_marks: Marks | None
) -> BodyReading:
    """Return what a body says beyond its status, for the transport that tries again."""
    error_reply = _error_in(content, provider)
    if error_reply is not None and error_reply.refuses:
        return BodyReading(refusal=_quoted(error_reply.words))
    if is_passing(status):
        return NOTHING
    answer = answer_to(status, content, provider, own_marks)
    if answer.state == FILTERED:
        return BodyReading(settled=True)
    if status == httpx.codes.OK and error_reply is not None:
        return NOTHING if error_reply.is_lasting else BodyReading(_luck(error_reply))
    if answer.state == NO_REPLY:
        return BodyReading(Luck(UNREADABLE, f"{NOT_READ} ({answer.problem})"))
    return NOTHING


def _error_in(content: bytes, provider: Provider) -> ErrorReply | None:
    try:
        return provider.error_in(loads(content))
    except NO_REPLY_ERRORS:
        return None


def _luck(error_reply: ErrorReply) -> Luck:
    """Name an error by its number only: names are kept as they are, words are searched for keys."""
    name = f"error {error_reply.code}" if re.fullmatch(r"[0-9]{1,4}", error_reply.code) else "error"
    words = f", {error_reply.words[:LONGEST_WORDS]!r}," if error_reply.words else ""
    return Luck(name, f"the endpoint answered 200 with {name}{words}")


def _words(content: bytes, error_reply: ErrorReply | None = None) -> str:
    """Return the words of an error, or of whatever came, quoted and cut."""
    return _quoted((error_reply.words if error_reply else "") or content.decode("utf-8", "replace"))


def _quoted(words: str) -> str:
    return json.dumps(words[:LONGEST_PROBLEM], ensure_ascii=False)


def failed(kind: str, problem: str) -> Answer:
    """Return the answer that stands for a call without one."""
    return Answer("", kind, None, "", None, problem, lost=True)


def loads(content: bytes) -> object:
    """Return JSON as plain data; a lone surrogate, which msgspec refuses, becomes U+FFFD."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _replaced(json.loads(content.decode("utf-8", "replace")))


def _answer(content: Content, own_marks: Marks | None) -> Answer:
    """Return an answer without its thinking; one that is missing has no text."""
    declined = bool(content.refusal) and is_blank(content.text)
    answer_text = spoken(content.refusal if declined else content.text, own_marks)
    kind = _kind(
        answer_text.text, content.finish_reason, declined=declined, ended=answer_text.ended
    )
    is_missing = KINDS[kind].is_missing
    text = "" if is_missing else answer_text.text
    return Answer(
        text,
        kind,
        "refusal" if declined else content.finish_reason,
        content.served,
        content.tokens,
        thought=answer_text.thought,
        lost=is_missing,
        first=() if answer_text.thought else _first_of(text, content),
    )


def _first_of(text: str, content: Content) -> tuple[tuple[str, float], ...]:
    """Return the likeliest first tokens where the likeliest begins the text; else ().

    Those of a thought, which an endpoint may keep in a field of its own, say nothing of the text.
    """
    likeliest = max(content.first, key=lambda pair: pair[1], default=("", 0.0))[0].strip()
    return content.first if likeliest and text.lstrip().startswith(likeliest) else ()


def _kind(text: str, finish: str | None, *, declined: bool, ended: bool) -> str:
    """Tell what a readable reply is, by its text and by why it ended."""
    if ends_in(finish, FILTERING):
        return FILTERED
    if not ended:
        return CUT_OFF_THINKING
    if is_blank(text):
        return CUT_OFF_THINKING if ends_in(finish, CUT_OFF) else EMPTY
    if declined:
        return REFUSED
    if ends_in(finish, CUT_OFF):
        return TRUNCATED
    return REFUSED if refuses(text) else OK


def _kind_of_error(status: int, error_reply: ErrorReply | None) -> str:
    if error_reply is not None and error_reply.by_filter:
        return FILTERED
    return REJECTED if status >= 400 or (error_reply and error_reply.is_lasting) else NO_REPLY


def _replaced(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_replaced(key): _replaced(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner) for inner in value]
    return value
