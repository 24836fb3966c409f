"""Questions on facts, and what is wrong with one that cannot be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from harness.asking.relevance import EMPTY, content_words, overlap, relevant
from harness.asking.sentences import sentences
from harness.protocols.depthcharge.drill.names import names, numbers
from harness.protocols.depthcharge.drill.paths import folded, stands_in
from harness.results import Passage

NOT_ABOUT, UNUSABLE, UNANSWERED, NO_GAP = (
    "not about it",
    "unusable question",
    "not answered by its passage",
    "no name or number in a sentence",
)
QUESTION_MARKS = ("?", "？", "؟", "\u037e")  # the last is the Greek one, which looks like ;
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")  # version 1: cut at abbreviations too
GENERAL = (
    "began begin build built call called came city country days first found group happen known "
    "large last left made meant mean number part people person place small turned used word work "
    "year years"
)


class Question(NamedTuple):
    """A question on a fact: what is expected, the quote it rests on, and the sentence of that."""

    text: str
    expected: str
    quote: str
    claim: str


class Made(NamedTuple):
    """A question, or why there is none: one of the reasons above or a reply's state."""

    question: Question | None
    reason: str = ""


class Maker(Protocol):
    """Whoever makes questions of passages."""

    def questions(self, call: str, topic: str, level: str, passage: Passage) -> Iterator[Made]:
        """Return the questions on a passage, the best first, or why there is none.

        call: how the names of the calls begin that this makes.
        """


class Shown(NamedTuple):
    """What an extractor was shown beside the passage: its worked examples, and everything else."""

    examples: str
    others: str


def span_of(answer: str, quote: str) -> str:
    """Return the span that an answer quotes: the answer itself, where it is part of the quote."""
    short = answer.rstrip(" .")
    return short if short and not stands_in(quote, answer) and stands_in(short, quote) else quote


def fault_of(question: str, answer: str, quote: str, passage: str) -> str:
    """Say what is wrong with a question on a passage; "" where it can be asked."""
    if not any(mark in question for mark in QUESTION_MARKS):
        return "The question asks nothing; a question mark is missing."
    if any(stands_in(word, question) for word in ("passage", "this text", "the text")):
        return "The question speaks of the passage, which nobody who answers it has seen."
    if not stands_in(quote, passage):
        return f'The quote "{quote}" does not stand in the passage; copy it letter by letter.'
    if not tells(quote):
        return f'The quote "{quote}" tells no fact; copy the name, the number or the cause.'
    if not stands_in(quote, answer):
        return f'The answer does not hold the quote "{quote}".'
    if stands_in(quote, question):
        return f'The question gives its answer away: it holds "{quote}".'
    return ""


def unsound(question: str, passage: Passage, shown: Shown) -> str:
    """Return what makes a question unsound that has the right form; "" where nothing does.

    It must hold a name or a number of its passage, else it is about anything; and no word that
    stands in the worked examples only, of which it would be a copy.
    """
    for word in content_words(question):
        elsewhere = f"{passage.title} {passage.text} {shown.others} {GENERAL}"
        if overlap([word], shown.examples) and not overlap([word], elsewhere):
            return (
                f'The question speaks of "{word}", which stands in the example and not in the '
                "passage; ask about the passage."
            )
    if not _has_anchor(question, passage):
        return (
            "The question does not say what it is about; it needs a name or a number of the "
            "passage beside the quote."
        )
    return ""


def _has_anchor(question: str, passage: Passage) -> bool:
    """Tell whether a question holds a name or a number of its passage, or most of its title.

    Without names and numbers any content word will do; in a script without capitals names cannot be
    told, and every question passes.
    """
    if relevant(passage.title, Passage("", question, "")):
        return True
    spans = [
        span.text
        for sentence in sentences(passage.text)
        for span in (*names(sentence), *numbers(sentence))
    ]
    words = content_words(" ".join(spans) if spans else passage.text)
    return overlap(words, question) > 0 or passage.text.lower() == passage.text.upper()


def tells(quote: str) -> bool:
    """Tell whether a quote has a digit, or a word that is more than grammar."""
    words = [word for word in folded(quote).split() if word not in EMPTY]
    return any(character.isdigit() for character in quote) or any(
        len(word) >= (3 if word.isascii() else 1) for word in words
    )


def claim_of(quote: str, passage: str, version: int) -> str:
    """Return the passage's sentence that holds the quote; all of the passage where none does."""
    claims = sentences(passage) if version > 1 else SENTENCE.split(passage)
    return next((claim for claim in claims if stands_in(quote, claim)), passage).strip()
