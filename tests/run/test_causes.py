"""What made replies unusable is said while a recording runs, and when its study is invalid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from drilling import answering, role, said, world, write_drill
from judging import by_content, chat
from loopback import Answer, Answering, Loopback, Received
from study_folder import edit, write_study

from harness.asking.replies.reply_count import ReplyOutcome
from harness.cli import main
from harness.run.causes import cause_of
from harness.run.circuit_breaker import JudgeWatch
from harness.study.folder import Study


def record(root: Path, answers: Answering, *edits: tuple[str, str]) -> tuple[Result, Study]:
    with Loopback(answers) as server:
        study = write_study(root, server.url)
        for change in edits:
            edit(study, *change)
        done = CliRunner().invoke(main, ["record", str(study.folder), "--keep-going"])
    return done, Study(study.folder)


def cut(scores: str) -> Answer:
    return chat(scores[:20], "length")


LIMIT = ("[record]", "[ddft.params.judge]\nmax_tokens = 120\n[record]")


def test_the_third_unusable_reply_of_one_model_is_told_with_its_cause(tmp_path: Path) -> None:
    """Role, state, token limit and what to raise stand on a line while the recording runs."""
    done, _ = record(tmp_path, by_content(judge_b=cut), LIMIT)
    told = [line for line in done.output.splitlines() if line.startswith("note: ")]
    assert told == [
        f"note: judge-b (judge): {count} unusable replies, the last truncated at 120 tokens: "
        "raise [ddft.params.judge] max_tokens"
        for count in (3, 6)
    ]


def test_an_invalid_study_names_causes_and_next_steps(tmp_path: Path) -> None:
    """The last lines of record and the verdict say who failed, why, and how to go on."""
    done, study = record(tmp_path, by_content(judge_b=cut), LIMIT)
    assert done.exit_code == 1
    replayed = CliRunner().invoke(main, ["replay", str(study.folder)])
    for output in (done.output, replayed.output):
        assert "10 of 30 judgements are missing (33.3%), 5.0% are allowed" in output
        assert (
            "judge-b (judge), 10 of 10 replies: truncated at 120 tokens: "
            "raise [ddft.params.judge] max_tokens."
        ) in output
        assert "harness rejudge small --jury" in output
    assert "fallbacks: questions from the template: 0 of 10 (0.0%); second asks: 10 of 50" in (
        done.output
    )


def test_the_last_lines_of_a_valid_recording_have_the_fallbacks_too(tmp_path: Path) -> None:
    """Count and share of each kind, in record and in analyze, also where nothing went wrong."""
    done, study = record(tmp_path, by_content(judge_a=lambda scores: f"```json\n{scores}\n```"))
    assert done.exit_code == 0
    assert done.output.splitlines()[-1] == (
        "fallbacks: questions from the template: 0 of 10 (0.0%); second asks: 0 of 40 (0.0%); "
        "repaired replies: 10 of 40 (25.0%)"
    )
    analyzed = CliRunner().invoke(main, ["analyze", str(study.folder)]).output
    assert re.search(r"repaired replies\W+0\.250 \(10 of 40\)", analyzed)


def test_an_interviewer_that_fails_is_told_while_it_fails(tmp_path: Path) -> None:
    """Three questions from the template: the interviewer is named, not only counted at the end."""
    done, _ = record(tmp_path, by_content(interviewer=lambda _: "I would rather not."))
    assert "note: interviewer (interviewer): 3 unusable replies, the last " in done.output
    assert "questions from the template: 10 of 10 (100.0%), 20.0% are allowed" in done.output


def test_a_drill_that_asked_nothing_says_why(tmp_path: Path) -> None:
    """Whether the sources had nothing or the questions were unusable stands beside the fault."""

    def prose(received: Received, answer: Answer) -> Answer:
        question = role(received) == "extractor" and "Passage, from" in received.body.decode()
        return said("A fine passage.") if question else answer

    with Loopback(answering(world(), prose)) as server:
        study = write_drill(tmp_path, server.url, questions=1, max_depth=1, redeals=0)
        done = CliRunner().invoke(main, ["record", str(study.folder), "--keep-going"])
    assert done.exit_code == 1
    assert "no question was asked; its slots ended with: 1 no_json." in done.output
    assert "extractor (extractor), " in done.output


TABLES = {
    "role": ("[ddft.params.judge]\nmax_tokens = 120", "at 120 tokens: raise [ddft.params.judge]"),
    "model": (
        "[models.judge-b.params]\nmax_completion_tokens = 64",
        "at 64 tokens: raise [models.judge-b.params] max_completion_tokens",
    ),
    "none": ("", "at the endpoint's own limit: set [ddft.params.judge] max_tokens"),
}


@pytest.mark.parametrize("table", TABLES)
def test_a_token_limit_is_named_where_it_is_set(tmp_path: Path, table: str) -> None:
    """The model's own parameters come before the role's; without any the endpoint has a limit."""
    text, words = TABLES[table]
    study = write_study(tmp_path, "http://127.0.0.1:9")
    edit(study, "[record]", f"{text}\n[record]")
    cause = cause_of(Study(study.folder), ReplyOutcome("judge", "judge-b", "truncated"))
    assert cause.startswith("truncated ")
    assert words in cause


def test_it_is_told_again_when_the_count_has_doubled() -> None:
    """At 3, 6, 12 and 24 of one model, whatever came between; other models count for themselves."""
    told: list[str] = []
    watch = JudgeWatch(None, "small", lambda reply: reply.state, told.append)
    for _ in range(24):
        watch.heard(ReplyOutcome("judge", "a", "no_json"))
        watch.heard(ReplyOutcome("judge", "a", "ok"))
        watch.heard(ReplyOutcome("judge", "b", "ok"))
    watch.heard(ReplyOutcome("judge", "b", "empty"))
    assert told == [
        f"a (judge): {count} unusable replies, the last no_json" for count in (3, 6, 12, 24)
    ]
