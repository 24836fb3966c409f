"""A dry run: its "at most" is at most, else it says "about"; what rules leave undefined is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from drilling import write_drill
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_folder import edit, write_study

from harness.cli import main
from harness.run.estimate import RecordingEstimate, estimate
from harness.run.record import Recording
from harness.run.wiring import foreseen
from harness.study.folder import Study

ROLES = ("subject", "interviewer", "judge")
LIMIT = 50


def limited(study: Study, limit: int = LIMIT) -> Study:
    """Return a study whose roles have a token limit each."""
    lines = "".join(f"[ddft.params.{role}]\nmax_tokens = {limit}\n" for role in ROLES)
    edit(study, "[record]", f"{lines}[record]")
    return Study(study.folder)


def dry_run(study: Study) -> str:
    done = CliRunner().invoke(main, ["record", str(study.folder), "--dry-run"])
    assert done.exit_code == 0, done.output
    return done.output


def estimated(study: Study) -> RecordingEstimate:
    return estimate(study, foreseen(study))


def usage(study: Study) -> dict[str, tuple[int, int]]:
    models = json.loads(study.results.read_text())["spending"]["models"]
    return {model["model"]: (model["calls"], model["completion_tokens"]) for model in models}


def at_worst(received: Received) -> Answer:
    """Play judges that never reply in JSON, and an interviewer who never names the expert.

    Every reply has as many tokens as its request allows.
    """
    body = received.json()
    words = "Why?" if body["model"] == "interviewer" else "Well, " * 8
    tokens = {"prompt_tokens": 1, "completion_tokens": body["max_tokens"]}
    choice = {"message": {"content": words}, "finish_reason": "stop"}
    return json_answer({"choices": [choice], "usage": tokens})


def test_at_most_is_what_the_worst_recording_takes(tmp_path: Path) -> None:
    """Calls and tokens out, for every model, where every second ask is made; else fewer."""
    with Loopback(at_worst) as server:
        study = limited(write_study(tmp_path, server.url, record="stop_after_unusable = 999"))
        edit(study, "levels =", "missing_limit = 1.0\nlevels =")
        study = Study(study.folder)
        found = estimated(study)
        assert Recording(study).run().problems == []
    most = {model.model: (model.calls, model.completion_tokens) for model in found.most.models}
    assert usage(study) == most
    assert found.bounded
    assert found.unlimited == []
    said = dry_run(study)
    assert "judge-a: 10 calls, at most 20 with second asks" in said
    assert "at most 1000 out" in said
    assert "interviewer: 10 calls, at most 12 with second asks" in said


def test_at_most_counts_the_gold_set(tmp_path: Path) -> None:
    """The cell in which the judges take it is foreseen like any other, with every second ask."""
    with Loopback(at_worst) as server:
        study = limited(write_study(tmp_path, server.url, record="stop_after_unusable = 999"))
        edit(study, "levels =", "missing_limit = 1.0\nlevels =")
        without = estimated(Study(study.folder))
        edit(study, "seed = 7", 'seed = 7\njury_check = ["phoneme"]')
        study = Study(study.folder)
        found = estimated(study)
        assert Recording(study).run().problems == []
    most = {model.model: (model.calls, model.completion_tokens) for model in found.most.models}
    assert usage(study) == most
    gold = foreseen(study).gold
    assert gold is not None
    assert most["judge-a"][0] == 20 + 2 * len(gold.answers)
    assert found.most.models[0].calls == without.most.models[0].calls
    assert f"judge-a: {most['judge-a'][0] // 2} calls, at most {most['judge-a'][0]}" in dry_run(
        study
    )


@pytest.mark.parametrize("scoring", ['scoring = "verdict"', 'scoring = { judge-b = "verdict" }'])
def test_a_judge_of_verdicts_is_foreseen_about(tmp_path: Path, scoring: str) -> None:
    """It is asked for every sentence of an answer: as many are taken as it reads at most.

    A cell has three turns of eight sentences, two of the trap, and two questions of form a turn.
    """
    study = limited(write_study(tmp_path, "http://127.0.0.1:1"))
    edit(study, "levels =", f"{scoring}\nlevels =")
    said = dry_run(Study(study.folder))
    assert "at most" not in said
    assert f"judge-b: about {2 * (3 * 8 + 2 + 5 * 2)} calls" in said


def test_usual_is_what_a_good_recording_takes(tmp_path: Path) -> None:
    """Where no reply is unusable, the calls are those that are printed first."""
    with Loopback(Provider()) as server:
        study = limited(write_study(tmp_path, server.url))
        found = estimated(study)
        assert Recording(study).run().problems == []
    assert {name: calls for name, (calls, _) in usage(study).items()} == {
        model.model: model.calls for model in found.usual.models
    }


@pytest.mark.parametrize(
    ("model", "out", "words"),
    [
        ('provider = "anthropic"', 10 * 1024, "at most 10240 out"),
        ('provider = "anthropic"\nparams = { max_tokens = 70 }', 700, "at most 700 out"),
        ("params = { max_completion_tokens = 2000 }", 20_000, "at most 20000 out"),
        ("params = { max_tokens = 70, n = 3 }", 2100, "at most 2100 out"),
        ("", 4000, "about 4000 out"),
        ('params = { max_tokens = 70 }\nomit = ["max_tokens"]', 4000, "about 4000 out"),
    ],
)
def test_the_limit_is_the_one_that_is_sent(
    tmp_path: Path, model: str, out: int, words: str
) -> None:
    """Anthropic's own limit counts, and what is omitted does not; without a limit it is "about"."""
    study = write_study(tmp_path, "http://127.0.0.1:1")
    edit(study, 'model = "subject-a"', f'model = "subject-a"\n{model}')
    study = Study(study.folder)
    found = estimated(study)
    [subject] = [one for one in found.most.models if one.model == "subject-a"]
    assert subject.completion_tokens == out
    [line] = [line for line in dry_run(study).splitlines() if line.startswith("subject-a:")]
    assert words in line
    told = "subject-a is sent no token limit" in dry_run(study)
    assert told == ("about" in words) == ("subject-a" in found.unlimited)


def test_a_drill_says_about(tmp_path: Path) -> None:
    """How often look-ups and questions are tried anew is not known before."""
    said = dry_run(write_drill(tmp_path, "http://127.0.0.1:1", questions=2, max_depth=1))
    assert "at most" not in said
    assert "target-1: about " in said


@pytest.mark.parametrize(
    ("old", "new", "told", "untold"),
    [
        ("", "", "harness score small --set ddft.empty_far_prime=zero", "one level"),
        ("levels =", 'empty_far_prime = "zero"\nlevels =', "theta = 0.7 at no level", "FAR' is"),
        ("levels = [0.0, 0.5]", "levels = [0.5]", "one level: CRI and CI are undefined", "FAR' is"),
        ("levels =", "theta = 0.9\nlevels =", "1 subjects: correlations", "theta = 0.7"),
    ],
)
def test_what_the_rules_leave_undefined_is_said_before(
    tmp_path: Path, old: str, new: str, told: str, untold: str
) -> None:
    """CI of always coherent models, and what else no recording of this study can define."""
    study = write_study(tmp_path, "http://127.0.0.1:1")
    edit(study, old, new)
    said = dry_run(Study(study.folder))
    assert told in said
    assert untold not in said
