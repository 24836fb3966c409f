"""Paths of a drill, and how a depth's questions are dealt to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.stats.seeds import seeded

DIRECTIONS = 3  # that each question gets


class Path(NamedTuple):
    """Where one line of questions stands.

    branch: the place of the path it began as; place: among the paths of this depth; both from 1.
    topic: the branch, or the direction of the last question. answer: what was said to it, by the
    call `parent`; "" at the beginning. had: the directions it had, folded. history: its questions
    and answers so far.
    """

    branch: int
    place: int
    topic: str
    question: str = ""
    answer: str = ""
    parent: str = ""
    had: frozenset[str] = frozenset()
    history: tuple[tuple[str, str], ...] = ()


class Slot(NamedTuple):
    """One question to be asked at a depth: its number, its deal, its path, its directions."""

    number: int
    deal: int
    path: Path
    directions: Sequence[str] = ()


def folded(text: str) -> str:
    """Give a text as it is compared: case and spacing do not count."""
    return " ".join(text.casefold().split())


def stands_in(phrase: str, text: str) -> bool:
    """Tell whether a phrase stands in a text, as whole words; case and spacing do not count."""
    wanted, whole = folded(phrase), f" {folded(text)} "
    at = whole.find(wanted, 1) if wanted else -1
    while at > 0:
        if not _is_letter(whole[at - 1]) and not _is_letter(whole[at + len(wanted)]):
            return True
        at = whole.find(wanted, at + 1)
    return False


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


def dealt(paths: Sequence[Path], questions: int, seed: int, label: str) -> list[Path]:
    """Give each of exactly `questions` slots its path.

    With at least as many paths, a seeded sample of them, one question each, in their order; with
    fewer, questions // n each and one more for the first questions mod n.
    """
    if len(paths) >= questions:
        chosen = seeded(seed, label).choice(len(paths), size=questions, replace=False)
        return [paths[place] for place in sorted(chosen.tolist())]
    each, more = divmod(questions, len(paths))
    return [path for place, path in enumerate(paths) for _ in range(each + (place < more))]


def dealt_anew(paths: Sequence[Path], slots: int, failed: Mapping[int, int]) -> list[Path]:
    """Give slots that found no fact another path, in turn: those that failed least come first.

    failed: how many slots of a path, by its place, have found no fact at this depth.
    """
    order = sorted(paths, key=lambda path: (failed.get(path.place, 0), path.place))
    return [order[number % len(order)] for number in range(slots)]


def shares(directions: Sequence[str], questions: int) -> list[Sequence[str]]:
    """Deal a path's directions to its questions: disjoint, in order, at most three each."""
    return [directions[first::questions][:DIRECTIONS] for first in range(questions)]


def fresh(candidates: Iterable[str], had: Iterable[str]) -> list[str]:
    """Give the candidates that a path never had, each once, in their order."""
    seen, kept = set(had), []
    for candidate in candidates:
        if (key := folded(candidate)) and key not in seen:
            seen.add(key)
            kept.append(candidate)
    return kept
