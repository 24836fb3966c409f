"""Which questions are asked: of their own passage, answered by it, and what code makes of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from depthcharge.test_walking import calls, held
from drilling import answering, role, said, world, write_drill
from loopback import Answer, Loopback, Received, json_answer
from study_folder import edit

from harness.corpus.entries import read_corpus
from harness.protocols.depthcharge.drill.cloze import GAP, gaps_in
from harness.protocols.depthcharge.drill.names import names
from harness.protocols.depthcharge.drill.questions import Shown, claim_of, unsound
from harness.protocols.depthcharge.protocol import fresh
from harness.results import Passage
from harness.run.estimate import estimate
from harness.study.folder import Study

PASSAGE = Passage(
    "Coeliac disease",
    "Coeliac disease is set off by gluten. Willem Dicke, a Dutch paediatrician, showed in 1950 "
    "that wheat made it worse. It is found by blood tests.",
    "u",
)
SHOWN = Shown(
    "Becquerel left a uranium salt on a photographic plate, in a drawer.",
    "Choose one fact of the passage: a name, a number. diet Medicine",
)


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ("Which paediatrician showed that wheat makes coeliac disease worse?", ""),
        ("What did Dicke show?", ""),
        ("What was shown in 1950?", ""),
        ("What is the name of the disease?", "what it is about"),
        ("Which thing is found by blood tests?", "what it is about"),
        ("Who left the uranium salt beside Willem Dicke?", '"uranium"'),
        ("Which diet did Dicke name first?", ""),
    ],
)
def test_a_question_is_about_its_passage_and_no_other(question: str, fault: str) -> None:
    """It holds a name or a number of its passage, and no word that only the example has."""
    assert fault in unsound(question, PASSAGE, SHOWN)
    assert bool(unsound(question, PASSAGE, SHOWN)) == bool(fault)


def test_a_script_without_capitals_has_questions_too() -> None:
    """Names cannot be told there, so every question passes."""
    name = "\u767d\u8840\u75c5"
    chinese = Passage(name, f"{name}\u662f\u4e00\u79cd\u75be\u75c5\u3002", "u")
    assert unsound("\u8fd9\u662f\u4ec0\u4e48?", chinese, SHOWN) == ""


def test_the_claim_is_a_whole_sentence() -> None:
    """Version 2 does not cut it at v.; version 1 does, as it was recorded."""
    passage = "It began. Mathews v. Eldridge (1976) weighs three things. It ended."
    whole = "Mathews v. Eldridge (1976) weighs three things."
    assert claim_of("weighs three", passage, 2) == whole
    assert claim_of("weighs three", passage, 1) == "Eldridge (1976) weighs three things."


@pytest.mark.parametrize(
    ("sentence", "listed"),
    [
        ("Evangelista Torricelli built it in Florence.", ["Evangelista Torricelli", "Florence"]),
        ("The battle of Cannae ended it.", ["Cannae"]),
        ("He quoted Lujan v. Defenders of Wildlife twice.", ["Lujan v. Defenders of Wildlife"]),
        ("Measles was named in Newton's house.", ["Newton"]),
        ("DNA holds it.", ["DNA"]),
    ],
)
def test_names_are_told_by_capitals(sentence: str, listed: list[str]) -> None:
    """Small words between them belong to a name; a sentence's own capital makes none."""
    assert [span.text for span in names(sentence)] == listed


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("A law of 1986 passed in Ottawa after Peter Lougheed spoke of it.", "Peter Lougheed"),
        ("The charter came into force there on 17 April 1982 at last.", "1982"),
        ("Screening tests begin at the age of 45 years in most places.", "45 years"),
        ("Every French court of that time refused to hear such a case.", None),
        ("The CL trial was the first of many that were held there.", None),
        ("Coeliac Law was the first of many that were held there.", None),
        ("Far too short, Ottawa.", None),
    ],
)
def test_what_is_left_out_gives_nothing_away(text: str, key: str | None) -> None:
    """The longest name goes first, then years, then counts; no adjective, acronym or title."""
    gaps = gaps_in(Passage("Coeliac Law", text, "u"), "Medicine")
    assert [gap.key for gap in gaps] == ([key] if key else [])


def test_every_gap_of_the_package_can_be_filled_from_its_sentence() -> None:
    """Nine of ten entries have one; key and sentence stand in the text, the title has no key."""
    entries, with_gaps = read_corpus(), 0
    for entry in entries:
        gaps = gaps_in(Passage(entry.title, entry.text, ""), entry.domain)
        with_gaps += bool(gaps)
        for gap in gaps:
            assert gap.sentence in entry.text
            assert gap.key in gap.sentence
            assert gap.key.casefold() not in entry.title.casefold()
    assert with_gaps >= 0.9 * len(entries)


def test_a_copied_question_is_refused(tmp_path: Path) -> None:
    """An extractor that copies the worked example: asked once more, then the walk goes on."""

    def parrot(received: Received, answer: Answer) -> Answer:
        body = received.body.decode()
        copied = role(received) == "extractor" and re.search(r"Topic: Medicine[12]\\n", body)
        if not copied:
            return answer
        code = re.findall(r"has the code (\w+)", body)
        about = "Why did uranium darken Becquerel's plate?"
        made = {"about": True, "question": about, "answer": f"{code[-1]}.", "quote": code[-1]}
        return said(json.dumps(made))

    with Loopback(answering(world(), parrot)) as server:
        study = write_drill(tmp_path, server.url, max_depth=1)
        run, transcript = held(study)
    assert not any("uranium" in probe.asked for probe in transcript.probes)
    assert not any(probe.direction in ("Medicine1", "Medicine2") for probe in transcript.probes)
    assert sum(call.endswith("/mended") for call in calls(study)) == 2
    assert any(probe.walked > 1 for probe in run.probes)


def test_a_question_must_be_answered_from_its_passage(tmp_path: Path) -> None:
    """With the check on, the extractor answers each question; another quote refuses it."""

    def check(received: Received, answer: Answer) -> Answer:
        body = received.body.decode()
        if role(received) != "extractor" or "from this passage alone" not in body:
            return answer
        asked = received.json()["messages"][-1]["content"]
        topic, code = re.findall(r"(\w+) has the code (\w+)", asked)[0]
        quote = "something else" if topic in ("Medicine1", "Medicine2") else code
        return said(json.dumps({"answered": topic != "Medicine2", "quote": quote}))

    with Loopback(answering(world(), check)) as server:
        study = write_drill(tmp_path, server.url, max_depth=1)
        edit(study, "questions = 6", "questions = 6\nanswerable_check = true")
        study = Study(study.folder)
        run, transcript = held(study)
    directions = {probe.direction for probe in transcript.probes}
    assert directions
    assert directions.isdisjoint({"Medicine1", "Medicine2"})
    made = [call for call in calls(study) if call.endswith("/result-1/answerable")]
    assert len(made) >= len(transcript.probes)
    assert {probe.state for probe in run.probes} == {"asked"}


def test_code_makes_questions_without_a_call(tmp_path: Path) -> None:
    """A name of the passage is left out; the evaluator sees the sentence with it."""

    def telling(received: Received, answer: Answer) -> Answer:
        if "/page/summary/" not in received.path or answer.status != 200:
            return answer
        page = json.loads(answer.body)
        code = page["extract"].split("has the code ")[1].split(",")[0].capitalize()
        text = f"This thing was first described there by Professor {code} Jones of Leiden."
        return json_answer({**page, "extract": f"{page['title']} is a thing. {text}"})

    with Loopback(answering(world(), telling)) as server:
        study = write_drill(tmp_path, server.url, max_depth=1)
        edit(study, 'extractor = "extractor"', 'extractor = "cloze"\ndirections = "extractor"')
        study = Study(study.folder)
        run, transcript = held(study)
    assert {probe.state for probe in run.probes} == {"asked"}
    for probe in transcript.probes:
        assert GAP in probe.asked
        assert probe.quote not in probe.asked
        assert probe.quote in probe.claim
        assert probe.passage.title in probe.asked
    assert not any(call.endswith("/question") for call in calls(study))
    foreseen = {model.model: model.calls for model in estimate(study, fresh(study)).usual.models}
    assert foreseen["target-1"] == foreseen["evaluator"] == 6
