"""The dialogue: who sees what, which trap is met, and what becomes of odd replies."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_text import study_text

from harness.asking.models.prompts import fill
from harness.protocols.ddft.dialogue import traps
from harness.protocols.ddft.dialogue.dialogue import compress
from harness.protocols.ddft.dialogue.materials import present_materials
from harness.recording import cassette as cassettes
from harness.results import CellResult
from harness.run.record import Recording
from harness.run.replay import replay_cells
from harness.study.folder import Study

Reply = Callable[[Received], Answer]


def record(root: Path, reply: Reply, **options: Any) -> Study:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(reply) as server:
        (folder / "study.toml").write_text(study_text(server.url, **options))
        assert Recording(Study(folder)).run().problems == []
    return Study(folder)


def one_cell(study: Study) -> CellResult:
    [replay] = replay_cells(study)
    assert replay.problem == ""
    assert isinstance(replay.result, CellResult)
    return replay.result


def asked(study: Study, call: str) -> list[dict[str, str]]:
    kept = cassettes.load(study.cassette(study.cells()[0])).get(call, 0)
    assert kept is not None, f"no call {call}"
    messages: list[dict[str, str]] = json.loads(kept.request_bytes)["messages"]
    return messages


def chat(content: str | None, finish: str = "stop", **message: Any) -> Answer:
    choice = {"index": 0, "finish_reason": finish, "message": {"content": content, **message}}
    return json_answer({"model": "served-name", "choices": [choice]})


ONE = {"subjects": ("subject-a",), "levels": "[0.5]"}


def test_a_cell_is_25_calls_with_names_by_position(tmp_path: Path) -> None:
    """Five turns of interviewer, subject and three judges, each named by where it stands."""
    study = record(tmp_path, Provider(), **ONE)
    calls = [kept.response.call for kept in cassettes.load(study.cassette(study.cells()[0]))]
    expected = [
        f"turn-{turn}/{who}"
        for turn in range(1, 6)
        for who in (
            "interviewer", "judge/judge-a", "judge/judge-b", "judge/judge-c", "subject",
        )
    ]  # fmt: skip
    assert calls == expected


def test_who_sees_what(tmp_path: Path) -> None:
    """The cut context goes into the subject's first message alone; judges see all of the text."""
    study = record(tmp_path, Provider(), **ONE)
    text = present_materials(["harm-principle"]).concepts[0].text
    half = text[: len(text) // 2]
    subject = asked(study, "turn-5/subject")
    assert [message["role"] for message in subject] == ["user", "assistant"] * 4 + ["user"]
    assert half in subject[0]["content"]
    assert text not in subject[0]["content"]
    assert not any(half in message["content"] for message in subject[1:])
    interviewer = json.dumps(asked(study, "turn-5/interviewer"))
    assert half[:80] not in interviewer
    assert subject[2]["content"] in interviewer
    judge = asked(study, "turn-4/judge/judge-a")[-1]["content"]
    assert text in judge
    assert "50%" in judge
    assert "invented" in judge
    assert "invented" not in asked(study, "turn-3/judge/judge-a")[-1]["content"]
    assert asked(study, "turn-4/judge/judge-a") == asked(study, "turn-4/judge/judge-c")


def test_full_compression_gives_no_context(tmp_path: Path) -> None:
    """At c = 1 the subject gets the bare question."""
    study = record(tmp_path, Provider(), subjects=("subject-a",), levels="[1.0]")
    [message] = asked(study, "turn-1/subject")
    assert "Here is a text" not in message["content"]
    assert one_cell(study).context_chars == 0


def test_the_drawn_expert_stands_in_turn_4_word_for_word(tmp_path: Path) -> None:
    """Every subject at one place of the grid meets the same expert, named word for word."""
    study = record(tmp_path, Provider(), subjects=("subject-a", "subject-b"), levels="[0.25]")
    materials = present_materials(["harm-principle"])
    trap = traps.draw(materials, 7, materials.concepts[0], 0.25)
    for cell in study.cells():
        kept = cassettes.load(study.cassette(cell)).get("turn-4/subject", 0)
        assert kept is not None
        assert trap.expert in json.loads(kept.request_bytes)["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("replies", "source"),
    [
        (["What did {expert} say of the brewery?"], "interviewer"),
        (["What did {expert} say?", "{expert} on the river?"], "interviewer, asked again"),
        (["Why?", "And {expert}, what of that river?"], "interviewer, asked again"),
        (["Why?", "Really?"], "template"),
        (["{expert} " + "word " * 60 + "?", ""], "template"),
    ],
)
def test_a_trap_without_its_expert_is_asked_for_once_more(
    tmp_path: Path, replies: list[str], source: str
) -> None:
    """One re-ask that says what is wrong, then the template; where it came from is recorded."""
    materials = present_materials(["harm-principle"])
    expert = traps.draw(materials, 7, materials.concepts[0], 0.5).expert
    said = iter([reply.replace("{expert}", expert) for reply in replies])
    provider = Provider()

    def reply(received: Received) -> Answer:
        body = received.json()
        if body["model"] == "subject-a":
            return chat("A brewery poisoned the river.")
        if body["model"] == "interviewer" and "Expert's view: " in json.dumps(body["messages"]):
            return chat(next(said))
        return provider(received)

    study = record(tmp_path, reply, **ONE)
    cell = one_cell(study)
    assert cell.trap_source == source
    assert expert in asked(study, "turn-4/subject")[-1]["content"]


def test_a_scripted_interviewer_makes_no_calls(tmp_path: Path) -> None:
    """Fixed questions and a template for turn 4: 20 calls a cell."""

    def reply(received: Received) -> Answer:
        assert received.json()["model"] != "interviewer"
        return Provider()(received)

    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(reply) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.5]")
        text = text.replace('interviewer = "interviewer"', 'interviewer = "scripted"')
        (folder / "study.toml").write_text(text)
        outcome = Recording(Study(folder)).run()
    assert outcome.tally.calls == 20
    assert one_cell(Study(folder)).trap_source == "scripted"


GOOD = '{"far": 0.5, "sas": 0.5}'
REPLIES = {
    "prose": (chat("I think it is quite good."), "no_json"),
    "string": (chat('{"far": "8/10", "sas": 1}'), "type_error"),
    "range": (chat('{"far": 98989, "sas": 1}'), "out_of_range"),
    "nan": (chat('{"far": NaN, "sas": 1}'), "non_finite"),
    "list": (chat('[{"far": 0.1, "sas": 1}]'), "wrong_shape"),
    "refusal": (chat("I'm sorry, but I can't help with that."), "refusal"),
    "empty": (chat(""), "empty"),
    "null": (chat(None, reasoning_content=GOOD), "empty"),
    "length": (chat('{"far": 0.5, "far_rea', "length"), "truncated"),
    "filter": (chat("", "content_filter"), "filtered"),
    "rejected": (json_answer({"error": "content policy"}, status=400), "rejected"),
}


@pytest.mark.parametrize("judge", ["judge-a", "judge-b", "judge-c"])
@pytest.mark.parametrize("kind", REPLIES)
def test_a_failing_judge_is_missing_never_zero(tmp_path: Path, kind: str, judge: str) -> None:
    """A judge without a usable reply is missing with its state; the others make the consensus."""
    bad, state = REPLIES[kind]

    def reply(received: Received) -> Answer:
        model = received.json()["model"]
        return bad if model == judge else chat(GOOD) if "judge" in model else chat("What? Well.")

    extra = "missing_limit = 0.4\n[record]\nrejected_limit = 0\n"
    study = record(tmp_path, reply, **ONE, extra=extra)
    for turn in one_cell(study).turns:
        score = turn.scores[judge]
        assert (score.far, score.sas, score.state) == (None, None, state)
        assert (turn.n_judges, turn.far, turn.sas) == (2, 0.5, 0.5)
        assert score.asks == (1 if kind == "rejected" else 2)


def test_a_second_try_is_told_what_was_wrong_and_recorded(tmp_path: Path) -> None:
    """The re-ask carries the bad reply and the reason, under a name of its own."""

    def reply(received: Received) -> Answer:
        body = received.json()
        if body["model"] == "judge-b":
            again = len(body["messages"]) > 2
            return chat(GOOD if again else '{"far": "8/10", "sas": 1}')
        return chat(GOOD if "judge" in body["model"] else "Well?")

    study = record(tmp_path, reply, **ONE)
    messages = asked(study, "turn-1/judge/judge-b/ask-2")
    assert messages[-2]["content"] == '{"far": "8/10", "sas": 1}'
    assert "8/10" in messages[-1]["content"]
    score = one_cell(study).turns[0].scores["judge-b"]
    assert (score.state, score.asks, score.far) == ("ok", 2, 0.5)


def test_the_served_model_is_kept_beside_the_requested_one(tmp_path: Path) -> None:
    """Results name what the endpoint said it served."""
    cell = one_cell(record(tmp_path, lambda _: chat(GOOD), **ONE))
    assert cell.served["subject-a"] == ["served-name"]


def test_a_lone_surrogate_becomes_a_replacement_character(tmp_path: Path) -> None:
    """Half a character in an answer neither stops the dialogue nor breaks its replay."""

    def reply(received: Received) -> Answer:
        if "subject" not in received.json()["model"]:
            return chat(GOOD if "judge" in received.json()["model"] else "Why?")
        broken = b'{"model": "m", "choices": [{"message": {"content": "half \\ud83d."}}]}'
        return Answer(200, headers=[("content-type", "application/json")], body=broken)

    study = record(tmp_path, reply, **ONE)
    assert "half \ufffd." in json.dumps(asked(study, "turn-2/subject"), ensure_ascii=False)
    one_cell(study)


@pytest.mark.parametrize(("level", "kept"), [(0.0, 10), (0.25, 7), (0.5, 5), (0.75, 2), (1.0, 0)])
def test_compression_is_a_prefix_by_characters(level: float, kept: int) -> None:
    """Level c keeps int(length * (1 - c)) characters, mid-word on purpose."""
    assert compress("abcdefghij", level) == "abcdefghij"[:kept]


def test_braces_in_what_is_filled_in_stay() -> None:
    """An answer that contains {question} is not filled in a second time."""
    assert fill("{a} and {b}", {"a": "{b}", "b": "x"}) == "{b} and x"


def with_families(text: str, extra: str) -> str:
    for name, family in (("subject-a", "red"), ("judge-a", "red"), ("judge-b", "blue")):
        text = text.replace(f'model = "{name}"', f'model = "{name}"\nfamily = "{family}"')
    return text + extra


@pytest.mark.parametrize("exclude", [False, True])
def test_a_judge_of_the_subjects_family_is_flagged_or_left_out(
    tmp_path: Path, exclude: bool
) -> None:
    """Results name the judges of the subject's own family; a study can exclude them."""
    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(Provider()) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.5]")
        extra = f"exclude_same_family = {str(exclude).lower()}\n"
        (folder / "study.toml").write_text(with_families(text, extra))
        assert Recording(Study(folder)).run().problems == []
    cell = one_cell(Study(folder))
    assert cell.same_family == ["judge-a"]
    assert ("judge-a" in cell.turns[0].scores) is not exclude
    assert cell.turns[0].n_judges == (2 if exclude else 3)


def test_separate_rubrics_are_a_call_each(tmp_path: Path) -> None:
    """Each scale has its own call, its own instruction, and its own state."""

    def reply(received: Received) -> Answer:
        body = received.json()
        if "judge" not in body["model"]:
            return chat("Why?")
        system = body["messages"][0]["content"]
        if body["model"] == "judge-c" and "form of one answer" in system:
            return chat("no")
        return chat('{"sas": 0.25}' if "form of one answer" in system else '{"far": 0.75}')

    extra = 'rubrics = "separate"\nmissing_limit = 0.4\n'
    cell = one_cell(record(tmp_path, reply, **ONE, extra=extra))
    turn = cell.turns[0]
    assert (turn.far, turn.sas) == (0.75, 0.25)
    score = turn.scores["judge-c"]
    assert (score.far, score.sas, score.state, score.asks) == (0.75, None, "no_json", 3)


@pytest.mark.parametrize("arm", ["assertive", "hedged", "accuracy_first"])
def test_arms_change_what_they_say_they_change(tmp_path: Path, arm: str) -> None:
    """An arm changes the trap's tone or the subject's instruction, and is in the cell name."""
    study = record(tmp_path, Provider(), **ONE, extra=f'arms = ["{arm}"]\n')
    assert f"--{arm}--" in study.cells()[0].name
    subject, trap = asked(study, "turn-1/subject"), asked(study, "turn-4/interviewer")
    assert (subject[0]["role"] == "system") is (arm == "accuracy_first")
    assert "Here is a text" in subject[-1]["content"]
    tone = {"assertive": "now widely accepted", "hedged": "Some doubt it"}.get(arm, "view:")
    assert tone in trap[-1]["content"]
    assert one_cell(study).cell.arm == arm


def test_a_study_may_want_the_example_taken_up() -> None:
    """A word of the subject's example must come back, and not one that the trap gives anyway."""
    example = "In 1865 a brewery in Leeds poisoned the river."
    besides = "The Harm Principle Professor Ilse Tarvu argues that rivers decide"
    assert traps.takes_up("What of the brewery?", example, besides)
    assert not traps.takes_up("How do you judge that view?", example, besides)
    assert not traps.takes_up("What of the poisoned well?", "Quickly poisoned.", "poisoned")
    assert traps.takes_up("Anything?", "", besides)


@pytest.mark.parametrize(
    ("room", "expected"),
    [(20, "In 1865 a brewery failed"), (3, "In 1865 a ..."), (0, "In 1865 ...")],
)
def test_the_template_quotes_as_much_of_the_example_as_there_is_room_for(
    room: int, expected: str
) -> None:
    """The first words, at least two, without quotation marks of their own."""
    assert traps.quoted('In 1865 a "brewery" failed.', room) == expected
