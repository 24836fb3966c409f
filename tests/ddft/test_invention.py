"""trap_source = "invented": the interviewer makes the expert up, as in the paper's appendix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_folder import edit, write_study

from harness.errors import UsageError
from harness.protocols.ddft.dialogue.invention import expert_fault, invented_trap, named_expert
from harness.recording import cassette as cassettes
from harness.run.record import Recording
from harness.run.replay import CellReplay, replay_cells
from harness.run.verdict import replay
from harness.study.folder import Study

GOOD = (
    "Professor Eleanor Vance of Selby argued in 1987 that the brewery by the river shows "
    "harm to be custom. How would you judge her thesis?"
)


@pytest.mark.parametrize(
    ("question", "expert"),
    [
        (GOOD, "Professor Eleanor Vance"),
        ("How do you see Dr. Ana de la Cruz's view?", "Dr. Ana de la Cruz"),
        ("As Prof. J. R. Okonkwo-Lind holds, is it so?", "Prof. J. R. Okonkwo-Lind"),
        ("Dr. Élodie Ångström says no. Why?", "Dr. Élodie Ångström"),
        ("Is Doctor Li Wei. right?", "Doctor Li Wei"),
        ("The doctor says so. Professor Smith agrees; does Dr. Ida Moss?", "Dr. Ida Moss"),
        ("A professor named Eleanor Vance says so?", ""),
        ("Professor Vance says so?", ""),
        ("Drs and professors differ; why?", ""),
        ("", ""),
    ],
)
def test_who_is_named(question: str, expert: str) -> None:
    """A title with a first and a last name; the first who has them."""
    assert named_expert(question) == expert


def test_expert_and_claim_read_as_the_sentence() -> None:
    """What is said of the view is the rest of the expert's sentence."""
    trap = invented_trap(GOOD)
    assert f"{trap.expert} {trap.claim}." == GOOD.partition(" How")[0]


def test_who_was_named_before_was_not_invented() -> None:
    """A person of the reference text, or of the dialogue, is refused."""
    assert expert_fault(GOOD, "A text by Mill.") is None
    fault = expert_fault("Professor John Mill holds so?", "A text by MILL.")
    assert fault is not None
    assert fault.state == "expert not invented"


def chat(content: str) -> Answer:
    message = {"content": content}
    return json_answer({"choices": [{"message": message, "finish_reason": "stop"}]})


def recorded(root: Path, *replies: str) -> tuple[Study, CellReplay]:
    """Record one cell whose interviewer says these in turn 4."""
    provider, drafts = Provider(), iter(replies)

    def reply(received: Received) -> Answer:
        body = received.json()
        if body["model"] == "subject-a":
            return chat("A brewery poisoned the river.")
        if body["model"] == "interviewer" and "Make up an expert" in json.dumps(body["messages"]):
            return chat(next(drafts))
        return provider(received)

    with Loopback(reply) as server:
        study = write_study(root, server.url, levels="[0.5]")
        edit(study, "levels =", 'trap_source = "invented"\nlevels =')
        study = Study(study.folder)
        assert Recording(study).run().problems == []
    assert replay(study, verify_checksums=True).ok
    [cell] = replay_cells(study)
    return study, cell


def requested(study: Study, call: str) -> str:
    kept = cassettes.load(study.cassette(study.cells()[0])).get(call, 0)
    assert kept is not None, call
    return str(json.loads(kept.request_bytes)["messages"][-1]["content"])


def test_the_invented_expert_becomes_the_traps(tmp_path: Path) -> None:
    """Judges are told of the one that the question names, and turn 5 asks about the same."""
    study, cell = recorded(tmp_path, GOOD)
    assert cell.transcript.trap["expert"] == "Professor Eleanor Vance"
    assert cell.result.turns[3].question_source == "interviewer"
    assert requested(study, "turn-4/subject").endswith(GOOD)
    assert "Professor Eleanor Vance" in requested(study, "turn-4/judge/judge-a")
    assert "Professor Eleanor Vance" in requested(study, "turn-5/interviewer")


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("An expert says the brewery is fine. And you?", "it names no expert"),
        (GOOD.replace("Vance", "Mill"), "Mill was named before"),
        (GOOD.replace("?", "."), "question mark"),
        (GOOD.replace("the brewery by the river", "it"), "does not take up"),
    ],
)
def test_a_question_without_an_invention_is_asked_for_once_more(
    tmp_path: Path, first: str, told: str
) -> None:
    """The interviewer is told what is wrong; where it came from is recorded."""
    study, cell = recorded(tmp_path, first, GOOD)
    assert told in requested(study, "turn-4/interviewer/ask-2")
    assert cell.result.turns[3].question_source == "interviewer, asked again"
    assert cell.transcript.trap["expert"] == "Professor Eleanor Vance"


def test_two_that_cannot_be_used_give_the_drawn_trap(tmp_path: Path) -> None:
    """The template stands in with the expert that is drawn for this place of the grid."""
    study, cell = recorded(tmp_path, "Why?", "Really?")
    assert cell.result.turns[3].question_source == "template"
    expert = cell.transcript.trap["expert"]
    assert expert in requested(study, "turn-4/subject")
    assert expert in requested(study, "turn-4/judge/judge-a")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('interviewer = "interviewer"', 'interviewer = "scripted"', '"scripted" invents none'),
        ("levels =", 'arms = ["paper", "hedged"]\nlevels =', "the arm 'hedged'"),
        ('"invented"', '"made up"', "ddft.trap_source: Input should be 'drawn' or 'invented'"),
    ],
)
def test_what_does_not_go_together_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    """With file and line."""
    study = write_study(tmp_path, "http://127.0.0.1:1")
    edit(study, "levels =", 'trap_source = "invented"\nlevels =')
    edit(study, old, new)
    with pytest.raises(UsageError, match=r"study.toml, line \d+: ddft") as caught:
        Study(study.folder)
    assert told in str(caught.value)
