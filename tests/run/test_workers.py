"""The number of workers decides nothing: the same bytes recorded, the same numbers replayed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_folder import final_files, write_study

from harness import results as results_file
from harness.recording import cassette as cassettes
from harness.run.record import Recording
from harness.run.replay import replay_cells, results_of
from harness.study.folder import Study

WORKERS = (1, 16)
KEY_NAME, KEY = "TEST_WORKERS_KEY", "sk-0123456789abcdef"
WIDE = "[0.0, 0.25, 0.5, 0.75, 1.0]"


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Study]]:
    """The same study, recorded with few and with many workers from the same provider."""
    with Loopback(Provider(delay=0.001, dirty=0.2)) as server:
        made = {}
        for workers in WORKERS:
            root = tmp_path_factory.mktemp(f"workers-{workers}")
            study = write_study(root, server.url, subjects=("subject-a", "subject-b"), levels=WIDE)
            assert Recording(study).run(workers).problems == []
            made[workers] = study
        yield made


def test_workers_do_not_change_a_byte(recordings: dict[int, Study]) -> None:
    """Cassettes, materials and results of 1 and of 16 workers are equal but for clock times."""
    few, many = (final_files(recordings[workers]) for workers in WORKERS)
    assert len(few) == 10 + 2
    assert few == many


def test_the_comparison_would_see_a_difference(recordings: dict[int, Study]) -> None:
    """What is blanked in the comparison is not the answers: one word more is a difference."""
    study = recordings[1]
    path = study.cassette(study.cells()[0])
    said = cassettes.masked(path.read_bytes())
    assert said.count(b'\\"choices\\"') == len(cassettes.load(path))
    assert b'"recorded_at":""' in said


@pytest.mark.parametrize(("recorded", "replayed"), [(1, 1), (16, 1), (16, 8)])
def test_processes_do_not_change_a_number(
    recordings: dict[int, Study], recorded: int, replayed: int
) -> None:
    """A replay in one process, and in eight, gives results.json byte for byte."""
    study = recordings[recorded]
    replays = replay_cells(study, replayed)
    assert [replay.problem for replay in replays] == [""] * 10
    found = results_of(study, replays)
    assert results_file.canonical(found) == study.results.read_bytes()


def test_recording_a_finished_study_changes_nothing(
    recordings: dict[int, Study], tmp_path: Path
) -> None:
    """A second `record` sends nothing (there is no server) and writes the same files again."""
    source = recordings[16]
    root = tmp_path / "again"
    shutil.copytree(source.root, root)
    study = Study(root / "cassettes" / "small")
    before = {path: path.read_bytes() for path in study.folder.iterdir() if path.is_file()}
    outcome = Recording(study).run()
    assert (outcome.tally.calls, outcome.tally.finished) == (0, 10)
    assert {path: path.read_bytes() for path in before} == before


def test_an_echoed_key_does_not_disturb_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some answers echo the key: with many workers, just those are marked as redacted."""
    monkeypatch.setenv(KEY_NAME, KEY)
    provider = Provider()

    def echo(received: Received) -> Answer:
        answer = provider(received)
        if received.json()["model"] == "judge-a":
            return answer
        body = answer.body.replace(b'"object"', f'"echo": "{KEY}", "object"'.encode())
        return Answer(200, headers=answer.headers, body=body)

    found = []
    with Loopback(echo) as server:
        for workers in WORKERS:
            study = write_study(tmp_path / str(workers), server.url, levels=WIDE)
            text = (study.folder / "study.toml").read_text()
            named = f'base_url = "{server.url}/v1"\napi_key_env = "{KEY_NAME}"'
            text = text.replace(f'base_url = "{server.url}/v1"', named)
            (study.folder / "study.toml").write_text(text)
            assert Recording(Study(study.folder)).run(workers).problems == []
            found.append(final_files(study))
    assert found[0] == found[1]
    assert not [name for name, data in found[1].items() if KEY.encode() in data]


def test_one_broken_cell_does_not_hold_up_the_others(tmp_path: Path) -> None:
    """One subject's endpoint fails for good: the other subject's cells are all recorded."""
    provider = Provider()

    def half(received: Received) -> Answer:
        broken = received.json()["model"] == "subject-b"
        return json_answer({"error": "down"}, 503) if broken else provider(received)

    with Loopback(half) as server:
        study = write_study(
            tmp_path, server.url, subjects=("subject-a", "subject-b"), record="tries = 1"
        )
        outcome = Recording(study).run(4)
        assert outcome.tally.finished == 2
        assert len(outcome.problems) == 2
        assert all("subject-b" in problem and "503" in problem for problem in outcome.problems)
        assert not study.results.exists()
        assert not (study.root / "checksums").exists()
