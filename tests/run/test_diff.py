"""Two recordings compared: what is the same is said to be, and what changed is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from drilling import answering, role, said, world, write_drill
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_folder import edit, unpublish
from study_text import study_text

from harness.cli import main
from harness.cli.tables import show_tables
from harness.diff.compare import compare
from harness.diff.schema import Diff
from harness.results.table import Table, columns
from harness.run.record import Recording
from harness.study.folder import Study

CONCEPTS = ("harm-principle", "recursion", "impressionism", "phoneme")
Change = Callable[[Received, Answer], Answer]


def unchanged(_: Received, answer: Answer) -> Answer:
    return answer


def milder(received: Received, answer: Answer) -> Answer:
    """Have judge-a give everybody full marks for facts."""
    if received.json()["model"] != "judge-a":
        return answer
    reply = json.loads(answer.body)
    message = reply["choices"][0]["message"]
    message["content"] = json.dumps({**json.loads(message["content"]), "far": 1.0})
    return json_answer(reply)


def recorded_with(root: Path, url: str, **more: Any) -> Study:
    folder = root / "cassettes/small"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(study_text(url, **more))
    return Study(folder)


def record(study: Study) -> Study:
    assert Recording(study).run(8).problems == []
    return study


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Study]:
    """One study recorded twice, the second time with a milder judge."""
    root, provider = tmp_path_factory.mktemp("pair"), Provider()
    change: Change = unchanged
    with Loopback(lambda received: change(received, provider(received))) as server:
        studies = []
        for name in ("before", "after"):
            more = {"subjects": ("subject-a",), "concepts": CONCEPTS, "levels": "[0.0, 1.0]"}
            studies.append(record(recorded_with(root / name, server.url, **more)))
            change = milder
    return studies[0], studies[1]


@pytest.fixture(scope="module")
def found(pair: tuple[Study, Study]) -> Diff:
    return compare(*pair)


def diff(*words: object) -> Result:
    return CliRunner(env={"COLUMNS": "250"}).invoke(main, ["diff", *map(str, words)])


def test_the_same_thing_recorded_twice_differs_in_nothing(
    recorded_once: Path, tmp_path: Path
) -> None:
    """Other clock times and nothing else: every recording the same, every change 0, exit 0."""
    copy = tmp_path / "copy"
    shutil.copytree(recorded_once, copy)
    for path in (copy / "cassettes/small").glob("subject-*.json"):
        path.write_bytes(path.read_bytes().replace(b'"recorded_at":"2', b'"recorded_at":"3'))
    unpublish(Study(copy / "cassettes/small"))
    result = diff(recorded_once / "cassettes/small", copy / "cassettes/small", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["configuration"] == found["materials"] == []
    assert all(cell["same_recording"] and not cell["first"] for cell in found["words"])
    assert all(kind["equal"] == kind["compared"] > 0 for kind in found["kinds"])
    assert {score["difference"]["value"] for score in found["scores"]} == {0.0}
    assert {one["difference"]["value"] for one in found["metrics"]} <= {0.0, None}
    assert not any(swap["changes"] for swap in found["swaps"])


def test_only_what_changed_is_said_to(found: Diff) -> None:
    """Questions, answers and two judges are word for word the same, the third judge is not."""
    kinds = {kind.kind: (kind.equal, kind.compared) for kind in found.kinds}
    assert kinds["subject"] == kinds["question"] == kinds["judge/judge-b"] == (40, 40)
    equal, compared = kinds["judge/judge-a"]
    assert equal < compared == 40
    for cell in found.words:
        assert not cell.same_recording
        assert cell.first is not None
        assert cell.first.endswith("/judge/judge-a")
        assert cell.after is not None
        assert "1.0" in cell.after


def test_scores_are_paired_cell_by_cell(pair: tuple[Study, Study], found: Diff) -> None:
    """FAR rose in every cell, by the mean of the cells' own rises; SAS did not move."""
    scores = {(score.score, score.model): score for score in found.scores}
    far, sas = scores["FAR", "subject-a"], scores["SAS", "all"]
    assert (far.difference.n, far.higher, far.lower) == (8, 8, 0)
    results = [json.loads(study.results.read_text()) for study in pair]
    means = [
        sum(turn["far"] for cell in one["cells"] for turn in cell["turns"]) / 40 for one in results
    ]
    assert far.difference.value == pytest.approx(means[1] - means[0])
    assert far.interval.low is not None
    assert far.interval.high is not None
    assert 0 < far.interval.low < means[1] - means[0] < far.interval.high
    assert (sas.difference.value, sas.interval.low, sas.interval.high) == (0.0, 0.0, 0.0)


def test_metrics_are_those_of_results_json(pair: tuple[Study, Study], found: Diff) -> None:
    """Each metric in both is the study's own number, and its change has an interval."""
    results = [json.loads(study.results.read_text())["subjects"][0] for study in pair]
    metrics = {one.metric: one for one in found.metrics}
    for name, field in (("CRI", "cri"), ("SAS'", "sas_prime"), ("danger zone", "danger_zone")):
        one = metrics[name]
        assert one.before.value == pytest.approx(results[0][field]["value"])
        assert one.after.value == pytest.approx(results[1][field]["value"])
        assert one.interval.low is not None
    assert (metrics["FAR"].difference.value or 0) > 0
    assert metrics["CI"].interval.low is None


def test_the_tables_name_everything(pair: tuple[Study, Study]) -> None:
    """On a terminal: the cells, the words that differ, the scores, and what moved the phenotype."""
    result = diff(pair[0].folder, pair[1].folder)
    assert result.exit_code == 0, result.output
    for words in (
        "8 cells compared; 0 in",
        "Configuration: what differs: nothing",
        "Models",
        "judge/judge-a",
        "turn-1/judge/judge-a",
        "FAR, subject-a",
        "normalization",
        "everything",
    ):
        assert words in result.output


def test_words_in_brackets_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """What a model says is no markup of the terminal's."""
    show_tables([Table("a [bold]title", columns("[red]column"), [["it said [green] and [/] so"]])])
    shown = capsys.readouterr().out
    for words in ("a [bold]title", "[red]column", "it said [green] and [/] so"):
        assert words in shown


def test_settings_texts_and_models_that_changed_are_named(recorded: Path, tmp_path: Path) -> None:
    """theta in the study file, the served model in the answers: each in its own table."""
    other = tmp_path / "other"
    shutil.copytree(recorded, other)
    study = Study(other / "cassettes/small")
    edit(study, "levels =", "theta = 0.4\nlevels =")
    for path in study.folder.glob("subject-*.json"):
        text = path.read_text().replace(
            '\\"model\\": \\"judge-c\\"', '\\"model\\": \\"judge-c-2\\"'
        )
        path.write_text(text)
    found = compare(Study(recorded / "cassettes/small"), Study(study.folder), verify=False)
    [theta] = found.configuration
    assert (theta.where, theta.before, theta.after) == ("ddft.theta", 0.7, 0.4)
    served = {model.name: (model.served_before, model.served_after) for model in found.models}
    assert served["judge-c"] == (["judge-c"], ["judge-c-2"])
    assert served["judge-a"] == (["judge-a"], ["judge-a"])


def test_frozen_texts_that_changed_show_their_first_words(recorded: Path, tmp_path: Path) -> None:
    """A price list and a rubric beside each other's: only what differs, around where it does."""
    other = tmp_path / "other"
    shutil.copytree(recorded, other)
    path = other / "cassettes/small/materials.json"
    materials = json.loads(path.read_text())
    unused = materials["prompts"]["judge_system_far"]
    materials["prompts"]["judge_system_far"] = unused.replace("factual accuracy", "plain truth", 1)
    path.write_text(json.dumps(materials))
    unpublish(Study(other / "cassettes/small"))
    found = compare(Study(recorded / "cassettes/small"), Study(other / "cassettes/small"))
    [one] = found.materials
    assert one.where == "prompts.judge_system_far"
    assert "[factual accuracy" in one.before
    assert "[plain truth" in one.after


def test_two_grids_are_compared_where_they_meet(tmp_path: Path) -> None:
    """Levels 0 and 0.5 against 0.5 and 1: the cells of 0.5, and the others by name."""
    with Loopback(Provider()) as server:
        grids = ("[0.0, 0.5]", "[0.5, 1.0]")
        studies = [
            record(recorded_with(tmp_path / str(n), server.url, levels=levels))
            for n, levels in enumerate(grids)
        ]
    found = compare(studies[0], studies[1])
    assert found.cells == 2
    assert all("--c0--" in name for name in found.only_before)
    assert all("--c1--" in name for name in found.only_after)
    assert {one.place for one in found.metrics} == {"paper"}
    [hoc] = [one for one in found.metrics if (one.model, one.metric) == ("subject-a", "HOC")]
    assert hoc.before.n == 1, "one level is left of two"


def test_what_cannot_be_compared_is_said(recorded: Path, tmp_path: Path) -> None:
    """No cell in common, another protocol, no such study: exit 2, each with what there is."""
    with Loopback(answering(world())) as server:
        drill = record(write_drill(tmp_path / "d", server.url, questions=1, max_depth=1))
    small = recorded / "cassettes/small"
    result = diff(small, drill.folder)
    assert result.exit_code == 2
    assert "protocol ddft" in result.output
    empty = tmp_path / "empty/cassettes/small"
    empty.mkdir(parents=True)
    shutil.copyfile(small / "study.toml", empty / "study.toml")
    result = diff(small, empty)
    assert result.exit_code == 2
    assert "no recorded cell in common" in result.output
    assert diff(small, tmp_path / "cassettes/none").exit_code == 2


def test_a_recording_that_does_not_replay_is_not_compared(recorded: Path, tmp_path: Path) -> None:
    """A miss is exit 1 with its words."""
    other = tmp_path / "other"
    shutil.copytree(recorded, other)
    path = other / "cassettes/small/materials.json"
    path.write_text(path.read_text().replace("oral examination", "oral quiz"))
    unpublish(Study(other / "cassettes/small"))
    result = diff(recorded / "cassettes/small", other / "cassettes/small")
    assert result.exit_code == 1
    assert "quiz" in result.output


def test_drills_are_compared_by_their_words_and_their_evd(tmp_path: Path) -> None:
    """One answer of depth 1 is another: its words are shown, and EVD's change has an interval."""

    def forgetful(received: Received, answer: Answer) -> Answer:
        return said("I do not know.") if role(received) == "target-1" else answer

    studies = []
    for name, twist in (("a", lambda _, answer: answer), ("b", forgetful)):
        with Loopback(answering(world(accuracy=(0.9, 0.6)), twist)) as server:
            study = write_drill(tmp_path / name, server.url, questions=8, max_depth=3)
            studies.append(record(study))
    found = compare(studies[0], studies[1])
    [cell] = found.words
    assert cell.first == "depth-01/question-01/target"
    assert cell.after == "[I do not know.]"
    metrics = {one.metric: one for one in found.metrics}
    assert metrics["EVD"].after.value == 0.0
    assert (metrics["EVD"].difference.value or 0) < 0
    assert metrics["accuracy"].interval.reason == "of one run only EVD has an error"
    assert found.swaps == []
    scores = {(score.score, score.model) for score in found.scores}
    assert scores == {(s, m) for s in ("EVD", "accuracy") for m in ("all", "target-1")}


def test_bundles_can_be_compared(recorded: Path, tmp_path: Path) -> None:
    """A bundle stands for its study, against the study itself."""
    bundle = tmp_path / "x.tar.zst"
    words = ["pack", "small", "-o", str(bundle), "--root", str(recorded)]
    assert CliRunner().invoke(main, words).exit_code == 0
    result = diff(bundle, recorded / "cassettes/small")
    assert result.exit_code == 0, result.output
    assert "6 of 6 recordings are the same but for clock times" in " ".join(result.output.split())


def test_a_cut_bundle_is_not_compared(recorded: Path, tmp_path: Path) -> None:
    """On either side: exit 2, with LEFT-OUT.json and what to do."""
    bundle, whole = tmp_path / "d.tar.zst", recorded / "cassettes/small"
    words = ["pack", "small", "-o", str(bundle), "--root", str(recorded), "--drop", "subject-a"]
    assert CliRunner().invoke(main, words).exit_code == 0
    for sides in ((bundle, whole), (whole, bundle)):
        result = diff(*sides)
        assert result.exit_code == 2, result.output
        assert "LEFT-OUT.json" in result.output
        assert "Take the whole bundle" in result.output
