"""Questions made by code: a name or a number of a sentence is left out, and is what to fill in.

Nothing is invented and no example can leak; the passage answers every such question. Which gap is
sound was found on the package's corpus: the longest names first, in sentences that hold others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.asking.models.prompts import Prompts
from harness.asking.sentences import sentences
from harness.protocols.depthcharge.drill.names import NameSpan, names, numbers
from harness.protocols.depthcharge.drill.paths import folded
from harness.protocols.depthcharge.drill.questions import NO_GAP, Made, Question
from harness.results import Passage

GAP = "_____"
FEWEST_WORDS = 6  # of a sentence: a shorter one says too little about its gap
FEWEST_LETTERS = 4  # of a name
ENOUGH_NAMES = 3  # beside the gap
CALENDAR = frozenset(
    "january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday ad bc bce ce".split()
)
PEOPLES = re.compile(
    r"(?:ean|ian|ish|ese|ican|rman|roman|french|dutch|greek|welsh|czech|swiss|latin|arab)s?$"
)
TITLES = frozenset("dr mr mrs ms sir st prof professor president emperor king queen pope".split())
_year = re.compile(r"1\d{3}|20\d{2}")


class Gap(NamedTuple):
    """What is left out of a sentence, and how good a question that makes, the smallest best."""

    worth: tuple[int, int, int]
    key: str
    sentence: str


class Cloze:
    """Makes questions in the place of a model."""

    def __init__(self, prompts: Prompts, domain: str) -> None:
        self._prompts, self._domain = prompts, domain

    def questions(self, call: str, topic: str, level: str, passage: Passage) -> Iterator[Made]:  # noqa: ARG002
        """Return a question for each sentence that has a sound gap, the best first."""
        gaps = gaps_in(passage, self._domain)
        for gap in gaps:
            yield Made(self._question(gap, passage.title))
        if not gaps:
            yield Made(None, NO_GAP)

    def _question(self, gap: Gap, title: str) -> Question:
        text = self._prompts.filled(
            "cloze",
            title=title,
            domain=self._domain,
            sentence=_left_out(gap.key, gap.sentence),
        )
        return Question(text, gap.key, gap.key, gap.sentence)


def gaps_in(passage: Passage, domain: str) -> list[Gap]:
    """Return the best gap of each sentence that has one, the best first."""
    beside = f"{passage.title} {domain}"
    gaps = []
    for place, sentence in enumerate(sentences(passage.text)):
        if len(sentence.split()) < FEWEST_WORDS:
            continue
        keys = [
            (rank, span)
            for rank, span in _candidates(sentence)
            if _is_sound(span, sentence, beside)
        ]
        if keys:
            rank, span = min(keys, key=lambda key: (key[0], key[1].start))
            other_keys = min(len(names(sentence)) + len(numbers(sentence)) - 1, ENOUGH_NAMES)
            gaps.append(Gap((rank > 1, -other_keys, place), span.text, sentence))
    return sorted(gaps)


def _candidates(sentence: str) -> Iterator[tuple[int, NameSpan]]:
    """Return what might be left out, each with its rank: names of two words, of one, numbers."""
    for span in map(_without_calendar, names(sentence)):
        if span.text:
            yield (0 if " " in span.text else 1), span
    for span in numbers(sentence):
        if _year.fullmatch(span.text):
            yield 2, span
        elif re.search(r"[^\d.,]", span.text):  # a bare number may count anything
            yield 3, span


def _without_calendar(span: NameSpan) -> NameSpan:
    """Take titles off a name's beginning, and months and eras off both ends."""
    text, start = span.text, span.start
    while (first := re.match(r"([^\W_]+)\.? +", text)) and first[1].casefold() in CALENDAR | TITLES:
        text, start = text[first.end() :], start + first.end()
    while (last := re.search(r" +([^\W_]+)$", text)) and last[1].casefold() in CALENDAR:
        text = text[: last.start()]
    if (first := re.match(r"(?:al|de|of|the|van|von) ", text)) and text != span.text:
        text, start = text[first.end() :], start + first.end()
    if text.casefold() in CALENDAR | TITLES or "." in text.partition(" ")[0]:
        text = ""
    return NameSpan(text, start, start + len(text))


def _is_sound(span: NameSpan, sentence: str, beside: str) -> bool:
    """Tell whether nothing gives a key away, and it is no part of a longer name.

    beside: title and domain, which stand beside the gap.
    """
    before, after = sentence[: span.start], sentence[span.end :]
    words = _words(span.text)
    if not words or set(_words(beside)) & set(words) or re.match(r"\s?\d|[-–/]\w", after):
        return False
    if re.search(r"[\w][-–/]$", before):
        return False
    if span.text[0].isdigit():
        return True
    initials = "".join(word[0] for word in _words(beside))
    key = folded(span.text)
    if len(key) < FEWEST_LETTERS or key in initials or key in folded(beside):
        return False
    if len(words) == 1 and PEOPLES.search(words[0]):  # an adjective: it names nothing to ask for
        return False
    around = set(_words(_left_out(span.text, sentence)))
    return not any(word in around for word in words if len(word) >= FEWEST_LETTERS)


def _left_out(key: str, sentence: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", GAP, sentence)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", folded(text))
