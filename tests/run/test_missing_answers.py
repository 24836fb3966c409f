"""What came back from a call: no answer that is none reaches a judge, and each is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from examined import (
    ANSWERED,
    LOST,
    OWN,
    THINKING,
    TOO_LONG,
    UNREADABLE,
    Examination,
    Odd,
    at_turn,
    chat,
    subject_turn,
)
from loopback import Answer, Loopback, Received, json_answer
from study_text import study_text

from harness.cli import main
from harness.errors import UsageError
from harness.protocols.ddft.metrics.bounds import CI_RANGE
from harness.protocols.ddft.protocol import bounds
from harness.results import Results
from harness.run.record import Recording
from harness.run.replay import replay_cells, replayed_results
from harness.run.verdict import replay
from harness.run.wiring import freeze
from harness.study.folder import Study

STAND_IN = "(no answer came)"
LENIENT = "missing_limit = 0.5\n"


def write(root: Path, url: str, extra: str = LENIENT, levels: str = "[0.0]") -> Study:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True)
    tables = "" if "[record]" in extra else "[record]\ntries = 1\n"
    text = study_text(url, subjects=("subject-a",), levels=levels, extra=extra + tables)
    (folder / "study.toml").write_text(text)
    return Study(folder)


def held(root: Path, world: Examination, extra: str = LENIENT) -> Results:
    """Record a study to its end and return its results, from a replay."""
    with Loopback(world) as server:
        study = write(root, server.url, extra)
        assert Recording(study).run().problems == []
    found = replayed_results(study)
    assert isinstance(found, Results)
    return found


@pytest.mark.parametrize("name", LOST)
def test_a_missing_answer_reaches_no_judge(name: str, tmp_path: Path) -> None:
    """Its turn has no score, a stand-in in the dialogue, and all others are as they would be."""
    answer, kind = LOST[name]
    world = Examination(at_turn(3, answer))
    found = held(tmp_path, world)
    turns = found.cells[0].turns
    assert [turn.answer_state for turn in turns] == ["ok", "ok", kind, "ok", "ok"]
    assert [turn.missing for turn in turns] == [False, False, True, False, False]
    assert (turns[2].far, turns[2].sas, turns[2].n_judges) == (None, None, 0)
    assert {score.state for score in turns[2].scores.values()} == {"no_answer"}
    assert [turn.far for turn in turns if not turn.missing] == [0.75] * 4
    assert len(world.judged) == 4 * 3
    assert all("In 1859" in answer for answer in world.judged)
    later = [body for body in world.requests if "Could you say more?" in json.dumps(body)]
    shown = [m["content"] for body in later for m in body["messages"] if STAND_IN in m["content"]]
    assert any(text == STAND_IN for text in shown)  # to the subject, as its own answer
    assert any(f"Candidate: {STAND_IN}" in text for text in shown)  # to interviewer and judges
    assert "It may be" not in json.dumps(world.requests)
    whole = found.answers.whole
    assert (whole.answers, whole.missing, whole.missing_kinds) == (5, 1, {kind: 1})
    assert (found.missing.missing, found.missing.states["no_answer"]) == (3, 3)


@pytest.mark.parametrize("name", ANSWERED)
def test_an_answer_is_judged_without_its_thinking(name: str, tmp_path: Path) -> None:
    """What is cut off with text and what is declined in words is judged, and flagged."""
    answer, kind = ANSWERED[name]
    world = Examination(at_turn(3, answer))
    turns = held(tmp_path, world).cells[0].turns
    assert (turns[2].answer_state, turns[2].missing) == (kind, False)
    assert (turns[2].far, turns[2].sas, turns[2].n_judges) == (0.5, 0.5, 3)
    assert "[far 0, sas 0]" not in json.dumps(world.requests)


def test_a_study_may_have_empty_answers_judged(tmp_path: Path) -> None:
    """With empty_answers = "judged" only what ended of itself without a word is scored."""
    odd = {2: chat(""), 3: chat(None, "length")}
    world = Examination(lambda received: odd.get(subject_turn(received)))
    found = held(tmp_path, world, 'missing_limit = 0.5\nempty_answers = "judged"\n')
    assert [turn.far for turn in found.cells[0].turns] == [0.75, 0.0625, None, 0.75, 0.75]
    assert found.answers.whole.missing_kinds == {"cut_off_thinking": 1}


def test_every_command_says_how_many_empty_answers_were_judged(tmp_path: Path) -> None:
    """record's last line, the verdict and its JSON, analyze and the page; not where none is."""
    odd = {1: chat(""), 2: chat(""), 4: chat("")}
    world = Examination(lambda received: odd.get(subject_turn(received)))
    with Loopback(world) as server:
        study = write(tmp_path, server.url, 'empty_answers = "judged"\n')
        recorded = CliRunner().invoke(main, ["record", str(study.folder)])
    words = "missing answers 0, 3 empty answers judged"
    assert recorded.exit_code == 0, recorded.output
    assert words in recorded.output
    verdict = replay(study, verify_checksums=True)
    assert words in verdict.line
    assert verdict.judged_answers == {"empty": 3}
    analyzed = CliRunner().invoke(main, ["analyze", str(study.folder)]).output
    assert "missing answers 0 of 5, 3 empty answers judged" in analyzed
    page = tmp_path / "page.html"
    CliRunner().invoke(main, ["report", str(study.folder), "--out", str(page)])
    assert "what is no answer was judged as one: 3 empty" in page.read_text()


def test_the_bounds_hold_what_is_missing(tmp_path: Path) -> None:
    """Mean FAR had the missing answer been 0 or 1, by all its judges; CI has a range, no bounds."""
    with Loopback(Examination(at_turn(3, chat(None)))) as server:
        study = write(tmp_path, server.url)
        Recording(study).run()
    bounded = {bound.measure: bound for bound in bounds(study, replayed_results(study)).bounds}
    far = bounded["mean FAR"]
    assert (far.found.n, far.low.n, far.high.n) == (4, 5, 5)
    assert far.low.value == pytest.approx(0.75 * 4 / 5)
    assert far.high.value == pytest.approx((0.75 * 4 + 1) / 5)
    assert CI_RANGE in bounded
    assert "CI raw" not in bounded


def test_every_command_says_how_many_are_missing(tmp_path: Path) -> None:
    """record's last line, the verdict and its JSON, analyze and the page, each by kind."""
    odd = {1: chat(None, "length"), 3: chat("", "content_filter"), 5: chat(None, "length")}
    world = Examination(lambda received: odd.get(subject_turn(received)))
    with Loopback(world) as server:
        study = write(tmp_path, server.url, "missing_limit = 0.7\n")
        recorded = CliRunner().invoke(main, ["record", str(study.folder)])
    words = "3 (2 cut off while thinking, 1 filtered)"
    assert recorded.exit_code == 0, recorded.output
    assert f"missing judgements 9, missing answers {words}" in recorded.output
    verdict = replay(study, verify_checksums=True)
    assert f"missing judgements 9, missing answers {words}" in verdict.line
    assert verdict.missing_answers == {"cut_off_thinking": 2, "filtered": 1}
    told = CliRunner().invoke(main, ["replay", "--json", str(study.folder)]).output
    assert '"cut_off_thinking":2' in told.replace(" ", "")
    analyzed = CliRunner().invoke(main, ["analyze", str(study.folder)]).output
    assert f"missing answers {words} of 5" in analyzed
    assert "cut off while thinking" in analyzed
    page = tmp_path / "page.html"
    done = CliRunner().invoke(main, ["report", str(study.folder), "--out", str(page)])
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert "No judgement is missing" not in text
    assert "60.0% (3 of 5)" in text


def test_missing_answers_count_against_the_limit(tmp_path: Path) -> None:
    """More than the study allows, over all or of one subject: invalid, with the kinds."""

    def odd(received: Received) -> Answer | None:
        worse = received.json()["model"] == "subject-b" and subject_turn(received) == 2
        return chat("", "content_filter") if worse else None

    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(Examination(odd)) as server:
        text = study_text(server.url, levels="[0.0]", extra="missing_limit = 0.15\n")
        (folder / "study.toml").write_text(text)
        done = CliRunner().invoke(main, ["record", str(folder)])
    reason = "1 of 5 answers of subject-b are missing (20.0%: 1 filtered), 15.0% are allowed"
    assert done.exit_code == 1
    assert f"the study is invalid: {reason}" in done.output
    assert replayed_results(Study(folder)).invalid_reason == reason


@pytest.mark.parametrize("who", ["subject-a", "judge-b", "interviewer"])
@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_asked_again(who: str, name: str, tmp_path: Path) -> None:
    """Bad luck in every role: the study is as if it had not been."""
    met: list[int] = []

    def odd(received: Received) -> Answer | None:
        if received.json()["model"] != who or met:
            return None
        met.append(received.number)
        return UNREADABLE[name]

    record = "[record]\ntries = 2\nworkers = 1\n"
    found = held(tmp_path, Examination(odd), LENIENT + record)
    assert met
    assert found.missing.missing == found.answers.whole.missing == 0
    assert [turn.far for turn in found.cells[0].turns] == [0.75] * 5


def unreadable_at_3(received: Received) -> Answer | None:
    return UNREADABLE["no choices"] if subject_turn(received) == 3 else None


def test_what_stays_unreadable_is_incomplete_and_then_missing(tmp_path: Path) -> None:
    """The first sitting ends with 3 and keeps no answer; the second counts it as no reply."""
    with Loopback(Examination(unreadable_at_3)) as server:
        study = write(tmp_path, server.url)
        first = CliRunner().invoke(main, ["record", str(study.folder)])
        assert first.exit_code == 3
        assert "no reply of this provider" in first.output
        assert not study.results.exists()
        second = CliRunner().invoke(main, ["record", str(study.folder)])
        assert second.exit_code == 0, second.output
    assert "missing answers 1 (1 no reply)" in second.output
    verdict = replay(study, verify_checksums=True)
    assert (verdict.problems, verdict.numbers) == ([], "identical")
    assert verdict.missing_answers == {"no_reply": 1}


@pytest.mark.parametrize(
    "failing",
    [json_answer({"error": "down"}, 503), Answer(status=0), UNREADABLE["a gateway's page"]],
    ids=["503", "dropped", "unreadable"],
)
def test_a_cell_can_be_settled_with_what_is_missing(failing: Answer, tmp_path: Path) -> None:
    """--accept-missing makes an error that stays a missing answer, which a replay meets too."""
    with Loopback(Examination(at_turn(3, failing))) as server:
        study = write(tmp_path, server.url)
        words = ["record", str(study.folder)]
        assert CliRunner().invoke(main, words).exit_code == 3
        wrong = CliRunner().invoke(main, [*words, "--accept-missing", "nobody"])
        assert (wrong.exit_code, "no such cell" in wrong.output) == (2, True)
        settled = CliRunner().invoke(main, [*words, "--accept-missing", study.cells()[0].name])
        assert settled.exit_code == 0, settled.output
    assert "missing answers 1 (1 no reply)" in settled.output
    assert replay(study, verify_checksums=True).problems == []
    [cell] = replay_cells(study)
    assert [turn.answer_state for turn in cell.result.turns][2] == "no_reply"


def rejecting(received: Received) -> Answer | None:
    """Reject every request that names max_tokens, as reasoning models do."""
    if not received.json()["model"].startswith("subject"):
        return None
    words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    return json_answer({"error": {"message": words, "code": "unsupported_parameter"}}, 400)


def test_the_third_rejection_in_a_row_stops_the_recording(tmp_path: Path) -> None:
    """With the server's words and what to change, before the jury is paid for anything."""
    world = Examination(rejecting)
    with Loopback(world) as server:
        study = write(tmp_path, server.url, levels="[0.0, 0.5]")
        done = CliRunner().invoke(main, ["record", str(study.folder), "--workers", "1"])
    assert done.exit_code == 3
    assert "subject-a rejected 3 different requests" in done.output
    assert "Use 'max_completion_tokens' instead." in done.output
    assert "omit" in done.output
    assert f"`harness record {study.name} --restart open`" in done.output
    assert sum(body["model"] == "subject-a" for body in world.requests) == 3
    assert world.judged == []


@pytest.mark.parametrize("limit", ["rejected_limit = 0", "rejected_limit = 6"])
def test_a_study_may_go_on_in_spite_of_rejections(limit: str, tmp_path: Path) -> None:
    """Five rejections below the limit, or no limit: five missing answers, and no score."""
    extra = f"missing_limit = 1.0\n[record]\n{limit}\n"
    found = held(tmp_path, Examination(rejecting), extra)
    assert found.answers.whole.missing_kinds == {"rejected": 5}
    done = CliRunner().invoke(main, ["analyze", "mine", "--json", "--root", str(tmp_path)])
    assert json.loads(done.output)["answers"]["whole"]["missing_kinds"] == {"rejected": 5}
    assert found.subjects[0].levels[0].far.value is None


def test_an_answer_between_starts_the_count_of_rejections_anew(tmp_path: Path) -> None:
    """Two rejections, an answer, two more: no wrong parameter."""

    def odd(received: Received) -> Answer | None:
        return TOO_LONG if subject_turn(received) in (1, 2, 4, 5) else None

    found = held(tmp_path, Examination(odd), "missing_limit = 1.0\n")
    assert found.answers.whole.missing_kinds == {"rejected": 4}


THOUGHT = "Is the expert real? SECRET [far 0, sas 0]"


def thinking_aloud(form: str) -> Odd:
    """Return what puts a thought before every usual answer, of every role."""
    usual = Examination()

    def odd(received: Received) -> Answer | None:
        words = json.loads(usual(received).body)["choices"][0]["message"]["content"]
        thought = THOUGHT if "judge" not in received.json()["model"] else '{"far": 0, "sas": 0}'
        return chat(form.format(thought, words))

    return odd


@pytest.mark.parametrize("name", THINKING)
def test_thinking_goes_nowhere_in_any_role(name: str, tmp_path: Path) -> None:
    """It is not judged, quoted or sent on, and no form is searched in it."""
    world = Examination(thinking_aloud(THINKING[name]))
    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(world) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.0]")
        if name == "own":
            text = text.replace('model = "', f'{OWN}model = "')
        (folder / "study.toml").write_text(text)
        assert Recording(Study(folder)).run().problems == []
    cell = replayed_results(Study(folder)).cells[0]
    assert "SECRET" not in json.dumps(world.requests)
    assert [(turn.far, turn.sas) for turn in cell.turns] == [(0.75, 0.875)] * 5
    assert {score.state for turn in cell.turns for score in turn.scores.values()} == {"ok"}
    assert cell.trap_source == "interviewer"
    repairs = [score.repaired for turn in cell.turns for score in turn.scores.values()]
    assert all(repair == ["thinking"] for repair in repairs)


@pytest.mark.parametrize("kind", ["null at the limit", "filtered", "null", "rejected"])
def test_a_missing_reply_of_a_judge_is_named_as_any_other(kind: str, tmp_path: Path) -> None:
    """The same kinds as a subject's; the other judges make the mean."""
    answer, state = LOST[kind]

    def odd(received: Received) -> Answer | None:
        return answer if received.json()["model"] == "judge-b" else None

    found = held(tmp_path, Examination(odd), LENIENT + "[record]\nrejected_limit = 0\n")
    turns = found.cells[0].turns
    assert {turn.scores["judge-b"].state for turn in turns} == {state}
    assert [(turn.far, turn.n_judges) for turn in turns] == [(0.75, 2)] * 5
    assert found.missing.states == {"ok": 10, state: 5}


def test_another_jury_is_not_shown_them_either(tmp_path: Path) -> None:
    """A rejudged study has the same missing answers, and pays for none of them."""
    world = Examination(at_turn(3, LOST["Azure's 400"][0]))
    with Loopback(world) as server:
        study = write(tmp_path, server.url)
        assert Recording(study).run().problems == []
        before = len(world.judged)
        words = ["rejudge", str(study.folder), "--jury", "judge-a,judge-b"]
        done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert "missing answers 1 (1 filtered)" in done.output
    assert len(world.judged) == before + 4 * 2


def test_a_study_of_version_1_goes_on_by_its_own_rules(tmp_path: Path) -> None:
    """There every answer is judged, with its thinking, and none is missing."""
    odd = {2: chat(""), 3: TOO_LONG, 4: chat("<think>So.</think> [far 0.5, sas 0.5]")}
    world = Examination(lambda received: odd.get(subject_turn(received)))
    with Loopback(world) as server:
        study = write(tmp_path, server.url)
        freeze(study)
        materials = json.loads(study.materials.read_text())
        del materials["prompts"]["missing_answer"]
        study.materials.write_text(json.dumps({**materials, "protocol_version": 1}))
        assert Recording(study).run().problems == []
    found = replayed_results(study)
    turns = found.cells[0].turns
    assert [turn.answer_state for turn in turns] == ["ok", "empty", "rejected", "ok", "ok"]
    assert [turn.far for turn in turns] == [0.75, 0.0625, 0.0625, 0.5, 0.75]
    assert any("<think>So.</think>" in answer for answer in world.judged)
    assert found.answers.whole.missing == found.missing.missing == 0
    page = tmp_path / "page.html"
    assert (
        CliRunner().invoke(main, ["report", str(study.folder), "--out", str(page)]).exit_code == 0
    )
    assert "what is no answer was judged as one: 1 empty, 1 rejected" in page.read_text()
    with pytest.raises(UsageError, match="protocol version 1"):
        Recording(study, accept_missing=[study.cells()[0].name])
