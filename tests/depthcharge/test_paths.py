"""How a depth's questions are dealt to paths, and directions to questions."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.depthcharge.extractor import fault_of
from harness.depthcharge.paths import Path, dealt, dealt_anew, fresh, shares, stands_in


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


def test_directions_are_dealt_disjoint_and_in_order() -> None:
    """Each question has three directions of its own, the best ones first for everybody."""
    listed = shares(["a", "b", "c", "d", "e", "f", "g", "h"], 2)
    assert [list(share) for share in listed] == [["a", "c", "e"], ["b", "d", "f"]]
    assert [list(share) for share in shares(["a"], 2)] == [["a"], []]


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
        ("When?", "In 1923.", "1923", "does not stand in the passage"),
        ("When?", "In January.", "1922", "does not hold the quote"),
        ("Was it in Toronto?", "In Toronto.", "Toronto", "gives its answer away"),
        ("When?", "", "", "does not stand in the passage"),
    ],
)
def test_a_question_holds_what_the_passage_says(
    question: str, answer: str, quote: str, fault: str
) -> None:
    """The quote stands in the passage and in the answer, and not in the question."""
    found = fault_of(question, answer, quote, PASSAGE)
    assert found == "" if not fault else fault in found
