"""The drill, held against a simulated world over real HTTP: who is asked what, and how often."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from drilling import answering, role, said, world, write_drill
from loopback import Answer, Loopback, Received, json_answer
from simulated_drill import World

from harness.asking.sources.inquiry import Window
from harness.errors import Incomplete
from harness.protocols.depthcharge import protocol as drills
from harness.recording import cassette as cassettes
from harness.results import DrillTranscript, ProbeWords, RunResult
from harness.run.record import Recording
from harness.run.replay import sound_replays
from harness.study.folder import Study


def held(study: Study) -> tuple[RunResult, DrillTranscript]:
    """Record a study of one run whose results nobody needs yet, and replay it."""
    outcome = Recording(study).run()
    assert outcome.problems == []
    replayed = sound_replays(study)[0]
    return replayed.result, replayed.transcript


def asked(run: RunResult) -> dict[int, int]:
    """Count the questions with a verdict, by depth."""
    return dict(Counter(probe.depth for probe in run.probes if probe.state == "asked"))


def words(transcript: DrillTranscript, depth: int) -> dict[int, ProbeWords]:
    return {probe.question: probe for probe in transcript.probes if probe.depth == depth}


def test_exactly_n_questions_are_asked_at_every_depth(tmp_path: Path) -> None:
    """Paths end on the way, and every depth still asks N."""
    with Loopback(answering(world(accuracy=(0.6, 0.7, 0.8, 0.9)))) as server:
        run, _ = held(write_drill(tmp_path, server.url, questions=30, max_depth=4, theta=0.1))
    assert asked(run) == {1: 30, 2: 30, 3: 30, 4: 30}
    assert run.stop == "max depth"
    paths = {probe.path for probe in run.probes if probe.depth == 4}
    assert len(paths) < 30, "every path lived: the top-up was not needed"


def test_one_question_each_before_anyone_gets_another(tmp_path: Path) -> None:
    """n paths get N // n questions each, and the first N mod n of them one more."""
    with Loopback(answering(world(accuracy=(0.6,)))) as server:
        run, _ = held(write_drill(tmp_path, server.url, questions=10, max_depth=2, theta=0.01))
    right = sum(probe.correct is True for probe in run.probes if probe.depth == 1)
    assert 0 < right < 10
    loads = Counter(probe.path for probe in run.probes if probe.depth == 2)
    each, more = divmod(10, right)
    expected = {path: each + (path <= more) for path in range(1, right + 1)}
    assert dict(loads) == expected


def test_what_is_right_is_followed_and_what_is_wrong_is_not(tmp_path: Path) -> None:
    """Each path of depth 2 hangs on an answer of depth 1 that was right, into its own words."""
    with Loopback(answering(world(accuracy=(0.7,)))) as server:
        run, transcript = held(write_drill(tmp_path, server.url, questions=8, max_depth=2))
    above = words(transcript, 1)
    right = {probe.question for probe in run.probes if probe.depth == 1 and probe.correct}
    assert 0 < len(right) < 8
    for probe in words(transcript, 2).values():
        number = int(probe.parent.split("question-")[1].split("/")[0])
        assert number in right
        assert probe.direction in above[number].answer


def test_no_direction_comes_twice_on_a_path(tmp_path: Path) -> None:
    """All directions that one depth deals to a path are different, and none was there before."""
    with Loopback(answering(world(accuracy=(0.5, 1.0, 1.0)))) as server:
        _, transcript = held(write_drill(tmp_path, server.url, questions=12, theta=0.01))
    by_call = {
        f"depth-{probe.depth:02d}/question-{probe.question:02d}/target": probe
        for probe in transcript.probes
    }
    for probe in transcript.probes:
        chain, at = [probe.direction], probe
        while at.parent:
            at = by_call[at.parent]
            chain.append(at.direction)
        assert len(set(chain)) == len(chain)
    siblings = Counter((probe.parent, probe.direction) for probe in transcript.probes)
    assert max(siblings.values()) == 1


def test_another_answer_leads_to_other_questions(tmp_path: Path) -> None:
    """One answer of the target mentions other topics: its children change, all others stay."""
    here = world(accuracy=(1.0,))

    def changed(received: Received, answer: Answer) -> Answer:
        if role(received) == "target-1" and "code of Medicine3?" in received.body.decode():
            other = f"The code is {here.code('Medicine3')}. It hangs together with Other7, Other8."
            return said(other)
        return answer

    with Loopback(answering(here)) as server, Loopback(answering(here, changed)) as twisted:
        _, before = held(write_drill(tmp_path / "a", server.url, max_depth=2))
        _, after = held(write_drill(tmp_path / "b", twisted.url, max_depth=2))
    pairs = [(words(before, 2)[n], words(after, 2)[n]) for n in range(1, 7)]
    parent = next(p for p in words(before, 1).values() if p.direction == "Medicine3")
    call = f"depth-01/question-{parent.question:02d}/target"
    differing = [new for old, new in pairs if old.asked != new.asked]
    assert [new.parent for new in differing] == [call]
    assert differing[0].direction == "Other7"


@pytest.mark.parametrize(
    ("here", "why"),
    [
        (world(absent=1.0), "no page"),
        (world(ambiguous=1.0), "a list of meanings"),
        (world(distracting=1.0), "another thing"),
    ],
)
def test_what_has_no_fact_is_no_wrong_answer(tmp_path: Path, here: World, why: str) -> None:
    """No fact at all: nothing is asked, nothing is wrong, the depth says so, the run ends."""
    with Loopback(answering(here)) as server:
        run, transcript = held(write_drill(tmp_path, server.url, questions=4, redeals=1))
        assert not any(role(received) == "target-1" for received in server.received), why
    assert {probe.state for probe in run.probes} == {"unverifiable"}
    assert [probe.deal for probe in run.probes] == [1, 2] * 4
    assert all(probe.correct is None for probe in run.probes)
    assert (run.depths, run.stop, transcript.probes) == (1, "sources", [])


def test_a_few_facts_that_are_missing_do_not_change_n(tmp_path: Path) -> None:
    """A tenth of the topics has no page: the next direction is taken, and N questions are asked."""
    here = world(accuracy=(1.0,), absent=0.1, ambiguous=0.05, distracting=0.05)
    with Loopback(answering(here)) as server:
        run, _ = held(write_drill(tmp_path, server.url, questions=20))
    assert asked(run) == {1: 20, 2: 20, 3: 20}
    assert any(probe.walked > 1 for probe in run.probes)
    assert all(probe.correct for probe in run.probes if probe.state == "asked")


def test_an_evaluator_in_prose_is_missing_and_never_wrong(tmp_path: Path) -> None:
    """Prose for one question, also when asked again: its verdict is missing, the run goes on."""
    prose = "It seems fine to me, all in all."

    def chatty(received: Received, answer: Answer) -> Answer:
        about = "code of Medicine2?" in received.body.decode()
        return said(prose) if role(received) == "evaluator" and about else answer

    with Loopback(answering(world(accuracy=(1.0,)), chatty)) as server:
        study = write_drill(tmp_path, server.url, max_depth=1, missing_limit=0.5)
        run, _ = held(study)
    missing = [probe for probe in run.probes if probe.state == "missing"]
    assert [(probe.verdict, probe.correct) for probe in missing] == [("no_json", None)]
    assert asked(run) == {1: 5}
    assert all(probe.deal == 1 for probe in run.probes)


REJECTION = json_answer({"error": {"message": "unsupported parameter"}}, 400)


def ended(content: str | None, finish: str) -> Answer:
    choice = {"index": 0, "message": {"content": content}, "finish_reason": finish}
    return json_answer({"model": "m", "choices": [choice]})


@pytest.mark.parametrize(
    ("instead", "verdict"),
    [
        (REJECTION, "target rejected"),
        (ended(None, "length"), "target cut off while thinking"),
        (ended("<think>It may be that the code", "length"), "target cut off while thinking"),
        (ended("<think>It may be", "stop"), "target cut off while thinking"),
        (ended("", "content_filter"), "target filtered"),
        (ended("The code is", "content_filter"), "target filtered"),
        (ended("", "stop"), "target empty"),
    ],
)
def test_a_target_without_an_answer_is_missing(
    tmp_path: Path, instead: Answer, verdict: str
) -> None:
    """What is rejected, filtered, empty or cut off in thought is nobody's wrong answer."""

    def failing(received: Received, answer: Answer) -> Answer:
        about = "code of Medicine2?" in received.body.decode()
        return instead if role(received) == "target-1" and about else answer

    with Loopback(answering(world(accuracy=(1.0,)), failing)) as server:
        run, transcript = held(write_drill(tmp_path, server.url, max_depth=1, missing_limit=0.5))
        judged = sum(role(received) == "evaluator" for received in server.received)
    [missing] = [probe for probe in run.probes if probe.state == "missing"]
    assert (missing.verdict, missing.correct) == (verdict, None)
    assert judged == 5
    assert len(transcript.probes) == 6


def saying(change: Callable[[str], str]) -> Callable[[Received, Answer], Answer]:
    """Give what changes the words of the target's answers, and lets all others pass."""

    def changed(received: Received, answer: Answer) -> Answer:
        if role(received) != "target-1":
            return answer
        text = answer.body.decode().split('"content": "')[1].split('"')[0]
        return said(change(text))

    return changed


def test_thinking_is_neither_judged_nor_followed(tmp_path: Path) -> None:
    """A server that leaves the thinking in the content: only what comes after it is the answer."""
    here = world(accuracy=(1.0,))

    aloud = saying(lambda text: f"<think>Wrong1, Wrong2, Wrong3, hm.</think>{text}")
    with Loopback(answering(here, aloud)) as server:
        run, transcript = held(write_drill(tmp_path, server.url, max_depth=2))
    assert asked(run) == {1: 6, 2: 6}
    assert not any("Wrong" in probe.answer for probe in transcript.probes)
    assert not any("Wrong" in probe.direction for probe in transcript.probes)


def test_one_topic_is_asked_about_once_at_a_depth(tmp_path: Path) -> None:
    """Every answer mentions the same things first: the questions are different all the same."""
    here = world(accuracy=(1.0,))

    common = saying(lambda text: f"{text} So do Common1, Common2, Common3.")
    with Loopback(answering(here, common)) as server:
        run, transcript = held(write_drill(tmp_path, server.url, max_depth=2))
    directions = [probe.direction for probe in transcript.probes if probe.depth == 2]
    assert len(set(directions)) == len(directions) == 6
    facts = [probe.fact for probe in run.probes if probe.depth == 2]
    assert len(set(facts)) == 6


def test_a_fact_is_asked_for_once_on_a_path(tmp_path: Path) -> None:
    """All pages say the same thing: at depth 2 no path is asked it again, under another name."""

    def same(received: Received, answer: Answer) -> Answer:
        if role(received) != "source" or answer.status != 200:
            return answer
        page = {
            "type": "standard",
            "title": "All",
            "extract": f"{received.path.rpartition('/')[2]} has the code 12345678.",
            "content_urls": {"desktop": {"page": "http://simulated.invalid/all"}},
        }
        return json_answer(page)

    def told(received: Received, answer: Answer) -> Answer:
        knows = role(received) == "target-1"
        return (
            said("The code is 12345678. See Alpha1, Beta2, Gamma3.")
            if knows
            else same(received, answer)
        )

    with Loopback(answering(world(), told)) as server:
        run, _ = held(write_drill(tmp_path, server.url, questions=2, max_depth=2, redeals=0))
    second = [probe for probe in run.probes if probe.depth == 2]
    assert {(probe.state, probe.reason) for probe in second} == {("unverifiable", "asked before")}


def test_only_words_of_the_answer_are_concepts(tmp_path: Path) -> None:
    """An extractor that makes concepts up: they are left out, subtopics are named as such."""

    def inventive(received: Received, answer: Answer) -> Answer:
        concepts = role(received) == "extractor" and "Which things" in received.body.decode()
        return said('{"items": ["Invented1", "Invented2", "Invented3"]}') if concepts else answer

    with Loopback(answering(world(accuracy=(1.0,)), inventive)) as server:
        run, transcript = held(write_drill(tmp_path, server.url, questions=3, max_depth=2))
    second = [probe for probe in run.probes if probe.depth == 2]
    assert {probe.origin for probe in second} == {"subtopic"}
    assert not any("Invented" in probe.direction for probe in transcript.probes)


def test_the_newest_tier_searches_two_years(tmp_path: Path) -> None:
    """Its look-ups are bounded by the study's date, and what is older is no passage."""

    def older(received: Received, answer: Answer) -> Answer:
        return Answer(200, headers=answer.headers, body=answer.body.replace(b"2026-01", b"2023-01"))

    here = world(accuracy=(1.0,))
    with Loopback(answering(here)) as server:
        study = write_drill(tmp_path / "new", server.url, max_depth=5, passes=1)
        run, _ = held(study)
    assert asked(run)[5] == 6
    assert drills.recent(study) == Window("2024-01-31", "2026-01-31")
    with Loopback(answering(here, older)) as server:
        run, _ = held(write_drill(tmp_path / "old", server.url, max_depth=5, passes=1))
    assert 5 not in asked(run)
    assert run.lookups["engine"].found == 0


def test_a_source_that_fails_is_left_for_the_next(tmp_path: Path) -> None:
    """The first of two sources answers 503 for good: the second is asked, the run is complete."""

    def down(received: Received, answer: Answer) -> Answer:
        return json_answer({}, 503) if received.path.startswith("/first/") else answer

    with Loopback(answering(world(accuracy=(1.0,)), down)) as server:
        study = write_drill(
            tmp_path, server.url, sources=("first", "second"), max_depth=1, record="tries = 1"
        )
        run, _ = held(study)
    assert asked(run) == {1: 6}
    assert run.lookups["first"].failed == run.lookups["first"].lookups >= 6
    assert run.lookups["second"].found == 6


def test_a_source_that_is_down_for_good_leaves_the_run_open(tmp_path: Path) -> None:
    """The only source is down: the run is incomplete, and goes on later with what it has."""
    broken = True

    def down(received: Received, answer: Answer) -> Answer:
        return json_answer({}, 503) if broken and role(received) == "source" else answer

    with Loopback(answering(world(accuracy=(1.0,)), down)) as server:
        study = write_drill(tmp_path, server.url, max_depth=1, record="tries = 1")
        outcome = Recording(study).run()
        assert outcome.tally.finished == 0
        assert "wiki" in outcome.problems[0]
        models = Counter(r.body for r in server.received if r.method == "POST")
        broken = False
        run, _ = held(study)
        after = Counter(r.body for r in server.received if r.method == "POST")
    assert asked(run) == {1: 6}
    assert all(after[body] == times for body, times in models.items()), "asked twice"


@pytest.mark.parametrize(
    ("accuracy", "settings", "stop", "depths"),
    [
        ((1.0, 0.0), {}, "theta", 2),
        ((1.0, 0.0), {"theta": 0.0}, "no path left", 2),
        ((1.0,), {}, "max depth", 3),
    ],
)
def test_the_first_reason_that_holds_ends_a_run(
    tmp_path: Path, accuracy: tuple[float, ...], settings: dict[str, Any], stop: str, depths: int
) -> None:
    """S below theta comes before having no path left, and that before the greatest depth."""
    with Loopback(answering(world(accuracy=accuracy))) as server:
        run, _ = held(write_drill(tmp_path, server.url, questions=4, **settings))
    assert (run.stop, run.depths) == (stop, depths)


@pytest.mark.parametrize(("history", "messages"), [("single", 2), ("path", 4)])
def test_the_target_sees_a_question_or_its_path(
    tmp_path: Path, history: str, messages: int
) -> None:
    """At depth 2 the target sees the question alone, or also what it was asked on the way."""
    with Loopback(answering(world(accuracy=(1.0,)))) as server:
        held(write_drill(tmp_path, server.url, questions=2, max_depth=2, history=history))
        sent = [r.json()["messages"] for r in server.received if role(r) == "target-1"]
    assert {len(said) for said in sent[:2]} == {2}
    assert {len(said) for said in sent[2:]} == {messages}


def test_a_quote_that_is_not_in_the_passage_is_no_fact(tmp_path: Path) -> None:
    """An extractor that invents its quotes is asked once more, then nothing is asked of it."""
    made_up = {"about": True, "question": "Who?", "answer": "It was Nobody.", "quote": "Nobody"}

    def inventive(received: Received, answer: Answer) -> Answer:
        question = role(received) == "extractor" and "Passage, from" in received.body.decode()
        return said(json.dumps(made_up)) if question else answer

    with Loopback(answering(world(), inventive)) as server:
        patient = "stop_after_unusable = 1000"
        study = write_drill(
            tmp_path, server.url, questions=2, max_depth=1, redeals=0, record=patient
        )
        run, _ = held(study)
    assert {(probe.state, probe.reason) for probe in run.probes} == {
        ("unverifiable", "unusable question")
    }
    calls = [kept.response.call or "" for kept in cassettes.load(study.cassette(run.cell))]
    assert any(call.endswith("/question/mended") for call in calls)


def test_an_extractor_in_prose_stops_the_recording(tmp_path: Path) -> None:
    """Useless replies in a row: somebody should look, before everything is unverifiable."""

    def chatty(received: Received, answer: Answer) -> Answer:
        return said("Well, now.") if role(received) == "extractor" else answer

    with (
        Loopback(answering(world(), chatty)) as server,
        pytest.raises(Incomplete, match="extractor gave 5 unusable replies"),
    ):
        Recording(write_drill(tmp_path, server.url, record="stop_after_unusable = 5")).run()
