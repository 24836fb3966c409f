"""Drills as they are recorded, killed, changed and replayed."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from drilling import answering, mark, running, world, write_drill
from dying import Nursery, nursery
from loopback import Answer, Loopback, Received
from provider import finished
from study_folder import final_files, harness, left_over

from harness import DepthCharge
from harness import results as results_file
from harness.errors import Incomplete, UsageError
from harness.recording import cassette as cassettes
from harness.recording.interaction import stored_body
from harness.recording.journal import read_journal
from harness.run import replay as replaying
from harness.run.record import Recording
from harness.run.replay import replay_cells, results_of
from harness.run.verdict import replay
from harness.study.folder import Study

WORKERS = 8


@pytest.fixture(scope="module")
def drill(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A finished study: two targets, two domains, six questions, three depths."""
    with Loopback(answering(world(accuracy=(0.9, 0.7, 0.6)))) as server:
        study = write_drill(
            tmp_path_factory.mktemp("drill"),
            server.url,
            targets=("target-1", "target-2"),
            domains=("Medicine", "Ancient Rome"),
        )
        assert Recording(study).run(4).problems == []
    return study


def test_a_drill_replays_to_the_byte(drill: Study) -> None:
    """The verdict of a finished drill: every call matched, numbers identical, nothing sent."""
    verdict = replay(drill, verify_checksums=True)
    assert verdict.problems == []
    assert (verdict.cells, verdict.planned, verdict.unused) == (4, 4, 0)
    assert verdict.calls == verdict.matched > 100
    assert verdict.numbers == "identical"


def test_workers_do_not_change_a_byte(tmp_path: Path) -> None:
    """1 and 16 workers record the same files from the same world, but for clock times."""
    found = []
    with Loopback(answering(world(accuracy=(0.8,), absent=0.2, distracting=0.1))) as server:
        for workers in (1, 16):
            domains = ("Medicine", "Ancient Rome")
            study = write_drill(tmp_path / str(workers), server.url, questions=12, domains=domains)
            assert Recording(study).run(workers).problems == []
            found.append(final_files(study))
    assert found[0] == found[1]
    assert len(found[0]) == 4


def test_processes_do_not_change_a_number(drill: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay in two processes, a run each in turn, gives results.json byte for byte."""
    monkeypatch.setattr(replaying, "BATCH", 1)
    replays = replay_cells(drill, 2)
    assert len({one.process for one in replays}) == 2
    assert results_file.canonical(results_of(drill, replays)) == drill.results.read_bytes()


def test_the_first_call_that_differs_is_named(drill: Study, tmp_path: Path) -> None:
    """One answer of depth 1 is another: the first call that sees it is named, and the word."""
    study = _copied(drill, tmp_path)
    path = study.cassette(study.cells()[0])
    kept = list(cassettes.load(path))
    at = next(i for i, one in enumerate(kept) if one.response.call == "depth-01/question-02/target")
    changed = kept[at].body_bytes.replace(b"hangs together with", b"hangs somehow with")
    assert changed != kept[at].body_bytes
    kept[at].response.body = stored_body(changed)
    path.write_bytes(cassettes.to_bytes(kept))
    found = replay_cells(study, 1)
    problem = found[0].problem
    assert "depth-01/question-02/evaluator" in problem, "the evaluator sees the answer first"
    assert "[somehow]" in problem
    assert [one.problem for one in found[1:]] == ["", "", ""]


def test_a_call_of_a_child_names_the_answer_it_follows_from(drill: Study, tmp_path: Path) -> None:
    """A concept call of depth 2 is not what was recorded: its parent answer stands in the words."""
    study = _copied(drill, tmp_path)
    path = study.cassette(study.cells()[0])
    kept = list(cassettes.load(path))
    at = next(
        i for i, one in enumerate(kept) if (one.response.call or "").startswith("depth-02/path-01/")
    )
    del kept[at]
    path.write_bytes(cassettes.to_bytes(kept))
    problem = replay_cells(study, 1)[0].problem
    assert "depth-02/path-01/" in problem
    assert "follows from the answer to depth-01/question-" in problem
    assert "It hangs together with" in problem
    assert len(problem) < 4000


def _copied(study: Study, root: Path) -> Study:
    folder = root / "cassettes" / "drill"
    folder.mkdir(parents=True)
    for path in study.folder.glob("*"):
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    return Study(folder)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("replay", "--verify-checksums"), "OK: checksums ok, cells 4/4"),
        (("analyze",), "EVD"),
        (("analyze", "--json"), "{"),
        (("show",), "target-1--medicine--r1"),
        (("record", "--dry-run"), "4 cells"),
        (("verify",), "files ok"),
    ],
)
def test_the_commands_know_both_protocols(drill: Study, words: tuple[str, ...], said: str) -> None:
    """Each command works on a drill as on a dialogue."""
    done = harness(drill, *words)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


def test_rows_are_written_one_a_probe(drill: Study, tmp_path: Path) -> None:
    """The CSV of a drill has a line for each probe and the columns' names."""
    done = harness(drill, "analyze", "--csv", str(tmp_path / "probes.csv"))
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "probes.csv").read_text().splitlines()
    cells = json.loads(drill.results.read_bytes())["cells"]
    assert len(lines) == 1 + sum(len(cell["probes"]) for cell in cells)
    assert "error_type" in lines[0]


@pytest.mark.parametrize("words", [("rejudge", "--jury", "evaluator"), ("record", "--pilot")])
def test_what_is_there_for_dialogues_only_says_so(drill: Study, words: tuple[str, ...]) -> None:
    """A command that makes no sense for a drill is a usage error, never a traceback."""
    done = harness(drill, *words)
    assert done.returncode == 2
    assert "'depthcharge'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_api_drills_from_the_recording(drill: Study) -> None:
    """DepthCharge(target).probe(domain) gives the curve, every probe, and the statistics."""
    found = DepthCharge("target-2", study=str(drill.folder)).probe("Ancient Rome")
    recorded = json.loads(drill.results.read_bytes())
    run = next(
        run
        for run in recorded["runs"]
        if (run["cell"]["target"], run["cell"]["domain"]) == ("target-2", "Ancient Rome")
    )
    assert found.survival == pytest.approx([d["survival"]["value"] for d in run["depths"]])
    assert found.evd == pytest.approx(run["evd"]["value"]["value"])
    assert found.stop == run["stop"]
    assert {probe.depth for probe in found.probes} == set(range(1, len(found.survival) + 1))
    assert found.transcript.probes[0].asked.startswith("What is the code of")
    with pytest.raises(UsageError, match="Astronomy"):
        DepthCharge("target-2", study=str(drill.folder)).probe("Astronomy")
    with pytest.raises(UsageError, match="target-1, target-2"):
        DepthCharge("target-9", study=str(drill.folder))


def test_a_refused_key_stops_all_questions_at_once(tmp_path: Path) -> None:
    """401 for the target: nothing more is begun, and what is recorded stays for the next time."""

    def refusing(received: Received, answer: Answer) -> Answer:
        target = received.method == "POST" and received.json()["model"] == "target-1"
        return Answer(401, body=b"no such key") if target else answer

    with Loopback(answering(world(), refusing)) as server:
        study = write_drill(tmp_path, server.url, questions=30)
        with pytest.raises(Incomplete, match="401"):
            Recording(study).run(4)
        asked = sum(r.method == "POST" and r.json()["model"] == "target-1" for r in server.received)
    assert 1 <= asked <= 4
    assert study.cassette(study.cells()[0]).with_suffix(".journal").exists()


@pytest.fixture(scope="module")
def nest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    with nursery(tmp_path_factory.mktemp("nest")) as process:
        yield process


def test_a_long_drill_survives_kills(tmp_path: Path, nest: Nursery) -> None:
    """Over 2,000 calls, killed at up to 20 random moments: no kept answer is asked for again.

    At the end the files are those of a recording that nothing happened to.
    """
    with running(tmp_path) as url:
        log = tmp_path / "world.log"
        whole = write_drill(tmp_path / "whole", url, questions=30, max_depth=15)
        began = time.monotonic()
        assert nest.run("record", str(whole.folder), "--workers", str(WORKERS)) == 0, nest.said
        seconds, requests = time.monotonic() - began, finished(log)
        assert requests.total() > 2000
        study = write_drill(tmp_path / "killed", url, questions=30, max_depth=15)
        chance, kills = random.Random(20261129), 0
        words = ("record", str(study.folder), "--workers", str(WORKERS))
        for _ in range(20):
            settled, pid = Counter(_kept(study)), nest.start(*words)
            time.sleep(chance.uniform(0.02, seconds / 8))
            if not nest.kill(pid):
                break
            kills += 1
            assert not settled - Counter(_kept(study)), "an answer that was kept is lost"
        assert nest.run(*words) == 0, nest.said
        again = finished(log) - requests - requests
        print(f"{kills} kills, {again.total()} of {requests.total()} calls sent again")
        assert kills >= 5  # fewer where starting a process takes long
        assert again.total() <= kills * WORKERS
        assert left_over(study) == []
        assert final_files(study) == final_files(whole)


def _kept(study: Study) -> list[str]:
    """Give the marks of the requests whose answers are on the disk, in journal or cassette."""
    whole = study.cassette(study.cells()[0])
    path = whole.with_suffix(".journal")
    lines = read_journal(path).lines if path.exists() else []
    kept = [cassettes.from_line(line[7:]) for line in lines if line.startswith(b"answer ")]
    if whole.exists():
        kept = list(cassettes.load(whole))
    return [
        mark(one.request.method, one.request.uri.split("/", 3)[3], one.request_bytes)
        for one in kept
    ]
