"""The rule of words: a "correct" must rest on a word of the key that the question has not.

It knows other forms of a word and numbers in words, and nothing of synonyms: a right answer in
other words altogether ("quicksilver" for mercury) is unsupported, and so missing, not wrong.
"""

from __future__ import annotations

import re

from harness.asking.relevance import content_words, overlap

UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
NUMBERS = {
    **{word: str(value) for value, word in enumerate(UNITS) if word not in ("zero", "one")},
    **{word: str(10 * value) for value, word in enumerate(TENS, 2)},
    **{word: str(value) for value, word in enumerate(ORDINALS, 1) if value > 2},
}
_word = re.compile(r"[^\W\d_]+")
_thousands = re.compile(r"(?<=\d)[,.'](?=\d{3}\b)")
_ordinal = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")


def own_words(key: str, question: str) -> list[str]:
    """Return the content words of a key that the question lacks, in any form of theirs."""
    question_words = _numbered(question)
    return [word for word in content_words(_numbered(key)) if not overlap([word], question_words)]


def is_supported(answer: str, key: str, question: str) -> bool:
    """Tell whether an answer has a word of the key that the question lacks, in any form."""
    return overlap(own_words(key, question), _numbered(answer)) > 0


def _numbered(text: str) -> str:
    """Return a text with its numbers in digits: "Thirteenth", "13th" and "thirteen" are 13."""
    plain = _ordinal.sub(r"\1", _thousands.sub("", text))
    return _word.sub(lambda word: NUMBERS.get(word[0].casefold(), word[0]), plain)


def keyless(key: str, question: str) -> str:
    """Return what is wrong with a key that has no word of its own; "" where it has one."""
    if own_words(key, question):
        return ""
    return f'All words of the quote "{key}" stand in the question; ask for what it does not say.'
