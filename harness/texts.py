"""Concepts and traps that users bring with their study, checked like everything people write."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from harness.forms import Name, Strict, parsed
from harness.results import Concept, TrapEntry, TrapPool

Difficulty = Literal["clearly fictional", "counterfactual", "near miss"]


class ConceptText(Strict):
    """[[concept]]: a slug, a name, a domain, the reference text, and where its facts stand."""

    id: Name
    name: str = Field(min_length=1)
    domain: str = Field(min_length=1)
    text: str = Field(min_length=1)
    source: str = ""


class ConceptFile(Strict):
    """A file of concepts."""

    concept: list[ConceptText] = Field(min_length=1)


class TrapText(Strict):
    """A fictional thing; absence_check says where, when and how it was looked for."""

    text: str = Field(min_length=1)
    difficulty: Difficulty
    absence_check: dict[str, str] = Field(min_length=1)


class PoolText(Strict):
    """[[pool]]: the traps of one domain; claims may hold {concept} and {phrase}."""

    domain: str
    experts: list[TrapText] = Field(min_length=1)
    claims: list[TrapText] = Field(min_length=1)
    phrases: list[TrapText] = Field(min_length=1)


class TrapFile(Strict):
    """A file of trap pools."""

    pool: list[PoolText] = Field(min_length=1)


def read_concepts(path: Path) -> list[Concept]:
    """Read a user's concepts; raises UsageError with file, line and what is wrong."""
    return [Concept(**entry.model_dump()) for entry in parsed(path, ConceptFile).concept]


def read_pools(path: Path) -> list[TrapPool]:
    """Read a user's trap pools; raises UsageError with file, line and what is wrong."""
    return [_pool(entry) for entry in parsed(path, TrapFile).pool]


def _pool(entry: PoolText) -> TrapPool:
    experts, claims, phrases = (
        [TrapEntry(**trap.model_dump()) for trap in traps]
        for traps in (entry.experts, entry.claims, entry.phrases)
    )
    return TrapPool(entry.domain, experts, claims, phrases)
