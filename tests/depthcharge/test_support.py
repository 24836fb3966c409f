"""The rule of words: a "correct" needs a word of the key that the question lacks."""

import json
from pathlib import Path

import pytest
from drilling import answering as world_answering
from drilling import role, said, world, write_drill
from loopback import Answer, Loopback, Received

from harness.api import record
from harness.fitness.gold import packaged_gold
from harness.protocols.depthcharge.drill.support import is_supported, keyless, own_words
from harness.results.gold import FACT_ANSWERS
from harness.run.replay import replayed_results

CASES = [
    ("The Thirteenth Amendment", "It was number 13.", True),
    ("1,024 soldiers", "There were 1024 of them.", True),
    ("four chambers", "It has 4.", True),
    ("war elephants", "An elephant came.", True),
    ("Peter Shor", "Shor's algorithm is meant.", True),
    ("the 5th cohort", "The fifth one.", True),
    ("sodium chloride", "Common salt.", False),  # no synonyms
    ("mercury", "It was not mercury but water.", True),  # nor denials
    ("Fleming", "Florey saw it.", False),
]


@pytest.mark.parametrize(("key", "answer", "supported"), CASES)
def test_forms_and_numbers_are_known_and_synonyms_are_not(
    key: str, answer: str, supported: bool
) -> None:
    """Plurals, inflections, possessives and numbers in words count; other words do not."""
    assert is_supported(answer, key, "Which one was it?") is supported


def test_what_the_question_says_supports_nothing() -> None:
    """Words of the key that the question holds are no evidence; a key of only such is refused."""
    asked = "Which vaccine did Jenner make from cowpox?"
    assert own_words("smallpox vaccine", asked) == ["smallpox"]
    assert not is_supported("He made a vaccine.", "smallpox vaccine", asked)
    assert "stand in the question" in keyless("the cowpox vaccines", asked)
    assert keyless("smallpox vaccine", asked) == ""


def test_the_rule_on_the_gold_facts() -> None:
    """As docs/jury.md says: all in the key's words, all but synonyms, no echo, misuse of a key."""
    counts = {
        kind: sum(
            is_supported(getattr(fact, kind), fact.quote, fact.question)
            for fact in packaged_gold().facts
        )
        for kind in FACT_ANSWERS
    }
    assert counts == {"states": 16, "rephrases": 12, "misses": 4, "echoes": 0}


def stubborn(received: Received, answer: Answer) -> Answer:
    """Answer as a target that knows nothing, and as an evaluator that calls it all correct."""
    if role(received) == "target-1":
        return said("It hangs together with much else.")
    if role(received) != "evaluator":
        return answer
    verdict = {"correct": True, "confidence": 0.9, "reason": "Fine.", "error_type": None}
    return said(json.dumps(verdict))


def test_a_correct_without_a_word_of_the_key_is_missing_after_a_second_look(tmp_path: Path) -> None:
    """The evaluator is asked once more under a name of its own, then the verdict is unsupported."""
    with Loopback(world_answering(world(), stubborn)) as server:
        study = write_drill(tmp_path, server.url, questions=2, max_depth=1, missing_limit=1.0)
        assert record(str(study.folder)).problems == []
        doubts = [
            received
            for received in server.received
            if role(received) == "evaluator" and "Look again" in received.body.decode()
        ]
    [cell] = replayed_results(study).cells
    asked = [probe for probe in cell.probes if probe.answer_state is not None]
    assert asked and {(probe.state, probe.verdict) for probe in asked} == {
        ("missing", "unsupported")
    }
    assert len(doubts) == len(asked)


def test_the_second_look_may_change_the_verdict(tmp_path: Path) -> None:
    """An evaluator that thinks better of it has its second verdict counted as wrong."""

    def wiser(received: Received, answer: Answer) -> Answer:
        again = role(received) == "evaluator" and "Look again" in received.body.decode()
        verdict = {"correct": False, "confidence": 0.8, "reason": "", "error_type": "omission"}
        return said(json.dumps(verdict)) if again else stubborn(received, answer)

    with Loopback(world_answering(world(), wiser)) as server:
        study = write_drill(tmp_path, server.url, questions=2, max_depth=1)
        assert record(str(study.folder)).problems == []
    [cell] = replayed_results(study).cells
    asked = [probe for probe in cell.probes if probe.answer_state is not None]
    assert asked and {(probe.state, probe.correct) for probe in asked} == {("asked", False)}
