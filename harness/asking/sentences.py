"""Sentences of a text; an abbreviation's full stop ends none."""

from __future__ import annotations

import re

ABBREVIATIONS = frozenset(
    "al approx bros ca capt cf cir co cons corp dept dist dr ed eds eg eq esp est etc ff gov hon "
    "ie inc jr lt ltd maj messrs mr mrs ms mt para prof rep rev sect sen sgt sr ss st supp trans "
    "univ v viz vs".split()
)
BEFORE_NUMBERS = frozenset(  # words of their own where no number follows
    "app art arts ch chap col div fig figs ft gen no nos op pl pp sec vol vols".split()
)
_end = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[^a-z\s])|(?<=[。！？])\s*(?=\S)")
_last_word = re.compile(r"(?<!['’\w])([^\W\d_](?:[^\W_]|\.(?=[^\W\d_]))*)\.$")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, in order, without the space between them.

    A full stop after an abbreviation, a single letter or letters with stops between them ("v.",
    "Mr.", "J.", "U.S.") ends no sentence, nor does one before a small letter.
    """
    pieces, start = list[str](), 0
    for end in _end.finditer(text):
        stop = end.end() if end[0].strip() == "" else end.start() + len(end[0].rstrip())
        if not _is_abbreviation(text[start : end.start()], text[end.end()]):
            pieces.append(text[start:stop].strip())
            start = end.end()
    return [piece for piece in [*pieces, text[start:].strip()] if piece]


def _is_abbreviation(before: str, following: str) -> bool:
    """Tell whether a text ends in an abbreviation with its full stop; following: what comes."""
    word = _last_word.search(before)
    if word is None:
        return False
    letters = word[1].replace(".", "").casefold()
    if letters in BEFORE_NUMBERS:
        return following.isdigit()
    return len(letters) == 1 or "." in word[1] or letters in ABBREVIATIONS
