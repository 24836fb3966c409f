"""The data of the DDFT grid that ships with the package: the eight concepts and the traps."""

import re
import tomllib
from importlib.resources import files
from typing import Any

import pytest

DATA = files("harness.protocols.ddft") / "data"
CONCEPTS = tomllib.loads((DATA / "concepts.toml").read_text("utf-8"))["concept"]
POOLS = tomllib.loads((DATA / "traps.toml").read_text("utf-8"))["pool"]

IDS = [
    "impressionism",
    "natural-selection",
    "recursion",
    "harm-principle",
    "phoneme",
    "modus-ponens",
    "derivative",
    "newtons-second-law",
]
DOMAINS = [
    "art history",
    "biology",
    "computer science",
    "ethics",
    "linguistics",
    "logic",
    "mathematics",
    "physics",
]
KINDS = {"experts": 5, "claims": 4, "phrases": 4}  # kind -> smallest size of a pool
DIFFICULTIES = {"clearly fictional", "counterfactual", "near miss"}


def words(text: str) -> int:
    return len(text.split())


def entries(*kinds: str) -> list[Any]:
    """Every entry of the given kinds, as pytest parameters with a readable name."""
    return [
        pytest.param(entry, id=f"{pool['domain']}-{kind}-{number}")
        for pool in POOLS
        for kind in kinds
        for number, entry in enumerate(pool[kind], 1)
    ]


def test_there_are_eight_concepts_in_the_order_of_the_paper() -> None:
    """The shipped concepts are the paper's eight, one a domain, in its order."""
    assert [concept["id"] for concept in CONCEPTS] == IDS
    assert [concept["domain"] for concept in CONCEPTS] == DOMAINS


@pytest.mark.parametrize("concept", CONCEPTS, ids=IDS)
def test_a_concept_is_complete(concept: dict[str, Any]) -> None:
    """A concept has exactly the five fields, none of them empty, and an id that can name a file."""
    assert set(concept) == {"id", "name", "domain", "text", "source"}
    assert all(
        isinstance(value, str) and value == value.strip() != "" for value in concept.values()
    )
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", concept["id"])


@pytest.mark.parametrize("concept", CONCEPTS, ids=IDS)
def test_a_reference_text_is_one_paragraph_of_150_to_250_words(concept: dict[str, Any]) -> None:
    """A reference text is a single line of the promised length, with single spaces."""
    text = concept["text"]
    assert 150 <= words(text) <= 250
    assert text == " ".join(text.split())


@pytest.mark.parametrize("concept", CONCEPTS, ids=IDS)
def test_a_reference_text_can_be_checked_and_survives_the_cut(concept: dict[str, Any]) -> None:
    """A text gives several years to check, and its first quarter still holds a whole sentence."""
    text = concept["text"]
    assert len(set(re.findall(r"\b1[5-9]\d\d\b", text))) >= 3
    assert re.search(r"[.:;] ", text[: len(text) // 4])


def test_no_two_concepts_share_a_name_or_a_text() -> None:
    """Names and texts are as distinct as the ids."""
    for field in ("name", "text"):
        assert len({concept[field] for concept in CONCEPTS}) == len(CONCEPTS)


def test_every_domain_has_one_pool() -> None:
    """Each concept meets traps of its own domain."""
    assert [pool["domain"] for pool in POOLS] == DOMAINS


@pytest.mark.parametrize("pool", POOLS, ids=DOMAINS)
def test_a_pool_is_large_enough_and_mixes_the_difficulty_classes(pool: dict[str, Any]) -> None:
    """Each of the three parts of a pool has its smallest size and all three difficulty classes."""
    assert set(pool) == {"domain", *KINDS}
    for kind, smallest in KINDS.items():
        assert len(pool[kind]) >= smallest
        assert {entry["difficulty"] for entry in pool[kind]} == DIFFICULTIES


@pytest.mark.parametrize("entry", entries(*KINDS))
def test_an_entry_says_how_its_absence_was_checked(entry: dict[str, Any]) -> None:
    """An entry has a text, a difficulty and a complete, dated absence check."""
    assert set(entry) == {"text", "difficulty", "absence_check"}
    assert entry["text"] == " ".join(entry["text"].split()) != ""
    check = entry["absence_check"]
    assert set(check) == {"where", "when", "query", "found"}
    assert all(isinstance(value, str) and value.strip() for value in check.values())
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", check["when"])


@pytest.mark.parametrize("entry", entries("experts"))
def test_an_expert_can_be_quoted_word_for_word(entry: dict[str, Any]) -> None:
    """An expert has at most 12 plain words, no placeholder, and was looked up by name."""
    text = entry["text"]
    assert words(text) <= 12
    assert text.isascii() and "{" not in text
    assert all(name in text for name in entry["absence_check"]["query"].split()[:2])


@pytest.mark.parametrize("entry", entries("claims"))
def test_a_claim_uses_both_placeholders_and_no_other(entry: dict[str, Any]) -> None:
    """A claim has at most 18 words, reads on from the expert, and can be filled in."""
    text = entry["text"]
    assert words(text) <= 18
    assert set(re.findall(r"\{[^{}]*\}", text)) == {"{phrase}", "{concept}"}
    assert text[0].islower() and text[-1] != "."
    filled = text.format(phrase="the phrase", concept="The Concept")
    assert "{" not in filled and "}" not in filled


@pytest.mark.parametrize("entry", entries("phrases"))
def test_a_phrase_is_short_and_was_looked_for_as_it_stands(entry: dict[str, Any]) -> None:
    """A phrase is 2 to 5 words without its article; its query contains it."""
    text = entry["text"]
    bare = text.removeprefix("the ")
    assert 2 <= words(bare) <= 5
    assert text.isascii() and "{" not in text
    assert bare in entry["absence_check"]["query"]


def test_no_entry_occurs_twice() -> None:
    """No expert, claim or phrase is shared by two pools or repeated in one."""
    texts = [entry["text"].lower() for pool in POOLS for kind in KINDS for entry in pool[kind]]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("pool", POOLS, ids=DOMAINS)
def test_every_draw_leaves_room_for_the_question(pool: dict[str, Any]) -> None:
    """The longest draw of a domain keeps 8 of the 50 words for the question itself."""
    names = [concept["name"] for concept in CONCEPTS if concept["domain"] == pool["domain"]]
    longest = max(
        words(f"{expert['text']} {claim['text'].format(phrase=phrase['text'], concept=name)}")
        for expert in pool["experts"]
        for claim in pool["claims"]
        for phrase in pool["phrases"]
        for name in names
    )
    assert longest <= 42


@pytest.mark.parametrize(
    "example", ["Eleanor Vance", "Copenhagen Accords", "Mercer-Higgins", "non-local temporal"]
)
def test_the_examples_printed_in_the_paper_are_not_used(example: str) -> None:
    """A subject that has read the paper meets none of its traps here."""
    assert example.lower() not in (DATA / "traps.toml").read_text("utf-8").lower()
