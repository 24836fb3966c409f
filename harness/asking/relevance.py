"""Whether a passage is about what was looked up: words against words, nothing else.

A passage that shares no subject with its direction must come out as "not found" and not as a
question, so the rule is strict for short directions, where one word in common is chance ("quantum
annealing", "quantum mechanics"), and asks for half of the words of long ones, of which a passage
that is right rarely has all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from harness.results import Passage

SHORTEST = 4  # letters of a content word; numbers and acronyms may be shorter
STEM = 6  # letters that two forms of a word have in common at their beginning
SHORT_ENDING, LONG_ENDING = 2, 5  # letters after that, of the shorter and of the longer form
EMPTY = frozenset(
    "about above across after against along also amid among another around because been before "
    "behind being below between beyond both cannot case cases concept concepts could definition "
    "does doing done down during each effect effects either else especially even ever every "
    "example examples from further given have having here however impact importance including "
    "instead into involving itself just kind kinds least less like made main make many more most "
    "much must nature near need neither nevertheless often only onto other others otherwise over "
    "overview particular particularly per rather regarding related relative role roles same "
    "several shall should significance significant since some specific such than that their them "
    "then there therefore these they this those though through throughout thus today together "
    "toward towards type types under until upon usage used uses using various versus very want "
    "were what when where whether which while whom whose will with within without would your the "
    "and for are was its not but has had can may did who how why out off one two new "
    "a an as at be by do if in is it no of on or so to up us we".split()
)


def relevant(direction: str, passage: Passage) -> bool:
    """Tell whether a passage is about a direction.

    At least half of the direction's content words, and at least two where it has two, stand in the
    passage's title or text, in any form of theirs.
    """
    words = content_words(direction)
    needed = max(min(2, len(words)), -(-len(words) // 2))
    return 0 < needed <= overlap(words, f"{passage.title} {passage.text}")


def content_words(direction: str) -> list[str]:
    """Return the words that say what a direction is about, in their plain form, each once.

    Words of four letters or more that are not empty ones, and anything with a digit or in capitals
    (DNA, p53, 1803). Of a direction without any of them ("law of war") short words count too.
    """
    words = [word for word in _split(direction) if word.casefold() not in EMPTY]
    chosen = [word for word in words if len(word) >= SHORTEST or _is_name(word)] or words
    return list(dict.fromkeys(map(_plain, chosen)))


def overlap(words: Iterable[str], text: str) -> int:
    """Count the words (in their plain form) that a text has, in any form of theirs."""
    text_words = {_plain(word) for word in _split(text)}
    stems: dict[str, list[str]] = {}
    for word in text_words:
        stems.setdefault(word[:STEM], []).append(word)
    return sum(
        word in text_words or any(_akin(word, akin) for akin in stems.get(word[:STEM], ()))
        for word in words
    )


def _split(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", re.sub(r"['’]s?\b", "", text))


def _is_name(word: str) -> bool:
    return any(letter.isdigit() for letter in word) or (len(word) > 1 and word.isupper())


@lru_cache(maxsize=1 << 16)
def _plain(word: str) -> str:
    """Take away case, accents and an English plural."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    if len(plain) < SHORTEST or re.search(r"(ss|us|is)$", plain):
        return plain
    if plain.endswith("ies"):
        return f"{plain[:-3]}y"
    return re.sub(r"(?<=[sxz])es$|(?<=[cs]h)es$|s$", "", plain)


def _akin(word: str, other_word: str) -> bool:
    """Tell two forms of a word: a long common beginning, and an ending's length after it."""
    shorter, longer = sorted((word, other_word), key=len)
    common = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    if common < STEM or word.isdigit():
        return False
    return len(shorter) - common <= SHORT_ENDING and len(longer) - common <= LONG_ENDING
