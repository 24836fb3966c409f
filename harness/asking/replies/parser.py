"""Read a judge's JSON reply, forgiving its form and never its content.

The rules, in their order:

1. A finish reason of model.FILTERED is a refusal, whatever the text holds.
2. One pass splits the text into thinking (thinking.py has the rule), objects and the rest;
   thinking is never graded. Tags and braces inside an object's strings are plain text.
3. A reply that is JSON as a whole but no object is ``wrong_shape``.
4. Of the objects that are valid against the fields the last one counts. Where two differ in
   anything but a remark the reply is ``ambiguous`` (a judge may quote scores that the candidate
   wrote); up to protocol version 1 the last one won. Fields are checked in their order; keys count
   without regard to case; a key given twice must say the same twice; other keys are ignored;
   nothing is looked for inside other values.
5. If none is valid the last one names the state: ``truncated`` if it never closes, ``no_json`` if
   malformed, or what is wrong with its shape or fields.
6. Without an object: ``truncated`` (unclosed thinking), ``empty``, ``refusal`` or ``no_json``.
7. A finish reason of model.CUT_OFF makes every failure of 3 to 6 ``truncated``.
8. What json_repair.py repairs is repaired: trailing commas always, strings from protocol version
   2 on. No repair touches a number.

The caller passes the message's content only: a reasoning field beside it is never graded, so null
content beside a long reasoning is ``empty``. The sentences in ``problem`` go back to the judge, so
into a recorded request; they depend on the reply alone and quote no message of Python's.
"""

import contextlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.asking.models.model import CUT_OFF, FILTERED, ends_in
from harness.asking.models.thinking import Piece, after_thinking, nesting
from harness.asking.models.thinking import pieces as pieces_of
from harness.asking.replies.json_repair import with_legal_strings, without_trailing_commas

STATES = (
    "ok",  # every wanted field is there and fits
    "truncated",  # cut off before an answer was complete
    "type_error",  # a field of another JSON type: "8/10" or "0.8" is no number
    "out_of_range",  # a number outside its range, or a text that is none of the options
    "non_finite",  # NaN, Infinity, 1e999
    "wrong_shape",  # JSON but not one plain object: a list, a key that contradicts itself
    "missing_field",  # an object without a wanted score or flag
    "refusal",  # the judge, or a filter in front of it, declined
    "empty",  # null, nothing or whitespace
    "no_json",  # text without an object, or with a malformed one
    "ambiguous",  # several valid objects that differ
)
OK, TRUNCATED, TYPE_ERROR, OUT_OF_RANGE, NON_FINITE = STATES[:5]
WRONG_SHAPE, MISSING_FIELD, REFUSAL, EMPTY, NO_JSON, AMBIGUOUS = STATES[5:]

_NEED = "one complete JSON object is needed."
_CUT_SHORT = (TRUNCATED, f"The reply was cut off before its end; {_NEED}")
_OPENING = 200  # characters in which a refusal says that it is one
_DEEPEST = 64  # levels of nesting; a fixed limit reads the same on every Python

_FENCE = re.compile(r"```[A-Za-z]*")
_SIGNS = (
    "I ",
    "I'",
    "I\u2019",
    "I`",
    "As an ",
    "orry",
    "ORRY",
    "pologi",
    "POLOGI",
)  # no refusal without
_REFUSING = re.compile(
    r"(?:^|[.!?\n])\s{0,3}As an (?:AI|artificial intelligence)\b"
    r"|\b(?i:sorry|apologi[sz]e)\b[^.!?\n]{0,60}\b(?i:can.?t|cannot|can not|unable|won.t)\b"
    r"|\bI(?:.m| am| must)? (?:can.?t|cannot|can not|won.t|will not|(?:un|not )able to|decline to)"
    r" (?:\w{1,15} ){0,3}(?:evaluate|assess|judge|rate|score|grade|review|help|assist|comply"
    r"|provide|fulfil|answer|complete|continue|engage|discuss|do)\b"
)


@dataclass(frozen=True)
class ScoreField:
    """Describe a JSON number from low to high, both included."""

    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class Text:
    """Describe an optional text; an absent or null one is "".

    remark: nothing rests on it, so two objects that differ in it alone agree.
    """

    remark: bool = False


@dataclass(frozen=True)
class Flag:
    """Describe a JSON true or false."""


@dataclass(frozen=True)
class OneOf:
    """Describe an optional text out of options, as written there; an absent or null one is None."""

    options: tuple[str, ...]


@dataclass(frozen=True)
class Texts:
    """Describe a JSON list of texts; empty and repeated ones are left out."""


Field = ScoreField | Text | Flag | OneOf | Texts
Fields = Mapping[str, Field]
Value = float | str | bool | tuple[str, ...] | None


class ParsedReply(NamedTuple):
    """What became of a reply; values and repaired are empty unless ok, problem is when ok."""

    state: str  # one of STATES
    values: dict[str, Value]  # every wanted field, under its wanted name
    repaired: tuple[str, ...]  # thinking, fence, prose, several_objects, trailing_comma, mended
    problem: str  # one sentence for the judge, with what was wrong and what is needed


class _Unusable(Exception):
    """Carries a state and its sentence."""


def read_reply(
    content: str | None, finish_reason: str | None, fields: Fields, version: int
) -> ParsedReply:
    """Read the wanted fields out of a reply's content; never raise, whatever the text.

    version: the protocol version of the study, whose rules apply.
    """
    if finish_reason in FILTERED:
        return ParsedReply(REFUSAL, {}, (), "The reply was withheld by a content filter.")
    try:
        values, repaired = _read(content or "", fields, version)
    except _Unusable as fault:
        state, problem = _CUT_SHORT if _is_cut_off(finish_reason, version) else fault.args
        return ParsedReply(state, {}, (), problem)
    return ParsedReply(OK, values, repaired, "")


def _is_cut_off(finish: str | None, version: int) -> bool:
    return finish in CUT_OFF or (version > 1 and ends_in(finish, CUT_OFF))


def refuses(text: str) -> bool:
    """Tell whether a text begins by declining to answer; only for a flag, never for a score.

    A reply in JSON does not begin so, whatever its reasons quote.
    """
    opening = text[:_OPENING]
    return (
        opening[:1] != "{"
        and any(sign in opening for sign in _SIGNS)
        and bool(_REFUSING.search(opening))
    )


def _read(content: str, fields: Fields, version: int) -> tuple[dict[str, Value], tuple[str, ...]]:
    pieces = list(pieces_of(content))
    answer = after_thinking(pieces)
    shell = "".join("{}" if p.kind == "object" else p.text for p in answer if p.kind != "think")
    _refuse_other_json(shell, version)
    objects = [piece for piece in answer if piece.kind == "object"]
    if not objects:
        raise _absence(shell, cut=not all(piece.closed for piece in answer))
    values, repairs = _chosen(objects, fields, version)
    forgiven = {
        "thinking": any(piece.kind in ("think", "answer") for piece in pieces),
        "fence": "```" in shell,
        "prose": bool(_FENCE.sub("", shell.replace("{}", "")).strip()),
        "several_objects": len(objects) > 1,
    }
    return values, (*(name for name, happened in forgiven.items() if happened), *repairs)


def _refuse_other_json(shell: str, version: int) -> None:
    try:
        value, _ = _decode(_FENCE.sub("", shell).strip(), version)
    except _Unusable:
        return
    if not isinstance(value, tuple):
        raise _Unusable(WRONG_SHAPE, f"The reply was {_shown(value)}; {_NEED}")


def _absence(shell: str, *, cut: bool) -> _Unusable:
    if cut:
        return _Unusable(*_CUT_SHORT)
    if not shell.strip():
        return _Unusable(EMPTY, f"The reply was empty; {_NEED}")
    if _REFUSING.search(shell):
        return _Unusable(REFUSAL, f"The reply declined to judge; {_NEED}")
    return _Unusable(NO_JSON, f"The reply held no JSON object; {_NEED}")


class _Valid(NamedTuple):
    values: dict[str, Value]
    repairs: tuple[str, ...]


def _chosen(objects: Sequence[Piece], fields: Fields, version: int) -> _Valid:
    """Return the last valid object; raise where another one differs, or what is wrong with all."""
    valid: list[_Valid] = []
    for piece in objects:
        with contextlib.suppress(_Unusable):
            valid.append(_values(piece, fields, version))
    if not valid:
        return _values(objects[-1], fields, version)  # raises what is wrong with the last one
    deciding = [_deciding(candidate.values, fields) for candidate in valid]
    if version > 1 and any(values != deciding[-1] for values in deciding):
        raise _Unusable(
            AMBIGUOUS, f"The reply held {len(valid)} JSON objects that differ; one is needed."
        )
    return valid[-1]


def _deciding(values: Mapping[str, Value], fields: Fields) -> dict[str, Value]:
    return {name: values[name] for name, field in fields.items() if field != Text(remark=True)}


def _values(piece: Piece, fields: Fields, version: int) -> _Valid:
    if not piece.closed:
        raise _Unusable(*_CUT_SHORT)
    value, repairs = _decode(piece.text, version)
    if not isinstance(value, tuple):
        raise _Unusable(WRONG_SHAPE, f"The reply held {_shown(value)}; {_NEED}")
    members = _merged(value)
    return _Valid({name: _value(name, field, members) for name, field in fields.items()}, repairs)


_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple,  # to see a key that is given twice; lists stay lists
    # Python refuses to read thousands of digits; as a float they are infinite, a state of its own.
    parse_int=lambda digits: int(digits) if len(digits) <= 300 else float(digits),
)


def _decode(text: str, version: int) -> tuple[object, tuple[str, ...]]:
    """Return the value, and the names of the repairs that it took."""
    if max((depth for depth, _ in nesting(text)), default=0) > _DEEPEST:
        raise _Unusable(WRONG_SHAPE, f"The JSON was nested too deeply; {_NEED}")
    with contextlib.suppress(json.JSONDecodeError):
        return _DECODER.decode(text), ()  # nearly every reply is whole, and a repair takes longer
    without = without_trailing_commas(text)
    mended = with_legal_strings(without) if version > 1 else without
    repairs = {"trailing_comma": without != text, "mended": mended != without}
    try:
        return _DECODER.decode(mended), tuple(name for name, needed in repairs.items() if needed)
    except json.JSONDecodeError:
        raise _Unusable(NO_JSON, f"The JSON in the reply was malformed; {_NEED}") from None


def _merged(pairs: tuple[tuple[str, object], ...]) -> dict[str, object]:
    members: dict[str, object] = {}
    for key, value in pairs:
        name = key.casefold()
        old = members.get(name, value)
        if (old, isinstance(old, bool)) != (value, isinstance(value, bool)):  # since True == 1
            raise _Unusable(WRONG_SHAPE, f"The key {_quoted(key)} had two values; one is needed.")
        members[name] = value
    return members


def _value(name: str, field: Field, members: Mapping[str, object]) -> Value:
    if name.casefold() not in members and isinstance(field, ScoreField | Flag | Texts):
        problem = f"The JSON object had no {_quoted(name)} of its own; {_need(field)} is needed."
        raise _Unusable(MISSING_FIELD, problem)
    value = members.get(name.casefold())
    state, plain = _fit(field, value)
    if state == OK:
        return plain
    noun = "score for" if isinstance(field, ScoreField) else "value of"
    problem = f"The {noun} {_quoted(name)} was {_shown(value)}; {_need(field)} is needed."
    raise _Unusable(state, problem)


def _fit(field: Field, value: object) -> tuple[str, Value]:
    match field, value:
        case (Text(), None | str()):
            return OK, _writable(value or "")
        case (OneOf(), None):
            return OK, None
        case (Flag(), bool()):
            return OK, value
        case (Texts(), list()) if all(isinstance(text, str) for text in value):
            return OK, tuple(dict.fromkeys(spaced for text in value if (spaced := _spaced(text))))
        case (OneOf(options), str()):
            return OK if value in options else OUT_OF_RANGE, value
        case (ScoreField(low, high), int() | float()) if not isinstance(value, bool):
            if isinstance(value, float) and not math.isfinite(value):
                return NON_FINITE, None
            # Adding 0.0 makes a plain 0.0 of -0.0; an integer can be too large for a float.
            return (OK, float(value) + 0.0) if low <= value <= high else (OUT_OF_RANGE, None)
    return TYPE_ERROR, None


def _need(field: Field) -> str:
    match field:
        case ScoreField(low, high):
            return f"a number between {low:g} and {high:g}"
        case Flag():
            return "true or false"
        case OneOf(options):
            return f"one of {', '.join(map(_quoted, options))} or null"
        case Texts():
            return "a list of texts"
    return "a text"


def _spaced(text: str) -> str:
    return " ".join(_writable(text).split())


def _shown(value: object) -> str:
    if isinstance(value, tuple | list):
        return "an object" if isinstance(value, tuple) else "a list"
    return f"the text {_quoted(value)}" if isinstance(value, str) else json.dumps(value)[:60]


def _quoted(text: str) -> str:
    short = text if len(text) <= 60 else text[:57] + "..."
    return json.dumps(_writable(short), ensure_ascii=False)


def _writable(text: str) -> str:
    # JSON's escapes can spell half a surrogate pair, which no UTF-8 file can hold.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
