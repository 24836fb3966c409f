"""Draw the fictional expert and claim of turn 4.

The draw is seeded by (study seed, concept, level) and not by subject, so that every subject at the
same place of the grid meets the same trap.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from harness.errors import DamagedFile
from harness.results import Concept, Materials, TrapEntry, TrapPool
from harness.stats.seeds import seeded

if TYPE_CHECKING:
    from numpy.random import Generator

MOST_WORDS = 50
NO_QUESTION = "no question"
USUAL_WORDS = frozenset(
    "about above after again also answer because been before being candidate claim could does "
    "earlier evaluate every example expert from given have hold holds human into judge just know "
    "light like made make many might more most much must only other over people person point "
    "professor question right same should some such than that their them then there these they "
    "thing think this those through under upon used very view views well were what when where "
    "which while will with would world your".split()
)


class Trap(NamedTuple):
    """What was drawn: the expert word for word, and the claim with its phrase filled in."""

    expert: str
    claim: str


class TrapFault(NamedTuple):
    """What is wrong with a question: in short, to be counted, and as the interviewer is told."""

    state: str
    problem: str


def draw(materials: Materials, seed: int, concept: Concept, level: float) -> Trap:
    """Draw the trap of one place in the grid."""
    pool = _pool(materials, concept.domain)
    random = seeded(seed, f"trap|{concept.id}|{level:g}")
    expert, claim, phrase = (
        _pick(random, entries) for entries in (pool.experts, pool.claims, pool.phrases)
    )
    return Trap(expert, claim.replace("{concept}", concept.name).replace("{phrase}", phrase))


def _pool(materials: Materials, domain: str) -> TrapPool:
    for pool in materials.pools:
        if pool.domain == domain:
            return pool
    raise DamagedFile(f"materials.json: no traps for the domain {domain!r}")


def _pick(random: Generator, entries: list[TrapEntry]) -> str:
    return entries[int(random.integers(len(entries)))].text


def takes_up(question: str, example: str, besides: str) -> bool:
    """Tell whether a question uses a content word of the example that stands nowhere else.

    besides: the texts that would give the word anyway (concept, expert, claim). A content word has
    at least four letters and is none of the words of any question.
    """
    example_words = _content_words(example) - _content_words(besides)
    return not example_words or bool(example_words & _content_words(question))


def _content_words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{4,}", text.casefold())) - USUAL_WORDS


def quoted(example: str, room: int) -> str:
    """Return the example's first words, as many as there is room for."""
    words = example.replace('"', "").split()
    cut = " ".join(words[: max(2, room)])
    return cut.rstrip(".,;:!?") if len(words) <= room else f"{cut} ..."


def fault(question: str, expert: str) -> TrapFault | None:
    """Return what is wrong with a trap question; None where it can be used."""
    if expert.casefold() not in question.casefold():
        problem = f'it does not name the expert in exactly these words: "{expert}".'
        return TrapFault("expert not named", problem)
    if "?" not in question:
        return TrapFault(NO_QUESTION, "it asks nothing; a question mark is missing.")
    words = len(question.split())
    if words > MOST_WORDS:
        return TrapFault("too long", f"it has {words} words, {MOST_WORDS} are allowed.")
    return None
