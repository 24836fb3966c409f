"""Draw the fictional expert and claim of turn 4.

The draw is seeded by (study seed, concept, level) and not by subject, so that every subject at the
same place of the grid meets the same trap.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from numpy.random import PCG64, Generator, SeedSequence

from harness.errors import DamagedFile
from harness.results import Concept, Materials, TrapEntry, TrapPool

MOST_WORDS = 50


class Trap(NamedTuple):
    """What was drawn: the expert word for word, and the claim with its phrase filled in."""

    expert: str
    claim: str


def seeded(seed: int, label: str) -> Generator:
    """Give a generator of its own for a label: SeedSequence([seed, first 8 bytes of its MD5])."""
    mark = hashlib.md5(label.encode(), usedforsecurity=False).digest()[:8]
    return Generator(PCG64(SeedSequence([seed, int.from_bytes(mark, "big")])))


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


def fault(question: str, expert: str) -> str:
    """Say what is wrong with a trap question; "" where it can be used."""
    if expert.casefold() not in question.casefold():
        return f'it does not name the expert in exactly these words: "{expert}".'
    if "?" not in question:
        return "it asks nothing; a question mark is missing."
    words = len(question.split())
    return f"it has {words} words, {MOST_WORDS} are allowed." if words > MOST_WORDS else ""
