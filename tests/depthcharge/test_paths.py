"""How a depth's questions are dealt to paths, and directions to questions."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.protocols.depthcharge.drill.paths import (
    Direction,
    Path,
    Pools,
    Slot,
    dealt,
    dealt_anew,
    fresh,
    stands_in,
)
from harness.protocols.depthcharge.drill.questions import claim_of, fault_of, span_of


def paths(count: int) -> list[Path]:
    return [Path(place, place, f"topic {place}") for place in range(1, count + 1)]


@pytest.mark.parametrize("count", [1, 2, 7, 29, 30, 31, 45])
def test_exactly_n_are_dealt(count: int) -> None:
    """However many paths there are, N questions are dealt, as evenly as can be."""
    places = [path.place for path in dealt(paths(count), 30, 42, "depth-1")]
    assert len(places) == 30
    assert places == sorted(places)
    loads = Counter(places).values()
    assert max(loads) - min(loads) <= 1


def test_a_sample_is_seeded() -> None:
    """More paths than questions: the seed and the label draw the sample, and nothing else does."""
    drawn = [path.place for path in dealt(paths(45), 30, 42, "depth-1")]
    assert drawn == [path.place for path in dealt(paths(45), 30, 42, "depth-1")]
    assert drawn != [path.place for path in dealt(paths(45), 30, 43, "depth-1")]
    assert drawn != [path.place for path in dealt(paths(45), 30, 42, "depth-2")]
    assert len(set(drawn)) == 30


def test_slots_without_a_fact_go_to_other_paths_in_turn() -> None:
    """Those that failed least come first, then by place; all take their turn."""
    dealt_to = [path.place for path in dealt_anew(paths(3), 4, {1: 2, 3: 1})]
    assert dealt_to == [2, 3, 1, 2]


def hands(slots: list[Slot], directions: dict[int, str]) -> list[str]:
    """Deal directions, a letter each, to slots; give what each got as a word."""
    pools = Pools()
    for path in {slot.path.place: slot.path for slot in slots}.values():
        pools.put(path, [Direction(letter, "answer") for letter in directions[path.place]])
    return ["".join(one.text for one in slot.directions) for slot in pools.deal(slots)]


def test_directions_are_dealt_disjoint_and_in_order() -> None:
    """Each question has three directions of its own, the best ones first for everybody."""
    one = paths(1)[0]
    slots = [Slot(1, 1, one), Slot(2, 1, one)]
    assert hands(slots, {1: "abcdefgh"}) == ["ace", "bdf"]
    assert hands(slots, {1: "a"}) == ["a", ""]


def test_a_direction_is_dealt_once_at_a_depth() -> None:
    """What two paths have in common goes to the first; the other goes on with what it has."""
    slots = [Slot(number, 1, path) for number, path in enumerate(paths(2), 1)]
    assert hands(slots, {1: "abcd", 2: "abxyz"}) == ["acd", "bxy"]


def test_a_path_never_gets_what_it_had() -> None:
    """Walked directions do not come back, in whatever case; what is left stays for later deals."""
    path = paths(1)[0]._replace(had=frozenset({"b"}))
    pools = Pools()
    pools.put(path, [Direction(letter, "answer") for letter in "aBcde"])
    [slot] = pools.deal([Slot(1, 1, path)])
    assert [one.text for one in slot.directions] == ["a", "c", "d"]
    assert [one.text for one in pools.left(path)] == ["e"]
    assert pools.known(path) == ["a", "b", "c", "d", "e"]


def test_a_direction_is_fresh_once() -> None:
    """Case and spacing make no new direction; an empty one is none."""
    assert fresh(["Heart", " heart", "", "Lung  rot", "lung rot", "Liver"], ["liver"]) == [
        "Heart",
        "Lung  rot",
    ]


@pytest.mark.parametrize(
    ("phrase", "text", "stands"),
    [
        ("art", "The heart beats.", False),
        ("The  Heart", "It is the heart.", True),
        ("5 mg", "A dose of 5 mg.", True),
        ("5 mg", "A dose of 15 mg.", False),
        ("C++", "Written in C++.", True),
        ("", "anything", False),
        ("1914-1918", "From 1914\u20131918.", True),
        ("Newton's law", "It is Newton\u2019s law.", True),
        ("CO2", "It gives off CO\u2082.", True),
        ("mercury", "It is _mercury_.", True),
        ("\u80f0\u5c9b\u7d20", "\u5b83\u662f\u80f0\u5c9b\u7d20\u3002", True),
    ],
)
def test_a_phrase_stands_in_a_text_as_whole_words(phrase: str, text: str, stands: bool) -> None:
    """A piece of a word or of a number is not the phrase."""
    assert stands_in(phrase, text) is stands


PASSAGE = "Insulin was first given to a patient in January 1922, in Toronto."


@pytest.mark.parametrize(
    ("question", "answer", "quote", "fault"),
    [
        ("When was insulin first given?", "In January 1922.", "January 1922", ""),
        ("Say when.", "In January 1922.", "January 1922", "asks nothing"),
        ("Say when; in short.", "In January 1922.", "January 1922", "asks nothing"),
        ("\u03a0\u03cc\u03c4\u03b5\u037e", "1922", "1922", ""),
        ("When?", "In 1923.", "1923", "does not stand in the passage"),
        ("When?", "In January.", "1922", "does not hold the quote"),
        ("Was it in Toronto?", "In Toronto.", "Toronto", "gives its answer away"),
        ("When?", "", "", "does not stand in the passage"),
        ("When?", "It was in.", "in", "tells no fact"),
        ("What does the passage say?", "January 1922.", "January 1922", "speaks of the passage"),
        ("\u4ec0\u4e48\u65f6\u5019\uff1f", "1922", "1922", ""),
    ],
)
def test_a_question_holds_what_the_passage_says(
    question: str, answer: str, quote: str, fault: str
) -> None:
    """The quote stands in the passage and in the answer, and not in the question."""
    found = fault_of(question, answer, quote, PASSAGE)
    assert found == "" if not fault else fault in found


@pytest.mark.parametrize(
    ("answer", "quote", "span"),
    [
        ("In January 1922.", "January 1922", "January 1922"),
        ("January 1922.", "Insulin was first given to a patient in January 1922", "January 1922"),
        ("In 1923.", "Insulin was first given", "Insulin was first given"),
        ("", "January 1922", "January 1922"),
    ],
)
def test_an_answer_that_stands_in_its_quote_is_the_span(answer: str, quote: str, span: str) -> None:
    """Who quotes a sentence and answers with a part of it has quoted that part."""
    assert span_of(answer, quote) == span


def test_the_claim_is_the_sentence_that_holds_the_quote() -> None:
    """What is checked is a proposition of the source, word for word."""
    passage = f"Banting was a surgeon. {PASSAGE} Dr. Collip purified it."
    assert claim_of("January 1922", passage, 2) == PASSAGE
    assert claim_of("nowhere", passage, 2) == passage
