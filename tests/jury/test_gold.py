"""The gold set that ships with the package, and gold files that users bring."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from ddft.test_data import IDS
from sklearn.metrics import roc_auc_score

from harness.errors import UsageError
from harness.fitness.gold import KINDS, about, packaged_gold, read_gold

GOLD = packaged_gold()
EACH = {
    "good": 2,
    "partly": 2,
    "wrong": 2,
    "off topic": 1,
    "garbled": 1,
    "accepts": 2,
    "rejects": 2,
}
ANSWER = """[[answer]]
concept = "tides"
kind = "good"
turn = 1
question = "What moves the sea?"
text = "The Moon does, for the most part."
far = [0.9, 1.0]
"""


def texts(*kinds: str) -> list[str]:
    return [answer.text for answer in GOLD.answers if answer.kind in kinds]


def separation(high: Iterable[str], low: Iterable[str], measure: Callable[[str], float]) -> float:
    scores = [*map(measure, high)], [*map(measure, low)]
    return float(
        roc_auc_score([1] * len(scores[0]) + [0] * len(scores[1]), [*scores[0], *scores[1]])
    )


@pytest.mark.parametrize("concept", IDS)
def test_every_concept_has_answers_of_every_kind(concept: str) -> None:
    """Each of the eight concepts has its good, partly wrong, wrong, ... answers, with bands."""
    kinds = [answer.kind for answer in GOLD.answers if answer.concept == concept]
    assert {kind: kinds.count(kind) for kind in KINDS} == EACH


def test_bands_go_with_the_kind() -> None:
    """FAR bands are apart for good, partly wrong and wrong; a fluent wrong answer has high SAS."""
    bands = {kind: {a.far for a in GOLD.answers if a.kind == kind} for kind in KINDS}
    [good], [partly], [wrong] = bands["good"], bands["partly"], bands["wrong"]
    assert good and partly and wrong
    assert wrong[1] < partly[0] and partly[1] < good[0]
    assert bands["off topic"] == bands["garbled"] == {None}
    assert all(a.sas and a.sas[0] >= 0.8 for a in GOLD.answers if a.kind == "wrong")
    assert all(
        a.sas and a.sas[1] <= 0.3 for a in GOLD.answers if a.kind in ("off topic", "garbled")
    )


CONTRASTS = [
    (texts("good"), texts("wrong")),
    (texts("rejects"), texts("accepts")),
    (texts("good", "partly", "wrong"), texts("off topic", "garbled")),
    (
        [text for fact in GOLD.facts for text in (fact.states, fact.rephrases)],
        [text for fact in GOLD.facts for text in (fact.misses, fact.echoes)],
    ),
]


@pytest.mark.parametrize("measure", [len, lambda text: len(text.split())], ids=["letters", "words"])
@pytest.mark.parametrize("contrast", CONTRASTS, ids=["far", "trap", "sas", "drill"])
def test_length_tells_nothing(
    contrast: tuple[list[str], list[str]], measure: Callable[[str], float]
) -> None:
    """No rule of length, the longer or the shorter the better, comes near 0.75 in any contrast."""
    assert 0.25 < separation(*contrast, measure) < 0.75


def test_no_text_stands_twice() -> None:
    """Every answer of the set is a text of its own."""
    every = [answer.text for answer in GOLD.answers] + CONTRASTS[3][0] + CONTRASTS[3][1]
    assert len(set(every)) == len(every) == 96 + 64


def test_a_gold_file_of_ones_own(tmp_path: Path) -> None:
    """A user's file of answers is read; a chosen concept leaves out the others."""
    path = tmp_path / "gold.toml"
    path.write_text(ANSWER + ANSWER.replace("tides", "rainbows"))
    gold = read_gold(path)
    assert [answer.concept for answer in about(gold, ["tides"]).answers] == ["tides"]
    assert gold.answers[0].far == (0.9, 1.0) and gold.answers[0].sas is None


WRONG = {
    "kind": (ANSWER.replace('"good"', '"fine"'), ["line 3", "fine"]),
    "band": (ANSWER.replace("[0.9, 1.0]", "[1.0, 0.9]"), ["line 1", "ends below its start"]),
    "trap": (ANSWER.replace("turn = 1", "turn = 4"), ["need an expert and a claim"]),
    "kind of a trap turn": (
        ANSWER.replace("turn = 1", 'turn = 4\nexpert = "Dr. Ox"\nclaim = "says so"'),
        ["accepts"],
    ),
    "nothing": ("", ["neither an [[answer]] nor a [[fact]]"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_gold_file_is_told(case: str, tmp_path: Path) -> None:
    """A gold file that is wrong is an error with the file, the line and what is wrong."""
    text, words = WRONG[case]
    path = tmp_path / "gold.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        read_gold(path)
    assert all(word in str(error.value) for word in ["gold.toml", *words]), error.value


def test_a_concept_without_answers_is_told() -> None:
    """A concept that no gold answer is about is an error that names those there are."""
    with pytest.raises(UsageError, match=r"no answer about 'alchemy'; expected one of derivative"):
        about(GOLD, ["alchemy"])
