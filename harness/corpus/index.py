"""Find entries: by title as a wiki does, and by words with SQLite's FTS5, best first.

Words are looked for in any of their forms (the Porter stemmer), any of them is enough, and the
order is that of bm25 with a hit in the title worth five in the text. Nothing in it is random:
entries of the same rank are in the order of their titles.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Sequence
from typing import NamedTuple, get_args

from harness.corpus.entries import Entry, Tier

OPERATORS = {"AND", "NOT", "OR"}  # in capitals part of a search engine's language, not of the text
EMPTY = frozenset(
    "a an and are as at be by for from in is it of on or that the to was with".split()
)
MOST_WORDS = 64


class Scope(NamedTuple):
    """What a search is limited to; an empty set of tiers or domains is no limit."""

    tiers: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()  # as slugs

    def overridden(self, narrower: Scope) -> Scope:
        """Return this scope, with the limits that another scope names in place of its own."""
        return Scope(narrower.tiers or self.tiers, narrower.domains or self.domains)

    def holds(self, entry: Entry) -> bool:
        """Tell whether an entry is within it."""
        return (not self.tiers or entry.tier in self.tiers) and (
            not self.domains or slug(entry.domain) in self.domains
        )


class Hit(NamedTuple):
    """An entry that was found, its number in the corpus, and its score (higher is better)."""

    number: int
    entry: Entry
    score: float


class Index:
    """An index over a corpus, in memory; it never changes, and any thread may search it."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = list(entries)
        self.scope = Scope(
            frozenset(get_args(Tier)),
            frozenset(slug(entry.domain) for entry in entries),
        )
        self._by_title = {folded(entry.title): n for n, entry in enumerate(self.entries)}
        self._one_at_a_time = threading.Lock()
        self._base = sqlite3.connect(":memory:", check_same_thread=False)
        self._base.execute(
            "CREATE VIRTUAL TABLE entry USING fts5"
            "(title, text, tier UNINDEXED, domain UNINDEXED, tokenize = 'porter unicode61')"
        )
        self._base.executemany(
            "INSERT INTO entry (rowid, title, text, tier, domain) VALUES (?, ?, ?, ?, ?)",
            (
                (number, entry.title, entry.text, entry.tier, slug(entry.domain))
                for number, entry in enumerate(self.entries)
            ),
        )

    def titled(self, title: str, scope: Scope) -> int | None:
        """Return the number of the entry of that title, whatever its case; None where none is."""
        number = self._by_title.get(folded(title))
        return number if number is not None and scope.holds(self.entries[number]) else None

    def search(self, query: str, scope: Scope, most_hits: int) -> list[Hit]:
        """Return the best entries for any text; none where it has no word."""
        match = expression(query)
        if not match:
            return []
        limits, values = _limits(scope)
        with self._one_at_a_time:
            rows = self._base.execute(
                f"SELECT rowid, bm25(entry, 5.0, 1.0) AS score FROM entry WHERE entry MATCH ?"
                f"{limits} ORDER BY score, title LIMIT ?",
                (match, *values, most_hits),
            ).fetchall()
        hits = [Hit(number, self.entries[number], -score) for number, score in rows]
        return self._titled_first(query, scope, hits)[:most_hits]

    def _titled_first(self, query: str, scope: Scope, hits: list[Hit]) -> list[Hit]:
        """Put the entry that the query is the title of before all others, as a wiki does."""
        number = self.titled(query, scope)
        if number is None:
            return hits
        best = Hit(number, self.entries[number], 1.0 + (hits[0].score if hits else 0.0))
        return [best, *(hit for hit in hits if hit.number != number)]


def expression(query: str) -> str:
    """Return FTS5's expression for any of a text's words; "" where it has none.

    Every word is quoted, so nothing in a text is ever read as FTS5's own language.
    """
    words = [word for word in re.findall(r"[^\W_]+", query) if word not in OPERATORS]
    unique = list(dict.fromkeys(word.casefold() for word in words))
    telling = [word for word in unique if word not in EMPTY] or unique
    return " OR ".join(f'"{word}"' for word in telling[:MOST_WORDS])


def folded(title: str) -> str:
    """Return a title without what makes no difference: case, and underscores for spaces."""
    return " ".join(title.replace("_", " ").split()).casefold()


def slug(domain: str) -> str:
    """Return a domain as it stands in addresses: "Ancient Rome" is ancient-rome."""
    return re.sub(r"\W+", "-", domain.casefold()).strip("-")


def _limits(scope: Scope) -> tuple[str, list[str]]:
    clauses, values = "", list[str]()
    for column, allowed in (("tier", scope.tiers), ("domain", scope.domains)):
        if allowed:
            clauses += f" AND {column} IN ({', '.join('?' * len(allowed))})"
            values += sorted(allowed)
    return clauses, values
