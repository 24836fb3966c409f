"""Names and numbers in a sentence, told by capitals and digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

PARTICLES = frozenset("al da de del della der di du la le of the v van von".split())
STARTERS = frozenset(
    "a after all although an and another any as at because before between both but by during each "
    "early eight even every few five following for four from he her here his however if in it its "
    "late later like many more most nine no not of on once one only or other over she seven since "
    "six so some such ten than that the their then there these they this those though three "
    "through to today two under unlike until when where whether which while who with within "
    "without yet".split()
)
_word = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_possessive = re.compile(r"['’]s$")
_number = re.compile(
    r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])"
    r"(?:\s?(?:%|(?:per ?cent|degrees|days|dollars|feet|hours|kilometres|legions|litres|metres|"
    r"miles|million|billion|minutes|months|people|points|seconds|weeks|years)\b))?"
)


class NameSpan(NamedTuple):
    """A name or a number, and where it stands in its sentence."""

    text: str
    start: int
    end: int


def names(sentence: str) -> list[NameSpan]:
    """Return the names of a sentence: words with capitals, and small particles between them.

    A single capital at the sentence's beginning may be the sentence's own and counts for nothing.
    """
    return [span for group in _groups(sentence) if (span := _named(sentence, group))]


def numbers(sentence: str) -> list[NameSpan]:
    """Return the numbers of a sentence, each with its unit, if it has one."""
    return [NameSpan(match[0], match.start(), match.end()) for match in _number.finditer(sentence)]


def _groups(sentence: str) -> Iterator[list[re.Match[str]]]:
    """Return runs of words that begin and end with a capital, with particles between."""
    group, between = list[re.Match[str]](), list[re.Match[str]]()
    for word in _word.finditer(sentence):
        last = (between or group)[-1:]
        follows = bool(last) and sentence[last[0].end() : word.start()] in (" ", ". ")
        follows = follows and not _possessive.search(last[0][0])
        if follows and word[0] in PARTICLES:
            between.append(word)
            continue
        if not follows and group:
            yield group
            group = []
        if word[0][0].isupper():
            group += [*between, word] if group else [word]
        elif group:
            yield group
            group = []
        between = []
    if group:
        yield group


def _named(sentence: str, group: list[re.Match[str]]) -> NameSpan | None:
    """Return a run of words as a name; without what only begins the sentence."""
    words = list(group)
    first = words[0].start() == len(sentence) - len(sentence.lstrip(" \"'“‘("))
    while words and (words[0][0].casefold() in STARTERS or words[0][0] in PARTICLES):
        words, first = words[1:], False
    if not words or (first and len(words) == 1 and not _is_more_than_capital(words[0][0])):
        return None
    text = _possessive.sub("", sentence[words[0].start() : words[-1].end()])
    return NameSpan(text, words[0].start(), words[0].start() + len(text))


def _is_more_than_capital(word: str) -> bool:
    """Tell whether a word would be a name inside a sentence too: DNA, McGill, p53."""
    return any(letter.isupper() or letter.isdigit() for letter in word[1:])
