"""Roles that fall back: each kind has a count and a share, and an interviewer has a limit."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest
from judging import by_content, chat, freeze_as_version_1
from loopback import Answering, Loopback
from study_folder import edit, write_study

from harness.results import Fallback, Results, Value
from harness.run.record import Recording, RecordOutcome
from harness.run.replay import replayed_results
from harness.study.folder import Study


def recorded(
    root: Path, answering: Answering, *edits: tuple[str, str], version: int = 2
) -> tuple[RecordOutcome, Results]:
    """Record one cell of ten answers, and return its outcome and results."""
    with Loopback(answering) as server:
        study = write_study(root, server.url)
        for change in edits:
            edit(study, *change)
        study = Study(study.folder)
        if version == 1:
            freeze_as_version_1(study)
        outcome = Recording(study, keep_going=True).run()
        assert outcome.problems == []
    results = replayed_results(study)
    assert isinstance(results, Results)
    return outcome, results


def shares(results: Results) -> dict[str, Fallback]:
    return {fallback.name: fallback for fallback in results.fallbacks.shares}


LIMIT = ("jury = [", "template_limit = 1.0\njury = [")
SCRIPTED = ('interviewer = "interviewer"\njury', 'interviewer = "scripted"\njury')


def test_nothing_falls_back_where_all_serve(tmp_path: Path) -> None:
    """Zero of every kind, each of its n: 10 questions, 10 interviewer calls and 30 judgements."""
    outcome, results = recorded(tmp_path, by_content())
    assert outcome.invalid == ""
    assert [(f.name, f.count, f.share, f.limit) for f in results.fallbacks.shares] == [
        ("questions from the template", 0, Value(0.0, 10), 0.2),
        ("second asks", 0, Value(0.0, 40), None),
        ("repaired replies", 0, Value(0.0, 40), None),
    ]
    assert [(r.role, r.model, r.calls, r.usable) for r in results.fallbacks.replies] == [
        ("interviewer", "interviewer", 10, 10),
        ("judge", "judge-a", 10, 10),
        ("judge", "judge-b", 10, 10),
        ("judge", "judge-c", 10, 10),
    ]


def test_an_interviewer_that_never_serves_makes_the_study_invalid(tmp_path: Path) -> None:
    """All questions from the template: named with count, share and limit, the causes counted."""
    outcome, results = recorded(tmp_path, by_content(interviewer=lambda _: "No question."))
    assert not results.valid
    assert outcome.invalid == results.invalid_reason
    assert results.invalid_reason == (
        "questions from the template: 10 of 10 (100.0%), 20.0% are allowed"
    )
    [interviewer] = [r for r in results.fallbacks.replies if r.role == "interviewer"]
    assert interviewer.unusable == {"expert not named": 2, "no question": 8}
    assert (interviewer.calls, interviewer.second_asks, interviewer.usable) == (12, 2, 0)


def test_the_endpoints_own_reason_is_the_cause(tmp_path: Path) -> None:
    """A question cut off at the token limit is "truncated", not "no question"."""
    cut = by_content(interviewer=lambda _: chat("So what is the central", "length"))
    _, results = recorded(tmp_path, cut)
    assert results.fallbacks.replies[0].unusable == {"truncated": 10}


@pytest.mark.parametrize("change", [LIMIT, SCRIPTED], ids=["limit", "scripted"])
def test_a_study_may_allow_the_template(tmp_path: Path, change: tuple[str, str]) -> None:
    """template_limit = 1 allows all; a scripted interviewer is no fallback and has no share."""
    _, results = recorded(tmp_path, by_content(interviewer=lambda _: "No."), change)
    assert results.valid
    template = shares(results)["questions from the template"]
    expected = (
        Value(1.0, 10)
        if change == LIMIT
        else Value(None, 0, "no interviewer: all questions are scripted")
    )
    assert template.share == expected


def test_version_1_counts_and_allows_every_template(tmp_path: Path) -> None:
    """A study recorded under the old rules stays valid; its counts are shown all the same."""
    _, results = recorded(tmp_path, by_content(interviewer=lambda _: "No."), version=1)
    assert results.valid
    assert shares(results)["questions from the template"].count == 10
    assert "template_limit" not in results.rules


def test_second_asks_and_repairs_are_counted_by_judge(tmp_path: Path) -> None:
    """A fence is a repair; an ambiguous reply is asked for again, and missing if it stays so."""

    def quoting(scores: str) -> str:
        return f'{scores} The answer ended in {{"far": 0.33, "sas": 0.33}}.'

    answering = by_content(judge_a=lambda scores: f"```json\n{scores}\n```", judge_b=quoting)
    _, results = recorded(tmp_path, answering, ("jury = [", "missing_limit = 0.5\njury = ["))
    counted = {reply.model: reply for reply in results.fallbacks.replies}
    assert (counted["judge-a"].repaired, counted["judge-a"].usable) == (10, 10)
    assert (counted["judge-b"].second_asks, counted["judge-b"].calls) == (10, 20)
    assert counted["judge-b"].unusable == {"ambiguous": 10}
    assert results.missing.states == {"ambiguous": 10, "ok": 20}
    assert shares(results)["second asks"].share == Value(10 / 50, 50)
    assert shares(results)["repaired replies"].share == Value(10 / 30, 30)


def test_latex_in_a_reason_loses_no_judgement(tmp_path: Path) -> None:
    r"""Reasons with \(x\), \sigma, \$ and raw line breaks: all scores stay, each flagged."""

    def latex(scores: str) -> str:
        return scores.replace(' letters."', ' letters, \\(x\\) and \\sigma\n in \\$."')

    answering = by_content(judge_a=latex, judge_b=latex, judge_c=latex)
    _, results = recorded(tmp_path / "latex", answering)
    _, plain = recorded(tmp_path / "plain", by_content())
    scores = [score for cell in results.cells for t in cell.turns for score in t.scores.values()]
    assert {(score.state, *score.repaired) for score in scores} == {("ok", "mended")}
    assert [(s.levels, s.ci_raw) for s in results.subjects] == [
        (s.levels, s.ci_raw) for s in plain.subjects
    ]
    assert shares(results)["repaired replies"].count == 30


def test_a_failing_judge_is_the_same_in_all_six_orders(tmp_path: Path) -> None:
    """Whatever order the jury stands in, one ambiguous judge leaves the same numbers."""

    def ambiguous(scores: str) -> str:
        judgement = json.loads(scores)
        return scores + json.dumps({**judgement, "far": float(judgement["far"] < 0.5)})

    outcomes = []
    for order in permutations(("judge-a", "judge-b", "judge-c")):
        jury = json.dumps(list(order))
        root = tmp_path / "-".join(order)
        _, results = recorded(
            root,
            by_content(judge_b=ambiguous),
            ('jury = ["judge-a", "judge-b", "judge-c"]', f"missing_limit = 0.5\njury = {jury}"),
        )
        turns = [turn for cell in results.cells for turn in cell.turns]
        assert {turn.n_judges for turn in turns} == {2}
        outcomes.append((results.subjects, results.missing, results.fallbacks, turns))
    assert all(outcome == outcomes[0] for outcome in outcomes)
