"""A few answers that never came decide no rank: a simulated study with and without its losses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from examined import LOST, UNSEEN, Examination, chat, subject_turn
from loopback import Answer, Loopback, Received
from provider import chance
from study_text import study_text

from harness.protocols.ddft.analysis.evaluations import rescored
from harness.protocols.ddft.protocol import metric_rules
from harness.results import CellResult, Results, SubjectMetrics, Turn
from harness.run.record import Recording
from harness.run.replay import replayed_results
from harness.study.folder import Study

SUBJECTS = ("subject-a", "subject-b", "subject-c")
LOSER, SHARE = "subject-a", 0.12
SKILL = {"subject-a": 0.88, "subject-b": 0.80, "subject-c": 0.72}
INCOHERENT = 3  # the turn whose answers have no coherence


def place(received: Received) -> str:
    """Name a subject's turn by what does not depend on earlier answers."""
    body = received.json()
    return f"{body['model']}|{body['messages'][0]['content']}|{subject_turn(received)}"


def answered(received: Received) -> Answer | None:
    """Answer with scores that belong to the place."""
    if not subject_turn(received):
        return None
    here = place(received)
    sas = 0.25 if subject_turn(received) == INCOHERENT else 0.9
    far = SKILL[received.json()["model"]] + 0.1 * chance(here, "far")
    return chat(f"In 1859 a brewery stood by. [far {far:.3f}, sas {sas:.3f}]")


def losing(received: Received) -> Answer | None:
    """Lose some answers of one subject: filtered ones, and such that end in thought."""
    here = place(received)
    if subject_turn(received) and here.startswith(LOSER) and chance(here, "lost") < SHARE:
        return LOST["Azure's 400" if chance(here, "how") < 0.5 else "null at the limit"][0]
    return answered(received)


def held(root: Path, world: Examination) -> tuple[Study, Results]:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(world) as server:
        text = study_text(
            server.url,
            subjects=SUBJECTS,
            concepts=("harm-principle", "recursion"),
            levels="[0.0, 0.25, 0.5, 0.75, 1.0]",
            extra="missing_limit = 0.2\n",
        )
        text = text.replace('interviewer = "interviewer"', 'interviewer = "scripted"')
        (folder / "study.toml").write_text(text.replace(', "judge-b", "judge-c"]', "]"))
        assert Recording(Study(folder)).run().problems == []
    found = replayed_results(Study(folder))
    assert isinstance(found, Results)
    return Study(folder), found


def ranking(subjects: Sequence[SubjectMetrics]) -> list[str]:
    values = {part.subject: part.ci_raw.value for part in subjects}
    assert None not in values.values()
    return sorted(values, key=lambda name: values[name] or 0.0)


def judged_as_nothing(cell: CellResult) -> CellResult:
    """Return a cell as if the jury had scored its missing answers."""

    def scored(turn: Turn) -> Turn:
        far, sas = UNSEEN if turn.missing else (turn.far, turn.sas)
        return msgspec.structs.replace(turn, far=far, sas=sas)

    return msgspec.structs.replace(cell, turns=list(map(scored, cell.turns)))


def test_lost_answers_change_no_rank(tmp_path: Path) -> None:
    """The ranks are those of the study without losses; scored, the losses would make others."""
    whole_world, lossy_world = Examination(answered), Examination(losing)
    _, whole = held(tmp_path / "whole", whole_world)
    study, lossy = held(tmp_path / "lossy", lossy_world)
    lost = lossy.answers.whole
    assert lost.missing == sum(part.missing for part in lossy.answers.models if part.of == LOSER)
    assert 4 <= lost.missing <= 10
    assert set(lost.missing_kinds) == {"filtered", "cut_off_thinking"}
    assert len(lossy_world.judged) == len(whole_world.judged) - lost.missing
    assert ranking(lossy.subjects) == ranking(whole.subjects)
    as_scores = rescored(list(map(judged_as_nothing, lossy.cells)), metric_rules(study))
    assert ranking(as_scores) != ranking(whole.subjects), "the test would notice nothing"
