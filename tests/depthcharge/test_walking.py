"""A walk along results: on to the next where one is about something else, and no fact twice."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from drilling import answering, role, world, write_drill
from loopback import Answer, Loopback, Received, json_answer
from study_folder import edit

from harness.recording import cassette as cassettes
from harness.results import DrillTranscript, RunResult
from harness.run.record import Recording
from harness.run.replay import sound_replays
from harness.study.folder import Study


def held(study: Study) -> tuple[RunResult, DrillTranscript]:
    """Record a study of one run, and replay it."""
    assert Recording(study).run().problems == []
    replayed = sound_replays(study)[0]
    return replayed.result, replayed.transcript


def calls(study: Study) -> list[str]:
    [cell] = study.cells()
    return [kept.response.call or "" for kept in cassettes.load(study.cassette(cell))]


def searching(root: Path, url: str, **settings: object) -> Study:
    """Write a drill whose first tier is a web search."""
    study = write_drill(root, url, max_depth=1, **settings)  # type: ignore[arg-type]
    edit(study, 'COMMON = ["wiki"]', 'COMMON = ["engine"]')
    return Study(study.folder)


def shop_first(received: Received, answer: Answer) -> Answer:
    """Put a shop's page, which names the topic and states no fact of it, before all results."""
    if not received.path.endswith("/search") or role(received) != "source":
        return answer
    results = json.loads(answer.body)["results"]
    topic = results[0]["title"] if results else "nothing"
    words = f"Buy books on {topic} here, free delivery."
    shop = {"url": "http://shop.invalid/", "title": f"{topic} - shop", "content": words}
    return json_answer({"results": [shop, *results]})


def test_a_walk_goes_on_to_the_next_result(tmp_path: Path) -> None:
    """The first result of every search is a shop's page: each question rests on the second."""
    with Loopback(answering(world(), shop_first)) as server:
        study = searching(tmp_path, server.url)
        run, transcript = held(study)
    assert Counter(probe.state for probe in run.probes) == {"asked": 6}
    assert {probe.walked for probe in run.probes if probe.question > 1} == {1}
    assert not any("shop" in probe.passage.url for probe in transcript.probes)
    made = [call for call in calls(study) if "/engine/" in call]
    assert [call for call in made if call.endswith("direction-1/engine/result-2/question")]
    assert not [call for call in made if "question-02/direction-2" in call]


def test_a_source_is_asked_no_more_than_is_needed(tmp_path: Path) -> None:
    """A wiki's first page is about the direction: its search is never made."""
    with Loopback(answering(world())) as server:
        study = write_drill(tmp_path, server.url, max_depth=1)
        held(study)
    made = [call for call in calls(study) if "/wiki/" in call and "/question-01/" not in call]
    assert made
    assert not [call for call in made if call.endswith("/search")]


def test_no_fact_is_asked_for_twice_at_a_depth(tmp_path: Path) -> None:
    """Three pages hold the facts of all topics: each is asked for once, and other slots walk on."""

    def shared(received: Received, answer: Answer) -> Answer:
        if role(received) != "source" or answer.status != 200:
            return answer
        page = json.loads(answer.body)
        if "title" not in page:
            return answer
        fact = sum(page["title"].encode()) % 3
        text = f"{page['title']} is like the others. {page['title']} has the code 1234567{fact}."
        place = {"desktop": {"page": f"http://simulated.invalid/{fact}"}}
        return json_answer({**page, "extract": text, "content_urls": place})

    with Loopback(answering(world(), shared)) as server:
        study = write_drill(tmp_path, server.url, max_depth=1)
        run, transcript = held(study)
    facts = [probe.fact for probe in run.probes if probe.state == "asked"]
    assert len(facts) == len(set(facts)) == 3
    reasons = {probe.reason for probe in run.probes if probe.state == "unverifiable"}
    assert reasons == {"asked at this depth"}
    assert any(probe.walked > 1 for probe in run.probes)
    questions = [probe.asked for probe in transcript.probes]
    assert len(questions) == len(set(questions))


def paged(received: Received, answer: Answer) -> Answer:
    """Give results whose snippets state no fact, and the pages behind them, which do."""
    host = f"http://{received.header('host')}"
    if received.path.startswith("/page/"):
        topic = received.path.removeprefix("/page/")
        text = f"{topic} is one of the things here. {topic} has the code {world().code(topic)}."
        rest = "It has been so for as long as anybody who keeps such books can remember it."
        page = f"<html><body><nav>Home</nav><article><p>{text}</p><p>{rest}</p></article></body>"
        return Answer(headers=[("Content-Type", "text/html")], body=page.encode())
    if not received.path.endswith("/search") or role(received) != "source":
        return Answer(404) if received.path == "/robots.txt" else answer
    topics = [one["title"] for one in json.loads(answer.body)["results"]]
    results = [{"url": f"{host}/page/{t}", "title": t, "content": f"{t} ..."} for t in topics]
    return json_answer({"results": results})


def test_pages_are_read_once_and_replayed_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fetch every question rests on a page; a replay takes no text out of anything."""
    pytest.importorskip("trafilatura")
    with Loopback(answering(world(), paged)) as server:
        study = searching(tmp_path, server.url)
        edit(study, 'kind = "searxng"', 'kind = "searxng"\nfetch = true\nallow_private = true')
        study = Study(study.folder)
        run, transcript = held(study)
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    assert sound_replays(study)[0].transcript == transcript
    assert {probe.state for probe in run.probes} == {"asked"}
    assert {probe.form for probe in run.probes} == {"page"}
    assert all("Home" not in probe.passage.text for probe in transcript.probes)
    assert any(call.endswith("/engine/result-1/page") for call in calls(study))


def test_a_run_may_begin_with_fewer_branches_than_questions(tmp_path: Path) -> None:
    """Three aspects carry six questions, two each."""
    with Loopback(answering(world(accuracy=(1.0,)))) as server:
        run, transcript = held(write_drill(tmp_path, server.url, max_depth=1, branches=3))
    assert (run.branches, len(transcript.branches)) == (3, 3)
    assert {probe.state for probe in run.probes} == {"asked"}
    assert Counter(probe.branch for probe in run.probes) == {1: 2, 2: 2, 3: 2}
