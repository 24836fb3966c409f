"""Thinking inside a message's content: what of a text was said, and what was only thought.

One rule for every role. Thinking stands between the marks of PAIRS, or between those that a study
names for a model. A closing mark on its own makes all before it thinking; an opening mark that is
never closed makes all after it thinking, and the answer one that never came. Of the harmony format
(docs/format.md of its library) only the final channel is said. Marks inside the strings of a JSON
object that closes are plain text; a brace that begins no such object hides none. What stands in a
field of its own (reasoning_content, reasoning, a block of type thinking) is read by nobody, so it
needs no rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.asking.replies.json_repair import with_legal_strings, without_trailing_commas

# How thinking begins and ends, as regular expressions without groups, without regard to case.
PAIRS = (
    (r"<think(?:ing)?>", r"</think(?:ing)?>"),  # DeepSeek, Qwen and most others
    (r"\[THINK\]", r"\[/THINK\]"),  # Mistral
    (r"<reasoning>", r"</reasoning>"),
    (r"<thought>", r"</thought>"),
    (r"<seed:think>", r"</seed:think>"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),  # Kimi
    (
        r"<\|channel\|>\s*(?!final\b)\w+",
        r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>",
    ),
)
SIGNS = ("<", "[", "\u25c1")  # every mark of PAIRS begins with one of these
MOST_BROKEN = 4  # objects without an end or a form, each read to its end; behind them are no more
Marks = tuple[str, str]  # of a model of a study: how its thinking begins and ends, as plain text

# Possessive quantifiers keep a megabyte of nonsense linear, as does an object's mark that starts
# only where a run of blanks and list brackets starts.
_OBJECT = r"(?P<object>(?<![\[ \t\r\n])[\[ \t\r\n]*+\{\s*+(?:[\"}]|\Z))"
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)
_ENDS = re.compile(r"\A\s*<\|start\|>assistant\s*|\s*<\|(?:return|end|call)\|>\s*\Z")


class Piece(NamedTuple):
    """A part of a text: "prose", "think", "answer" (a closing mark on its own) or "object".

    An object has the list around it, too. closed: whether it came to its end.
    """

    kind: str
    text: str
    closed: bool


class Spoken(NamedTuple):
    """What a text says without its thinking, whether it had any, and whether that ended."""

    text: str
    thought: bool
    ended: bool


class _Scanner(NamedTuple):
    """marks: of thinking and of objects; thinking: of it alone; closing: of each pair."""

    marks: re.Pattern[str]
    thinking: re.Pattern[str]
    closing: tuple[re.Pattern[str], ...]


def spoken(text: str, own_marks: Marks | None = None) -> Spoken:
    """Return what of a text was said; own_marks: the study's for this model, beside PAIRS."""
    if not any(sign in text for sign in (*SIGNS, *(own_marks or ()))):
        return Spoken(text=text, thought=False, ended=True)
    return _said(text, list(_outspoken(text, own_marks)))


def without_thinking(text: str) -> str:
    """Return a message's content without its thinking, stripped, as protocol version 1 reads it.

    There an object that never closes has all that follows, and the marks in it are plain text.
    """
    return _said(text, list(pieces(text))).text.strip()


def _said(text: str, split: Sequence[Piece]) -> Spoken:
    thought = any(piece.kind in ("think", "answer") for piece in split)
    if not thought:
        return Spoken(text=text, thought=False, ended=True)
    answer = after_thinking(split)
    ended = all(piece.closed for piece in answer if piece.kind == "think")
    words = "".join(piece.text for piece in answer if piece.kind != "think")
    return Spoken(text=_ENDS.sub("", words).strip(), thought=True, ended=ended)


def pieces(text: str, own_marks: Marks | None = None) -> Iterator[Piece]:
    """Yield a text in its parts; together they are the text."""
    scanner, at = _scanner(own_marks), 0
    while mark := scanner.marks.search(text, at):
        name, start = mark.lastgroup or "", mark.start()
        yield Piece("prose", text[at:start], closed=True)
        kind, end = _kind_and_end(scanner, mark, name)
        yield Piece(kind, text[start:end], closed=end is not None)
        # An inner object of an unclosed one would be a guess, and the search for it quadratic.
        at = len(text) if end is None else end
    yield Piece("prose", text[at:], closed=True)


def _outspoken(text: str, own_marks: Marks | None) -> Iterator[Piece]:
    """Yield a text in its parts; an object that is none, by its end or its form, is prose."""
    scanner, at, broken = _scanner(own_marks), 0, 0
    while mark := (scanner.marks if broken < MOST_BROKEN else scanner.thinking).search(text, at):
        name, start = mark.lastgroup or "", mark.start()
        kind, end = _kind_and_end(scanner, mark, name)
        piece = Piece(kind, text[start:end], closed=end is not None)
        if kind == "object" and _may_hide_thinking(piece, scanner):
            broken, kind, end = broken + 1, "prose", text.index("{", start) + 1
            piece = Piece("prose", text[start:end], closed=True)
        yield Piece("prose", text[at:start], closed=True)
        yield piece
        at = len(text) if end is None else end
    yield Piece("prose", text[at:], closed=True)


def _may_hide_thinking(piece: Piece, scanner: _Scanner) -> bool:
    """Tell whether marks in what began as an object may stand outside the strings of one."""
    if not piece.closed:
        return True
    return bool(scanner.thinking.search(piece.text)) and not _is_json(piece.text)


def _is_json(text: str) -> bool:
    try:
        json.loads(with_legal_strings(without_trailing_commas(text)))
    except (ValueError, RecursionError):  # also of a number with thousands of digits
        return False
    return True


def after_thinking(split: Sequence[Piece]) -> Sequence[Piece]:
    """Return what comes after the last closing mark on its own."""
    last = max((place for place, piece in enumerate(split) if piece.kind == "answer"), default=-1)
    return split[last + 1 :]


def nesting(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the depth after each bracket outside strings, and the position behind it."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0][0] != '"':
            depth += 1 if token[0] in "{[" else -1
            yield depth, token.end()


def _kind_and_end(scanner: _Scanner, mark: re.Match[str], name: str) -> tuple[str, int | None]:
    if name == "object":
        depths = nesting(mark.string, mark.start())
        return "object", next((end for depth, end in depths if depth == 0), None)
    if name.startswith("close"):
        return "answer", mark.end()
    closing = scanner.closing[int(name.removeprefix("open"))].search(mark.string, mark.end())
    return "think", closing.end() if closing else None


@lru_cache(maxsize=64)
def _scanner(own_marks: Marks | None) -> _Scanner:
    pairs = (*PAIRS, *([(re.escape(own_marks[0]), re.escape(own_marks[1]))] if own_marks else []))
    named = [f"(?P<open{n}>{begin})|(?P<close{n}>{end})" for n, (begin, end) in enumerate(pairs)]
    marks = re.compile("|".join([*named, _OBJECT]), re.IGNORECASE)
    closing = tuple(re.compile(end, re.IGNORECASE) for _, end in pairs)
    thinking = re.compile("|".join(named), re.IGNORECASE)
    return _Scanner(marks=marks, thinking=thinking, closing=closing)
