"""What a study's words mean, for whoever shows its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Term(NamedTuple):
    """A word and its meaning, which begins in small letters and ends without a stop."""

    name: str
    meaning: str


def defined(terms: Sequence[Term], *names: str) -> str:
    """Return the meanings of some terms, by name, as sentences."""
    meanings = {term.name: term.meaning for term in terms}
    return " ".join(f"{name}: {meanings[name]}." for name in names)
