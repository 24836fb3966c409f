"""A study as one file: the same bytes each time, and all that a reviewer needs in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Answer, Loopback, Received, json_answer
from packing import done, harness, unpacked
from provider import Provider
from study_folder import PACKAGE
from study_text import study_text

from harness.bundle.archive import packed, seal
from harness.protocols.ddft.study_table import ddft_plan
from harness.protocols.depthcharge.study_table import depthcharge_plan
from harness.recording import checksums
from harness.run.record import Recording
from harness.run.verdict import replay
from harness.study.folder import Study
from harness.version import VERSION

MADE_UP = "sk-" + "made0up1of2letters3and4digits"


@pytest.fixture(scope="module")
def bundle_once(recorded_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "x.tar.zst"
    done("pack", "small", "-o", path, "--root", recorded_once)
    return path


@pytest.fixture
def bundle(bundle_once: Path, tmp_path: Path) -> Path:
    """Give a copy of the small study's bundle, to do with as a test likes."""
    return Path(shutil.copyfile(bundle_once, tmp_path / "x.tar.zst"))


def test_a_study_packed_twice_is_the_same_file(bundle: Path, recorded: Path) -> None:
    """Byte by byte, from two copies of the study whose files have other times."""
    again = bundle.with_name("again.tar.zst")
    done("pack", "small", "-o", again, "--root", recorded)
    assert bundle.read_bytes() == again.read_bytes()


def test_a_bundle_replays_in_an_empty_folder_without_a_network(
    bundle: Path, recorded_once: Path, tmp_path: Path
) -> None:
    """Moved away, in a network namespace of its own: the verdict line, the study's fingerprint."""
    mark = checksums.fingerprint(recorded_once, "small")
    (empty := tmp_path / "empty").mkdir()
    bundle.rename(empty / "x.tar.zst")
    words = [sys.executable, "-m", "harness", "replay", "x.tar.zst", "--expect", mark]
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), "TMPDIR": str(tmp_path)}
    ran = subprocess.run(
        ["unshare", "-rn", *words], cwd=empty, env=env, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("small: OK: checksums ok, cells 6/6, calls matched ")
    assert f"numbers identical, words identical, fingerprint {mark}" in ran.stdout
    assert [path.name for path in empty.iterdir()] == ["x.tar.zst"]
    assert list(tmp_path.glob("harness-bundle-*")) == [], "it is unpacked for the replay alone"


def test_a_bundle_holds_what_a_reviewer_needs(bundle: Path, recorded: Path) -> None:
    """Study, manifests as published, versions, papers with the line that the replay prints."""
    top = unpacked(bundle)
    study = Study(top / "cassettes/small")
    for path in recorded.rglob("*.*"):
        assert (top / path.relative_to(recorded)).read_bytes() == path.read_bytes()
    texts = {path.name: path.read_text() for path in top.iterdir() if path.is_file()}
    verdict = replay(study, verify_checksums=True)
    line = verdict.line.replace(f", {verdict.seconds:.1f} s", ", N s")
    assert f"```\n{line}\n```" in texts["README.md"]
    assert "harness replay" in texts["README.md"]
    assert "10.5281/zenodo.0000000" in texts["APPENDIX.md"]
    assert "judge-a | 127.0.0.1" in texts["LICENCES.md"]
    assert texts["CITATION.cff"].startswith("cff-version: 1.2.0\n")
    assert "\nnumpy==" in texts["requirements.txt"]
    assert "subject-a" in texts["report.html"]
    assert "/tmp/" not in "".join(texts.values()), "nothing tells where it was packed"


def test_the_repositorys_own_papers_go_first(recorded: Path, tmp_path: Path) -> None:
    """Its requirements.lock and its CITATION.cff are taken over as they are."""
    lock = (PACKAGE / "requirements.lock").read_text()
    texts = {"requirements.lock": f"# mine\n{lock}", "CITATION.cff": "this is mine\n"}
    for name, text in texts.items():
        (recorded / name).write_text(text)
    done("pack", "small", "-o", tmp_path / "x.tar.zst", "--root", recorded)
    top = unpacked(tmp_path / "x.tar.zst")
    assert {name: (top / name).read_text() for name in texts} == texts
    assert "requirements.lock" in (top / "README.md").read_text()
    assert not (top / "requirements.txt").exists()


def test_another_projects_lock_is_not_taken_over(recorded: Path, tmp_path: Path) -> None:
    """One that pins other things, or asks for ours in any version: the installed ones are named."""
    (recorded / "requirements.lock").write_text("django==5.0\nnumpy>=1\nclick==8.1.8\n")
    done("pack", "small", "-o", tmp_path / "x.tar.zst", "--root", recorded)
    top = unpacked(tmp_path / "x.tar.zst")
    assert not (top / "requirements.lock").exists()
    assert "django" not in (top / "requirements.txt").read_text()
    assert "\nnumpy==" in (top / "requirements.txt").read_text()
    assert "requirements.lock" not in (top / "README.md").read_text()


def test_the_readme_says_how_to_get_the_program(bundle: Path) -> None:
    """That it is not inside, which it is, and from a clone to the replay in three commands."""
    readme = (unpacked(bundle) / "README.md").read_text()
    assert f"not in this bundle.** It is harness {VERSION}" in readme
    blocks = readme.split("```")[1::2]
    install, run, line = (block.strip().splitlines() for block in blocks)
    assert install[0].startswith("pip install -r BUNDLE/requirements.txt")
    assert install[1] == "pip install --no-deps ."
    assert run[0].startswith("harness replay --verify-checksums")
    assert line[0].startswith("small: OK")


def test_a_number_changed_inside_fails_though_all_sums_are_made_anew(
    bundle: Path, tmp_path: Path
) -> None:
    """Whoever makes a new bundle with new sums is found out by the recording."""
    top = unpacked(bundle)
    results = top / "cassettes/small/results.json"
    found = json.loads(results.read_text())
    found["subjects"][0]["danger_zone"]["value"] += 0.01
    results.write_text(json.dumps(found))
    checksums.write_manifests(top, top / "cassettes/small")
    seal(top)
    (forged := tmp_path / "forged.tar.zst").write_bytes(packed(top, "small"))
    result = harness("replay", forged)
    assert result.exit_code == 1
    assert "numbers different (first at subjects[subject-a].danger_zone.value" in result.output


def test_a_bundle_that_is_changed_is_refused(bundle: Path, tmp_path: Path) -> None:
    """One bit in the middle: exit 1 with a reason and no traceback; no file at all: exit 2."""
    data = bytearray(bundle.read_bytes())
    data[len(data) // 2] ^= 1
    bundle.write_bytes(data)
    for command in ("replay", "verify"):
        result = harness(command, bundle)
        assert result.exit_code == 1
        assert "refused" in result.output
    assert harness("replay", tmp_path / "none.tar.zst").exit_code == 2


def test_a_live_key_is_not_packed(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value of a variable that is named, wherever it stands, stops the packing."""
    bundle = tmp_path / "x.tar.zst"
    (recorded / "CITATION.cff").write_text("title: my-own-plain-key\n")
    monkeypatch.setenv("MADE_UP_VARIABLE", "my-own-plain-key")
    words = ("pack", "small", "-o", bundle, "--root", recorded, "--key-env", "MADE_UP_VARIABLE")
    result = harness(*words)
    assert result.exit_code == 1
    assert "CITATION.cff: a key that is in use" in result.output
    assert "my-own-plain-key" not in result.output
    assert not bundle.exists()


@pytest.mark.parametrize("before", [" My key is ", "\n", "\t", "cl\u00e9", '{"x": "\n'])
def test_what_looks_like_a_key_is_not_packed(tmp_path: Path, before: str) -> None:
    """A model that says one: named with its call; let through only where somebody says so."""
    folder = tmp_path / "cassettes/small"
    folder.mkdir(parents=True)
    provider = Provider()

    def answer(received: Received) -> Answer:
        given = provider(received)
        if received.json()["model"] != "subject-a":
            return given
        reply = json.loads(given.body)
        reply["choices"][0]["message"]["content"] += f"{before}{MADE_UP}."
        return json_answer(reply)

    with Loopback(answer) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.5]")
        (folder / "study.toml").write_text(text)
        assert Recording(Study(folder)).run().problems == []
    words = ("pack", folder, "-o", tmp_path / "x.tar.zst")
    result = harness(*words)
    assert result.exit_code == 1
    assert "call turn-1/subject: sk-mad..., which looks like a key" in result.output
    assert MADE_UP not in result.output
    assert not (tmp_path / "x.tar.zst").exists()
    done(*words, "--no-key", MADE_UP)


def test_an_unfinished_study_is_not_packed(recorded: Path, tmp_path: Path) -> None:
    """Without a manifest exit 2, with a damaged cassette exit 1, and no file either way."""
    bundle = tmp_path / "x.tar.zst"
    one = next((recorded / "cassettes/small").glob("subject-a*"))
    data = one.read_bytes()
    one.write_bytes(data[:-10])
    result = harness("pack", "small", "-o", bundle, "--root", recorded)
    assert result.exit_code == 1
    assert "not packed" in result.output
    one.write_bytes(data)
    shutil.rmtree(recorded / "checksums")
    assert harness("pack", "small", "-o", bundle, "--root", recorded).exit_code == 2
    assert harness("pack", "small", "-o", tmp_path / "x.zip", "--root", recorded).exit_code == 2
    assert list(tmp_path.glob("x.*")) == []


def test_a_sample_replays_alone_and_says_what_it_is(drill: Study, tmp_path: Path) -> None:
    """A quarter of eight runs: one domain of both targets, as a study of its own."""
    bundle = tmp_path / "s.tar.zst"
    done("pack", drill.folder, "-o", bundle, "--sample", 0.25)
    shutil.rmtree(drill.root)
    assert "drill-sample: OK: checksums ok, cells 2/2" in done("replay", bundle)
    top = unpacked(bundle)
    sample = Study(top / "cassettes/drill-sample")
    assert {cell.target for cell in depthcharge_plan(sample).cells()} == {"target-1", "target-2"}
    readme = (top / "README.md").read_text()
    assert "25.0% of the cells of `drill`" in readme
    assert "not the study's numbers" in readme


def test_a_sample_of_dialogues_keeps_subjects_and_outer_levels(
    recorded: Path, tmp_path: Path
) -> None:
    """Two thirds of three levels are the first and the last; the whole is no sample."""
    bundle = tmp_path / "s.tar.zst"
    done("pack", "small", "-o", bundle, "--root", recorded, "--sample", 0.6)
    assert "small-sample: OK: checksums ok, cells 4/4" in done("replay", bundle)
    ddft = ddft_plan(Study(unpacked(bundle) / "cassettes/small-sample"))
    assert (ddft.levels, ddft.subjects) == ([0.0, 1.0], ["subject-a", "subject-b"])
    whole = harness("pack", "small", "-o", bundle, "--root", recorded, "--sample", 1)
    assert whole.exit_code == 2
    assert "is the whole study" in whole.output
