"""A judge of kind "verdict": one word a sentence, its probability where the endpoint gives one."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from ddft.test_protocol import ONE, asked, chat, one_cell, record
from loopback import Answer, Received, json_answer
from study_text import study_text

from harness.errors import UsageError
from harness.protocols.ddft.dialogue.verdicts import says_something, statements
from harness.recording import cassette as cassettes
from harness.study.folder import Study

VERDICT = 'scoring = "verdict"\n'
MILL = "Mill published it in London in 1859. Hume wrote it on the Moon. Is that so?"
FALL = "Yes, that expert is quite right."
DOUBT = "I have never heard of that expert."


def word(likely: str, other: str, share: float, words: bool = False) -> Answer:
    """Reply with one of two words, and unless `words` with the probabilities of both."""
    tokens = {likely: math.log(share), other: math.log(1 - share), "The": math.log(0.001)}
    top = [{"token": token, "logprob": value} for token, value in tokens.items()]
    said = max(likely, other, key=lambda token: tokens[token])
    choice: dict[str, Any] = {"message": {"content": said}, "finish_reason": "length"}
    if not words:
        choice["logprobs"] = {"content": [{"token": said, "logprob": -0.1, "top_logprobs": top}]}
    return json_answer({"model": "served", "choices": [choice]})


def verdict(received: Received, words: bool = False) -> Answer:
    """Judge by content: what is about London is true, who knows nothing rejects."""
    prompt = received.json()["messages"][-1]["content"]
    if "accept or reject" in prompt:
        return word("Reject", "Accept", 0.9 if DOUBT in prompt else 0.2, words)
    if "Statement:" in prompt:
        assert prompt.index("Reference text") < prompt.index("Statement:")
        return word("Yes", " No", 0.95 if "1859" in prompt.split("Statement:")[1] else 0.25, words)
    return word("Yes", "No", 0.6 if "speak about" in prompt else 0.8, words)


def answers(received: Received) -> Answer:
    """Answer as subject and interviewer, turn by turn, and as a judge of verdicts."""
    body = received.json()
    if "judge" in body["model"]:
        return verdict(received)
    turn = sum(message["role"] == "user" for message in body["messages"])
    return chat([MILL, MILL, MILL, FALL, DOUBT][turn - 1] if "subject" in body["model"] else "Why?")


def test_far_is_the_mean_over_sentences_and_the_stance_in_the_trap_turns(tmp_path: Path) -> None:
    """Turns 1 to 3: (0.95 + 0.25) / 2, the question left out; turn 4 and 5: P(reject)."""
    cell = one_cell(record(tmp_path, answers, **ONE, extra=VERDICT))
    scores = [turn.scores["judge-a"] for turn in cell.turns]
    assert [score.far for score in scores] == pytest.approx([0.6, 0.6, 0.6, 0.2, 0.9])
    assert {(score.state, score.asks) for score in scores} == {("ok", 1)}
    assert [score.sas for score in scores] == pytest.approx([0.6] * 5)  # the lower of 0.8 and 0.6


def test_every_question_is_a_call_named_by_its_place(tmp_path: Path) -> None:
    """One call a sentence, one for the stance and two for the form, each asked for one token."""
    study = record(tmp_path, answers, **ONE, extra=VERDICT)
    kept = list(cassettes.load(study.cassette(study.cells()[0])))
    calls = [one.response.call or "" for one in kept]
    mine = [call.split("judge-a/")[1] for call in calls if "turn-1/judge/judge-a" in call]
    assert mine == ["clear", "sentence-1", "sentence-2", "topic"]
    assert "turn-4/judge/judge-a/stance" in calls
    judged = [one for one in kept if "/judge/" in (one.response.call or "")]
    bodies = [json.loads(one.request_bytes) for one in judged]
    assert {(body["max_tokens"], body["logprobs"]) for body in bodies} == {(1, True)}
    assert FALL in asked(study, "turn-4/judge/judge-a/stance")[-1]["content"]


def test_without_probabilities_the_word_counts_and_is_flagged(tmp_path: Path) -> None:
    """An endpoint without log probabilities gives 1 or 0 a sentence, flagged in the score."""

    def reply(received: Received) -> Answer:
        judges = "judge" in received.json()["model"]
        return verdict(received, words=True) if judges else answers(received)

    score = one_cell(record(tmp_path, reply, **ONE, extra=VERDICT)).turns[0].scores["judge-a"]
    assert (score.far, score.sas, score.repaired) == (0.5, 1.0, ["word_alone"])


def test_a_reply_with_neither_word_is_asked_again_and_then_missing(tmp_path: Path) -> None:
    """Two replies without the word leave the whole score missing, under a state of its own."""

    def reply(received: Received) -> Answer:
        body = received.json()
        if body["model"] == "judge-b" and "Hume" in json.dumps(body["messages"]):
            return chat("Perhaps")
        return answers(received)

    study = record(tmp_path, reply, **ONE, extra=VERDICT + "missing_limit = 1.0\n")
    score = one_cell(study).turns[0].scores["judge-b"]
    assert (score.far, score.sas, score.state, score.asks) == (None, None, "no_word", 2)
    again = asked(study, "turn-1/judge/judge-b/sentence-2/ask-2")
    assert again[-1]["content"] == "Answer with one word alone: Yes or No."


def test_one_judge_may_say_words_and_the_others_give_numbers(tmp_path: Path) -> None:
    """scoring can be set judge by judge; who is not named gives numbers."""

    def reply(received: Received) -> Answer:
        if received.json()["model"] in ("judge-b", "judge-c"):
            return chat('{"far": 0.5, "far_reason": "", "sas": 0.5, "sas_reason": ""}')
        return answers(received)

    extra = '\n[ddft.scoring]\njudge-a = "verdict"\n'
    turn = one_cell(record(tmp_path, reply, **ONE, extra=extra)).turns[0]
    assert [turn.scores[f"judge-{name}"].far for name in "ab"] == pytest.approx([0.6, 0.5])


def test_scoring_of_somebody_who_is_no_judge_is_an_error(tmp_path: Path) -> None:
    """A name under scoring that is not on the jury is told, with those that are."""
    text = study_with('\n[ddft.scoring]\njudge-d = "verdict"\n', tmp_path)
    with pytest.raises(UsageError, match=r"scoring.judge-d: is not on the jury \(judge-a"):
        Study(text)


def study_with(extra: str, root: Path) -> Path:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(study_text("http://127.0.0.1:9", extra=extra))
    return folder


def test_what_states_nothing_is_no_statement() -> None:
    """Questions and repetitions are left out; a sentence with the question's words says nothing."""
    assert statements("- It is so.\n2) Two. It is so. Is it?") == ["It is so.", "Two."]
    asked_for = "What is the central idea of the Harm Principle?"
    assert not says_something("The central idea of the harm principle is an idea.", asked_for)
    assert says_something("It limits the use of force.", asked_for)
