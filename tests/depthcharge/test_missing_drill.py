"""What came back from a call, in a drill: target, extractor and evaluator are read by one rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from drilling import answering, role, world, write_drill
from examined import LOST, OWN, THINKING, UNREADABLE, chat
from loopback import Answer, Loopback, Received

from harness.cli import main
from harness.protocols.depthcharge.protocol import bounds
from harness.results import DrillResults, Probe, canonical
from harness.results.answers import words_of
from harness.run.record import Recording
from harness.run.replay import replayed_results
from harness.run.verdict import replay
from harness.study.folder import Study

SECRET = 'SECRET {"correct": false, "about": false, "items": ["No"]}'


def held(study: Study) -> DrillResults:
    """Record a drill to its end and return its results, from a replay."""
    assert Recording(study).run().problems == []
    found = replayed_results(study)
    assert isinstance(found, DrillResults)
    return found


def told(probe: Probe) -> tuple[object, ...]:
    return probe.depth, probe.question, probe.state, probe.correct, probe.verdict


@pytest.mark.parametrize("name", LOST)
def test_a_missing_answer_of_a_target_is_checked_by_nobody(name: str, tmp_path: Path) -> None:
    """It is missing, named and counted, and bounded as a wrong answer and as a right one."""
    answer, kind = LOST[name]

    def twist(received: Received, usual: Answer) -> Answer:
        about = "code of Medicine2?" in received.body.decode()
        return answer if role(received) == "target-1" and about else usual

    with Loopback(answering(world(accuracy=(1.0,)), twist)) as server:
        study = write_drill(tmp_path, server.url, max_depth=1, missing_limit=0.5)
        found = held(study)
        checked = sum(role(received) == "evaluator" for received in server.received)
    assert checked == 5
    [missing] = [probe for probe in found.cells[0].probes if probe.state == "missing"]
    assert (missing.verdict, missing.answer_state) == (f"target {words_of(kind)}", kind)
    assert found.answers.whole.missing_kinds == {kind: 1}
    accuracy = {bound.measure: bound for bound in bounds(study, found).bounds}["accuracy"]
    assert accuracy.low.value == pytest.approx(5 / 6)
    assert (accuracy.found.value, accuracy.high.value) == (1.0, 1.0)


def test_each_target_has_the_limit_of_its_own(tmp_path: Path) -> None:
    """A target that loses a sixth of its answers makes the study invalid, with the kinds."""
    answer, _ = LOST["null at the limit"]

    def twist(received: Received, usual: Answer) -> Answer:
        about = "code of Medicine2?" in received.body.decode()
        return answer if role(received) == "target-2" and about else usual

    names = ("target-1", "target-2")
    with Loopback(answering(world(accuracy=(1.0,)), twist)) as server:
        study = write_drill(tmp_path, server.url, targets=names, max_depth=1, missing_limit=0.1)
        assert Recording(study).run().problems == []
    verdict = replay(study)
    reason = "1 of 6 answers of target-2 are missing (16.7%: 1 cut off while thinking)"
    assert any(reason in problem for problem in verdict.problems)
    assert verdict.missing_answers == {"cut_off_thinking": 1}


@pytest.mark.parametrize("who", ["target-1", "extractor", "evaluator"])
@pytest.mark.parametrize("name", ["no choices", "a gateway's page", "no body", "a stream"])
def test_what_cannot_be_read_is_asked_again(who: str, name: str, tmp_path: Path) -> None:
    """The run is as if it had not been."""
    met: list[int] = []

    def twist(received: Received, usual: Answer) -> Answer:
        if role(received) != who or met:
            return usual
        met.append(received.number)
        return UNREADABLE[name]

    here = world(accuracy=(1.0,))
    with Loopback(answering(here, twist)) as server:
        found = held(write_drill(tmp_path / "twisted", server.url, max_depth=1))
    with Loopback(answering(here)) as server:
        usual = held(write_drill(tmp_path / "usual", server.url, max_depth=1))
    assert met
    assert list(map(told, found.cells[0].probes)) == list(map(told, usual.cells[0].probes))


@pytest.mark.parametrize("name", ["null at the limit", "null", "filtered", "rejected"])
def test_a_missing_reply_of_an_evaluator_is_named_as_any_other(name: str, tmp_path: Path) -> None:
    """Its verdict is the kind, and missing; the target's answer is not."""
    answer, kind = LOST[name]

    def twist(received: Received, usual: Answer) -> Answer:
        about = "code of Medicine2?" in received.body.decode()
        return answer if role(received) == "evaluator" and about else usual

    with Loopback(answering(world(accuracy=(1.0,)), twist)) as server:
        found = held(write_drill(tmp_path, server.url, max_depth=1, missing_limit=0.5))
    [missing] = [probe for probe in found.cells[0].probes if probe.state == "missing"]
    assert (missing.verdict, missing.answer_state) == (kind, "ok")
    assert found.answers.whole.missing == 0


@pytest.mark.parametrize("name", ["null at the limit", "null", "filtered"])
def test_a_missing_reply_of_an_extractor_makes_no_question(name: str, tmp_path: Path) -> None:
    """Its direction leads nowhere, another one does, and where none does the reason is the kind."""
    answer, kind = LOST[name]

    def twist(received: Received, usual: Answer) -> Answer:
        asks = role(received) == "extractor" and b'"about"' in received.body
        return answer if asks else usual

    with Loopback(answering(world(accuracy=(1.0,)), twist)) as server:
        study = write_drill(tmp_path, server.url, max_depth=1)
        assert Recording(study, keep_going=True).run().problems == []
    probes = replayed_results(study).cells[0].probes
    assert {(probe.state, probe.reason) for probe in probes} == {("unverifiable", kind)}


@pytest.mark.parametrize("name", THINKING)
def test_thinking_goes_nowhere_in_any_role(name: str, tmp_path: Path) -> None:
    """Target, extractor and evaluator think aloud: the run is what it is without."""
    here = world(accuracy=(0.6, 0.8))
    requests: list[str] = []

    def twist(received: Received, usual: Answer) -> Answer:
        if role(received) == "source":
            return usual
        requests.append(received.body.decode())
        words = json.loads(usual.body)["choices"][0]["message"]["content"]
        return chat(THINKING[name].format(SECRET, words))

    with Loopback(answering(here, twist)) as server:
        study = write_drill(tmp_path / "aloud", server.url, max_depth=2)
        if name == "own":
            path = study.folder / "study.toml"
            path.write_text(path.read_text().replace("\nmodel = ", f"\n{OWN}model = "))
        found = held(Study(study.folder))
    with Loopback(answering(here)) as server:
        usual = held(write_drill(tmp_path / "usual", server.url, max_depth=2))
    assert "SECRET" not in "".join(requests)
    assert list(map(told, found.cells[0].probes)) == list(map(told, usual.cells[0].probes))


@pytest.mark.parametrize("depth", [1, 2])
def test_a_run_that_loses_all_verdicts_of_a_depth_ends_by_verdicts(
    depth: int, tmp_path: Path
) -> None:
    """Its questions were put: neither did its sources run out, nor was nothing asked."""
    checked: list[int] = []

    def twist(received: Received, usual: Answer) -> Answer:
        if role(received) != "evaluator":
            return usual
        checked.append(received.number)
        return usual if len(checked) <= 6 * (depth - 1) else LOST["filtered"][0]

    with Loopback(answering(world(accuracy=(1.0,), absent=0.3), twist)) as server:
        found = held(write_drill(tmp_path, server.url, missing_limit=1.0))
    [run] = found.runs
    lost = run.depths[-1].missing
    reason = f"{lost} questions were put at depth {depth}, none has a verdict"
    assert lost > 1
    assert (run.stop, len(run.depths)) == ("verdicts", depth)
    assert run.final_survival.reason == run.depths[-1].accuracy.reason == reason
    if depth > 1:
        assert found.valid, found.invalid_reason
        assert (run.evd.value.value, run.evd.censored, run.evd.at_most.value) == (1.0, True, 3.0)
        return
    assert run.evd.value.reason == found.analysis.targets[0].evd.reason == reason
    assert found.invalid_reason == (
        f"1 of 1 runs have no verdict at depth 1, the first is {run.cell.name}"
    )
    assert "asked nothing" not in str(canonical(found))
    assert "nothing was asked" not in str(canonical(found))


def test_an_invalid_drill_is_shown_without_ranks(tmp_path: Path) -> None:
    """analyze says first why it is invalid; neither its tables nor its JSON rank a target."""

    def twist(received: Received, usual: Answer) -> Answer:
        lost = role(received) == "evaluator" and b"Medicine2?" in received.body
        return LOST["filtered"][0] if lost else usual

    with Loopback(answering(world(accuracy=(1.0,)), twist)) as server:
        names = ("target-1", "target-2")
        study = write_drill(tmp_path, server.url, targets=names, max_depth=1, missing_limit=0.1)
        assert Recording(study).run().problems == []
    found = replayed_results(study)
    assert not found.valid
    assert {target.rank for target in found.analysis.targets} == {1}
    runner = CliRunner(env={"COLUMNS": "250"})
    shown = runner.invoke(main, ["analyze", str(study.folder)]).output
    first = str(found.invalid_reason).splitlines()[0]
    assert shown.startswith(f"drill is invalid, and nothing in it has a rank: {first}\n")
    assert "#1" not in shown
    document = json.loads(runner.invoke(main, ["analyze", "--json", str(study.folder)]).output)
    assert document["invalid_reason"] == found.invalid_reason
    assert {target["rank"] for target in document["targets"]} == {None}
