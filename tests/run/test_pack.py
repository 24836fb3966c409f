"""A study as one file: the same bytes each time, and all that a reviewer needs in it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from drilling import answering, world, write_drill
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_folder import PACKAGE
from study_text import study_text

from harness.bundle.archive import packed, seal
from harness.bundle.unpacking import unpack
from harness.cli import main
from harness.ddft.protocol import Dialogue
from harness.errors import Blocked
from harness.recording import cassette as cassettes
from harness.recording import checksums
from harness.run.record import Recording
from harness.run.verdict import replay
from harness.study import Study
from harness.version import VERSION

CLOSED = "CC BY-NC 4.0"
MADE_UP = "sk-" + "made0up1of2letters3and4digits"


def harness(*words: object) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, [str(word) for word in words])


def done(*words: object) -> str:
    """Run a command that must succeed, and give what it said."""
    result = harness(*words)
    assert result.exit_code == 0, result.output
    return result.output


def unpacked(bundle: Path) -> Path:
    (into := bundle.parent / f"{bundle.name}-out").mkdir()
    return unpack(bundle, into)


def licensed(received: Received, answer: Answer) -> Answer:
    """Give every third page of the world a licence that is not open."""
    if received.method == "POST" or answer.status != 200:
        return answer
    page = json.loads(answer.body)
    if "extract" in page and len(page["title"]) % 3 == 0:
        page["license"] = {"title": CLOSED}
    return json_answer(page)


@pytest.fixture(scope="module")
def drill_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("drill")
    with Loopback(answering(world(accuracy=(0.9, 0.5)), licensed)) as server:
        study = write_drill(
            root,
            server.url,
            targets=("target-1", "target-2"),
            domains=("Medicine", "Ancient Rome", "Law", "Physics"),
            questions=2,
            max_depth=2,
        )
        assert Recording(study).run(4).problems == []
    return root


@pytest.fixture
def drill(drill_once: Path, tmp_path: Path) -> Study:
    shutil.copytree(drill_once, tmp_path / "drilled")
    return Study(tmp_path / "drilled/cassettes/drill")


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
    assert f"numbers identical, fingerprint {mark}" in ran.stdout
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
    assert {cell.target for cell in sample.depthcharge.cells()} == {"target-1", "target-2"}
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
    ddft = Study(unpacked(bundle) / "cassettes/small-sample").ddft
    assert (ddft.levels, ddft.subjects) == ([0.0, 1.0], ["subject-a", "subject-b"])
    whole = harness("pack", "small", "-o", bundle, "--root", recorded, "--sample", 1)
    assert whole.exit_code == 2
    assert "is the whole study" in whole.output


def lacking(top: Path) -> list[dict[str, Any]]:
    bodies: list[dict[str, Any]] = json.loads((top / "LEFT-OUT.json").read_text())["bodies"]
    return bodies


def test_passages_that_are_not_open_are_left_out(drill: Study, tmp_path: Path) -> None:
    """No word of them is in any file; what lacks one is named, and the rest replays."""
    bundle = tmp_path / "d.tar.zst"
    said = done("pack", drill.folder, "-o", bundle, "--drop-bodies")
    top = unpacked(bundle)
    bodies = lacking(top)
    cells = {body["cell"] for body in bodies}
    assert 0 < len(cells) <= 8
    assert all(f"{cell}: " in said for cell in cells)
    assert any(CLOSED in body["why"] for body in bodies if body["part"] == "answer")
    assert any(body["part"] == "request" for body in bodies)
    codes = {code for cell in drill.cells() for code in _closed_texts(drill, cell)}
    everything = b"".join(path.read_bytes() for path in top.rglob("*") if path.is_file())
    assert codes
    assert not [code for code in codes if code.encode() in everything]
    assert CLOSED in (top / "LICENCES.md").read_text()
    assert "CC BY-SA 4.0" in (top / "LICENCES.md").read_text()
    result = harness("replay", bundle)
    assert result.exit_code == 3
    assert f"cells {8 - len(cells)}/8" in result.output
    assert "left out" in result.output
    if len(cells) < 8:
        assert "numbers identical" in result.output


def _closed_texts(study: Study, cell: Any) -> set[str]:
    """Give the sentences of the pages that are not open, as the source sent them."""
    found = set()
    for kept in cassettes.load(study.cassette(cell)):
        if kept.request.method == "GET" and CLOSED.encode() in kept.body_bytes:
            found.add(json.loads(kept.body_bytes)["extract"])
    return found


def test_what_was_left_out_can_be_compared(drill: Study, tmp_path: Path) -> None:
    """Sizes and sums of LEFT-OUT.json are those of the bodies in the whole recording."""
    import hashlib

    bundle = tmp_path / "d.tar.zst"
    done("pack", drill.folder, "-o", bundle, "--drop-bodies")
    [body, *_] = [one for one in lacking(unpacked(bundle)) if one["part"] == "answer"]
    [cell] = [cell for cell in drill.cells() if cell.name == body["cell"]]
    kept = cassettes.load(drill.cassette(cell)).get(body["call"], 0)
    assert kept is not None
    assert len(kept.body_bytes) == body["bytes"]
    assert hashlib.sha256(kept.body_bytes).hexdigest() == body["sha256"]


def test_a_models_answers_can_be_left_out(recorded: Path, tmp_path: Path) -> None:
    """Its own cells lose its words and every request; the other subject's replay."""
    study = Study(recorded / "cassettes/small")
    bundle = tmp_path / "d.tar.zst"
    done("pack", "small", "-o", bundle, "--root", recorded, "--drop", "subject-a")
    top = unpacked(bundle)
    everything = b"".join(path.read_bytes() for path in top.rglob("*") if path.is_file())
    for cell in study.ddft.cells():
        kept = cassettes.load(study.cassette(cell)).get("turn-1/subject", 0)
        assert kept is not None
        words = json.loads(kept.body_bytes)["choices"][0]["message"]["content"]
        assert (words.encode() in everything) == (cell.subject == "subject-b")
    result = harness("replay", bundle)
    assert result.exit_code == 3
    assert "cells 3/6" in result.output
    assert "numbers identical" in result.output
    assert harness("pack", "small", "-o", bundle, "--root", recorded, "--drop", "x").exit_code == 2


def test_what_stays_of_a_model_that_is_left_out_is_said(recorded: Path, tmp_path: Path) -> None:
    """Others may quote it: in the help, where it is packed, in the README and in LICENCES.md."""
    bundle = tmp_path / "d.tar.zst"
    words = ("pack", "small", "-o", bundle, "--root", recorded)
    assert "of other models stay, and may quote subject-a" in done(*words, "--drop", "subject-a")
    assert "answers of other models stay and may quote it" in " ".join(
        done("pack", "--help").split()
    )
    top = unpacked(bundle)
    for name in ("README.md", "LICENCES.md"):
        text = " ".join((top / name).read_text().split())
        assert "The answers of `subject-a` are left out" in text
        assert "The answers of the other models stay" in text
        assert "may quote or retell" in text
    assert json.loads((top / "LEFT-OUT.json").read_text())["models"] == ["subject-a"]
    done(*words[:3], tmp_path / "whole.tar.zst", *words[4:])
    assert "may quote" not in (unpacked(tmp_path / "whole.tar.zst") / "LICENCES.md").read_text()


def test_a_blocked_attempt_fails_the_replay_of_a_cut_bundle(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does of a whole one: three cells that try, exit 1 and not 3."""
    bundle = tmp_path / "d.tar.zst"
    done("pack", "small", "-o", bundle, "--root", recorded, "--drop", "subject-a")
    held = Dialogue.run

    def leaking(self: Dialogue) -> Any:
        with contextlib.suppress(Blocked):
            socket.create_connection(("127.0.0.1", 9))
        return held(self)

    monkeypatch.setattr(Dialogue, "run", leaking)
    result = harness("replay", bundle)
    assert result.exit_code == 1, result.output
    assert "FAILED" in result.output
    assert "network: 3 attempts were blocked" in result.output
    assert "numbers identical" in result.output


def test_a_damaged_bundle_with_bodies_left_out_fails(recorded: Path, tmp_path: Path) -> None:
    """Leaving out is no cover: a changed answer among what is there is exit 1."""
    bundle = tmp_path / "d.tar.zst"
    done("pack", "small", "-o", bundle, "--root", recorded, "--drop", "subject-a")
    top = unpacked(bundle)
    path = next((top / "cassettes/small").glob("subject-b*"))
    kept = cassettes.load(path)
    for one in kept:
        words = one.response.body["string"]
        one.response.body["string"] = words.replace('\\"far\\": 0.', '\\"far\\": 0.0')
    kept.save(path)
    checksums.write_manifests(top, top / "cassettes/small")
    seal(top)
    bundle.write_bytes(packed(top, "small"))
    result = harness("replay", bundle)
    assert result.exit_code == 1, result.output
    assert "FAILED" in result.output
    assert "numbers different" in result.output
