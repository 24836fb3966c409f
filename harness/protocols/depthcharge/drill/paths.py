"""Paths of a drill, and how a depth's questions and directions are dealt to them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.stats.seeds import seeded

DIRECTIONS = 3  # that each question gets
BRANCH, ANSWER, SUBTOPIC = "branch", "answer", "subtopic"
DASHES, QUOTES, MARKUP = "\u2010\u2011\u2012\u2013\u2014\u2212", "\u2018\u2019\u02bc`", "_*"
EVEN = str.maketrans(
    dict.fromkeys(DASHES, "-") | dict.fromkeys(QUOTES, "'") | dict.fromkeys(MARKUP, " ")
)


class Direction(NamedTuple):
    """What a question may go into, and where it comes from.

    origin: "branch" (the path's own beginning), "answer" (the words of the path's last answer) or
    "subtopic" (the extractor's, where those were too few).
    """

    text: str
    origin: str


class Path(NamedTuple):
    """Where one line of questions stands.

    branch: the place of the path it began as; place: among the paths of this depth; both from 1.
    topic: the branch, or the direction of the last question. parent: the call of the last answer,
    "" at the beginning. had: the directions walked so far, folded. facts: the marks of the facts
    that were asked for. history: the questions and answers.
    """

    branch: int
    place: int
    topic: str
    parent: str = ""
    had: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    history: tuple[tuple[str, str], ...] = ()


class Slot(NamedTuple):
    """One question to be asked at a depth: its number, its deal, its path, its directions."""

    number: int
    deal: int
    path: Path
    directions: Sequence[Direction] = ()


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Return a text as it is compared: case, spacing, dashes, quotes and digits are even."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(plain.translate(EVEN).casefold().split())


def stands_in(phrase: str, text: str) -> bool:
    """Tell whether a phrase stands in a text, as whole words where words have spaces."""
    needle, haystack = folded(phrase), f" {folded(text)} "
    at = haystack.find(needle, 1) if needle else -1
    while at > 0:
        if not _goes_on(haystack[at - 1], needle[0]) and not _goes_on(
            needle[-1], haystack[at + len(needle)]
        ):
            return True
        at = haystack.find(needle, at + 1)
    return False


def _goes_on(first: str, second: str) -> bool:
    """Tell whether two characters belong to one word, in a script that parts words by spaces."""
    if first == " " or second == " ":
        return False
    return all(
        unicodedata.category(letter) in ("Ll", "Lu", "Lt", "Nd") for letter in (first, second)
    )


def dealt(paths: Sequence[Path], questions: int, seed: int, label: str) -> list[Path]:
    """Return the path of each of exactly `questions` slots.

    With at least as many paths, a seeded sample of them, one question each, in their order; with
    fewer, questions // n each and one more for the first questions mod n.
    """
    if len(paths) >= questions:
        chosen = seeded(seed, label).choice(len(paths), size=questions, replace=False)
        return [paths[place] for place in sorted(chosen.tolist())]
    quotient, remainder = divmod(questions, len(paths))
    return [path for place, path in enumerate(paths) for _ in range(quotient + (place < remainder))]


def dealt_anew(paths: Sequence[Path], slots: int, failed: Mapping[int, int]) -> list[Path]:
    """Return other paths for slots that found no fact, in turn: those that failed least come first.

    failed: how many slots of a path, by its place, have found no fact at this depth.
    """
    order = sorted(paths, key=lambda path: (failed.get(path.place, 0), path.place))
    return [order[number % len(order)] for number in range(slots)]


class Pools:
    """The directions that the paths of one depth have, and those that are dealt already.

    A direction is dealt once at a depth, whichever path it belongs to, and never to a path that
    had it before.
    """

    def __init__(self) -> None:
        self._left: dict[int, list[Direction]] = {}
        self._dealt: set[str] = set()

    def left(self, path: Path) -> list[Direction]:
        """Return what a path has that is not dealt yet."""
        return [
            direction
            for direction in self._left.get(path.place, [])
            if self._is_fresh(path, direction)
        ]

    def known(self, path: Path) -> list[str]:
        """Return, folded and sorted, what a path must not be given again."""
        undealt = {folded(direction.text) for direction in self._left.get(path.place, [])}
        return sorted(path.had | undealt)

    def put(self, path: Path, directions: Sequence[Direction]) -> None:
        """Keep a path's directions for its questions."""
        self._left.setdefault(path.place, []).extend(directions)

    def deal(self, slots: Sequence[Slot]) -> list[Slot]:
        """Deal in rounds, in the slots' order: disjoint, at most three for each slot."""
        hands: list[list[Direction]] = [[] for _ in slots]
        for _ in range(DIRECTIONS):
            for slot, hand in zip(slots, hands, strict=True):
                if undealt := self.left(slot.path):
                    hand.append(undealt[0])
                    self._dealt.add(folded(undealt[0].text))
        return [
            slot._replace(directions=tuple(hand)) for slot, hand in zip(slots, hands, strict=True)
        ]

    def _is_fresh(self, path: Path, direction: Direction) -> bool:
        key = folded(direction.text)
        return key not in self._dealt and key not in path.had


def fresh(candidates: Sequence[str], excluded: Sequence[str]) -> list[str]:
    """Return the candidates that are not known yet, each once, in their order."""
    seen, new = set(excluded), []
    for candidate in candidates:
        if (key := folded(candidate)) and key not in seen:
            seen.add(key)
            new.append(candidate)
    return new
