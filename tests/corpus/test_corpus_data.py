"""The package's own corpus: what its entries must be, whoever wrote them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import get_args

from harness.corpus.entries import Entry, Tier, count, read_corpus
from harness.protocols.depthcharge.drill.cloze import gaps_in
from harness.results import Passage

OF_THE_PAPER = {"Ancient Rome", "Constitutional Law", "Medicine", "Quantum Computing"}
EASY = "World Geography"  # what small models know now and then
EASY_TIERS = ("COMMON", "TEXTBOOK", "PROFESSIONAL")
AS_OF_LESS_TWO_YEARS = "2024-11-28"
RUN = 6  # words that no two entries may share in a row


def words(entry: Entry) -> list[str]:
    return re.findall(r"[^\W_]+", entry.text.casefold())


def test_every_domain_of_the_paper_has_every_tier() -> None:
    """At least 75 entries for each of the paper's four domains, and 8 in each of five tiers."""
    counts = count(entry for entry in read_corpus() if entry.domain in OF_THE_PAPER)
    assert len(counts) == len(OF_THE_PAPER) * len(get_args(Tier))
    assert min(counts.values()) >= 8
    by_domain = Counter(entry.domain for entry in read_corpus())
    assert by_domain.keys() == {*OF_THE_PAPER, EASY}
    assert min(by_domain.values()) >= 75


def test_the_easy_domain_has_60_facts_a_tier() -> None:
    """Each of its three tiers grounds twice the paper's 30 questions with facts of their own."""
    keys = defaultdict[str, set[str]](set)
    for entry in read_corpus():
        if entry.domain == EASY:
            passage = Passage(entry.title, entry.text, entry.url)
            keys[entry.tier] |= {gap.key for gap in gaps_in(passage, EASY)}
    assert tuple(keys) == EASY_TIERS
    assert min(len(distinct) for distinct in keys.values()) >= 60


def test_every_entry_says_where_it_stands() -> None:
    """A citation, a date, a licence; an address, where there is one, is a web address."""
    for entry in read_corpus():
        assert len(entry.citation) >= 10, entry
        assert entry.licence == "CC0-1.0", entry
        assert entry.date, entry
        assert entry.url == "" or re.fullmatch(r"https?://\S+", entry.url), entry


def test_the_newest_tier_is_new() -> None:
    """Its dates are whole, and within the two years before the study's date."""
    for entry in read_corpus():
        if entry.tier == "CUTTING_EDGE":
            assert len(entry.date) == 10, entry
            assert entry.date > AS_OF_LESS_TWO_YEARS, entry


def test_no_two_entries_share_a_run_of_words() -> None:
    """Six words in a row stand in one text only: none is another one in disguise."""
    where = defaultdict(set)
    for entry in read_corpus():
        said = words(entry)
        for at in range(len(said) - RUN + 1):
            where[tuple(said[at : at + RUN])].add(entry.title)
    assert {run: titles for run, titles in where.items() if len(titles) > 1} == {}


def test_no_two_entries_begin_alike() -> None:
    """The first three words of a text are those of no other."""
    begun = defaultdict(list)
    for entry in read_corpus():
        begun[tuple(words(entry)[:3])].append(entry.title)
    assert {start: titles for start, titles in begun.items() if len(titles) > 1} == {}


def test_a_text_is_a_fact_and_no_more() -> None:
    """Between 80 and 600 characters, in whole sentences."""
    for entry in read_corpus():
        assert 80 <= len(entry.text) <= 600, entry
        assert entry.text[-1] in ".)”\"'", entry
