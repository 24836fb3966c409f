"""harness score: the recorded answers under other rules, beside the recorded results."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from drilling import answering, world, write_drill
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_folder import edit, write_study

import harness
from harness.cli import main
from harness.results import canonical
from harness.run.metric_settings import settable
from harness.run.record import Recording
from harness.study.folder import Study

LEVELS = "[0.0, 0.25, 0.5, 0.75, 1.0]"
FACTS = "parameters_b"


def coherent(received: Received) -> Answer:
    """Play a provider whose judges find every answer fluent, and the first subject often right."""
    body = received.json()
    if not body["model"].startswith("judge"):
        return Provider()(received)
    told = body["messages"][-1]["content"]
    far = 0.9 if "100%" in told else 0.75 if "75%" in told else 0.65
    reply = json.dumps({"far": far, "far_reason": "So.", "sas": 0.9, "sas_reason": "So."})
    message = {"content": reply}
    return json_answer({"choices": [{"message": message, "finish_reason": "stop"}]})


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Return a finished study of always coherent subjects; its server is gone."""
    root = tmp_path_factory.mktemp("coherent")
    with Loopback(coherent) as server:
        study = write_study(root, server.url, subjects=("subject-a", "subject-b"), levels=LEVELS)
        assert Recording(study).run().problems == []
    return study


def files(study: Study) -> dict[str, bytes]:
    manifests = (study.root / "checksums").glob("*")
    return {str(path): path.read_bytes() for path in (*study.folder.glob("*"), *manifests)}


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, list(words))
    return done.exit_code, done.output


def test_a_study_without_ci_has_one_under_another_rule(recorded: Study, tmp_path: Path) -> None:
    """The rule of the empty FAR' gives CI, without a server, a key or a change of any file.

    What is written has the form of results.json, names what was set and of which recording.
    """
    before, out = files(recorded), tmp_path / "zero.json"
    first = json.loads(recorded.results.read_text())["subjects"][0]
    assert first["ci"]["reason"] == "empty FAR'"
    code, said = run(
        "score", str(recorded.folder), "--set", "ddft.empty_far_prime=zero", "--out", str(out)
    )
    assert code == 0, said
    assert "What changes under ddft.empty_far_prime = zero" in said
    assert "These are not the recorded results" in said
    assert files(recorded) == before
    scored = json.loads(out.read_text())
    subject = scored["subjects"][0]
    hoc, cri = subject["hoc"]["value"], subject["cri"]["value"]
    assert subject["ci_raw"]["value"] == pytest.approx(hoc * cri / (1 - 0.9), rel=1e-9)
    assert scored["rules"]["empty_far_prime"] == "zero"
    assert scored["rescored"]["settings"] == {"ddft.empty_far_prime": "zero"}
    assert len(scored["rescored"]["fingerprint"]) == 32
    code, said = run("score", str(recorded.folder), "--out", str(out))
    assert code == 2
    assert "nothing is overwritten" in said


def test_a_changed_recording_is_scored_unverified(recorded: Study, tmp_path: Path) -> None:
    """What the message of a changed file advises is there, and every output says what it is."""
    root, out = tmp_path / "changed", tmp_path / "out.json"
    shutil.copytree(recorded.root, root)
    folder = root / recorded.folder.relative_to(recorded.root)
    results = folder / "results.json"
    results.write_text(results.read_text().replace('"subject-b"', '"subject-x"', 1))
    code, said = run("score", str(folder))
    assert (code, "--no-verify-checksums" in said) == (1, True)
    code, said = run("score", str(folder), "--no-verify-checksums", "--out", str(out))
    assert code == 0, said
    assert "unverified: files and numbers were not compared" in said
    assert json.loads(out.read_text())["rescored"]["verification"].startswith("unverified")
    code, said = run("score", str(folder), "--no-verify-checksums", "--json")
    assert (code, "unverified" in said) == (0, True)


def test_the_results_are_those_that_a_recording_under_the_rule_has(
    recorded: Study, tmp_path: Path
) -> None:
    """Every number is the one that `record` writes where study.toml has the rule from the start."""
    with Loopback(coherent) as server:
        study = write_study(
            tmp_path, server.url, subjects=("subject-a", "subject-b"), levels=LEVELS
        )
        edit(study, "levels =", 'theta = 0.8\nempty_far_prime = "zero"\nlevels =')
        edit(study, "[ddft]", "[ddft.cuts]\nrobust_above = 0.9\nfactual_above = 0.7\n[ddft]")
        assert Recording(Study(study.folder)).run().problems == []
    rescored = harness.score(
        str(recorded.folder),
        {
            "ddft.theta": 0.8,
            "ddft.empty_far_prime": "zero",
            "ddft.cuts.robust_above": 0.9,
            "ddft.cuts.factual_above": 0.7,
        },
    )
    code, said = run("score", str(study.folder), "--json")
    assert code == 0
    assert json.loads(said) == json.loads(canonical(rescored.results))
    assert rescored.recorded.subjects[0].hoc != rescored.results.subjects[0].hoc
    assert {change.metric for change in rescored.changes} >= {"HOC", "CI raw"}


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("ddft.thetta=0.8", ["no such setting", "Did you mean ddft.theta?", "ddft.cuts."]),
        ("theta=0.8", ["no such setting", "ddft.theta"]),
        ("ddft.levels=[0.0]", ["decides what is asked", "recording of its own", "ddft.theta"]),
        ("seed=8", ["decides what is asked"]),
        ("models.subject-a.model=x", ["decides what is asked"]),
        ("ddft.theta=1.5", ["--set for small: ddft.theta", "less than or equal to 1", "1.5"]),
        ("ddft.theta=high", ["ddft.theta", "number", "'high'"]),
        ("ddft.empty_far_prime=null", ["'undefined' or 'zero'", "'null'"]),
        ("ddft.cuts.robust_above=0.1", ["competent_above 0.3 lies above robust_above 0.1"]),
        ("ddft.theta", ["expected KEY=VALUE"]),
        ("a b=1", ["expected KEY=VALUE"]),
        (f"facts.nobody.{FACTS}=1", ["no model 'nobody'"]),
        (f"facts.subject-a.{FACTS}=-1", ["greater than 0"]),
        ("facts.subject-a.size=1", ["facts.subject-a.size"]),
    ],
)
def test_a_wrong_setting_is_told(recorded: Study, setting: str, told: list[str]) -> None:
    """Exit 2 with the setting, what is wrong, and which may be set; never a traceback."""
    code, said = run("score", str(recorded.folder), "--set", setting)
    assert code == 2, said
    for words in told:
        assert words in said


@pytest.mark.parametrize("words", [["--verify-checksums"], []])
def test_replay_names_the_way_where_a_rule_was_changed(
    recorded: Study, tmp_path: Path, words: list[str]
) -> None:
    """An edited rule fails a replay, which says what it was and how to see the other: it runs."""
    shutil.copytree(recorded.root, tmp_path / "copy")
    study = Study(tmp_path / "copy" / "cassettes" / recorded.name)
    edit(study, "levels =", 'theta = 0.8\nempty_far_prime = "zero"\nlevels =')
    code, said = run("replay", str(study.folder), *words)
    assert code == 1
    assert "ddft.theta = 0.8 (recorded: 0.7)" in said
    assert 'ddft.empty_far_prime = "zero" (recorded: "undefined")' in said
    [way] = re.findall(r"`harness (score .*?)`", said)
    edit(study, 'theta = 0.8\nempty_far_prime = "zero"\n', "")
    name, *settings = way.split()[1:]
    assert name == study.name
    assert run("score", str(study.folder), *settings)[0] == 0
    assert run("replay", str(study.folder), *words)[0] == 0


def test_what_is_known_of_subjects_can_be_set(recorded: Study) -> None:
    """Facts enter the analysis alone, so that they can be added to a recording."""
    under = harness.score(
        str(recorded.folder), {f"facts.subject-a.{FACTS}": "7", f"facts.subject-b.{FACTS}": 70}
    )
    assert under.study.file.facts["subject-b"].parameters_b == 70
    assert under.changes == []


def test_settings_that_only_count_are_set_in_a_drill_too(tmp_path: Path) -> None:
    """A drill's limit of missing verdicts can be set; theta, which ends a run, cannot."""
    with Loopback(answering(world())) as server:
        study = write_drill(tmp_path, server.url, questions=2, max_depth=1)
        assert Recording(study).run().problems == []
    assert "depthcharge.missing_limit" in settable(study)
    code, said = run("score", str(study.folder), "--set", "depthcharge.missing_limit=0.5")
    assert code == 0, said
    assert "no metric" in said
    code, said = run("score", str(study.folder), "--set", "depthcharge.theta=0.5")
    assert code == 2
    assert "when a run ends" in said
