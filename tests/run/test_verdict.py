"""The verdict of a replay: each of its fields says something else when something else is true."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from study_folder import unpublish

from harness.cli import main
from harness.recording import cassette as cassettes
from harness.recording import checksums
from harness.recording.interaction import Interaction
from harness.run.verdict import Verdict, replay
from harness.study.folder import Study

CELL = "subject-a--harm-principle--c0--paper--r1"


def verdict(root: Path, **options: object) -> Verdict:
    return replay(Study(root / "cassettes/small"), verify_checksums=True, **options)  # type: ignore[arg-type]


def command(root: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--root", str(root)])


def again(root: Path) -> None:
    """Make the manifests anew, as someone would who edits a study and hides it."""
    checksums.write_manifests(root, root / "cassettes/small")


def edit(path: Path, old: str, new: str, count: int = 1) -> None:
    text = path.read_text("utf-8")
    assert old in text, f"{old!r} is not in {path}"
    path.write_text(text.replace(old, new, count), "utf-8", newline="")


def cell(root: Path, name: str = CELL) -> Path:
    return root / "cassettes/small" / f"{name}.json"


def test_an_untouched_study_is_ok(recorded: Path) -> None:
    """Every call matches, nothing is left over, no number differs, and the exit code is 0."""
    found = verdict(recorded)
    assert (found.checksums, found.numbers) == ("ok", "identical")
    assert (found.cells, found.planned) == (6, 6)
    assert found.calls == found.matched == 6 * 25
    assert (found.unused, found.network_attempts) == (0, 0)
    assert found.valid
    assert found.ok
    assert len(found.fingerprint) == 32
    done = command(recorded, "replay", "small", "--verify-checksums")
    assert done.exit_code == 0
    assert f"fingerprint {found.fingerprint}" in done.output
    assert "not that the recording is honest" in done.output


def test_a_failure_claims_nothing(recorded: Path) -> None:
    """A verdict that fails does not say what an OK one shows."""
    damage(recorded)
    assert "This shows" not in verdict(recorded).line


def test_md5sum_and_sha256sum_check_the_manifests(recorded: Path) -> None:
    """coreutils alone can tell that the files are those of the manifest."""
    for tool in ("md5", "sha256"):
        done = subprocess.run(
            [f"{tool}sum", "--strict", "--quiet", "-c", f"checksums/small.{tool}"], cwd=recorded
        )
        assert done.returncode == 0


def damage(root: Path) -> None:
    data = bytearray(cell(root).read_bytes())
    data[len(data) // 2] ^= 1
    cell(root).write_bytes(bytes(data))


def remove(root: Path) -> None:
    cell(root).unlink()


def add(root: Path) -> None:
    (root / "cassettes/small/new.json").write_text("{}")


def convert(root: Path) -> None:
    cell(root).write_bytes(cell(root).read_bytes().replace(b"\n", b"\r\n"))


@pytest.mark.parametrize(
    ("change", "path", "state"),
    [
        (damage, f"{CELL}.json", "changed"),
        (remove, f"{CELL}.json", "missing"),
        (add, "new.json", "extra"),
        (convert, f"{CELL}.json", "line endings changed"),
    ],
    ids=["one byte", "deleted", "added", "CRLF"],
)
def test_a_changed_file_is_named_for_what_it_is(
    recorded: Path, change: Callable[[Path], None], path: str, state: str
) -> None:
    """Checksums fail, exit 1, and both commands name the file and what became of it."""
    change(recorded)
    found = verdict(recorded)
    assert found.checksums == "failed"
    assert found.problems == [f"checksums: cassettes/small/{path}: {state}"]
    assert found.exit_code == 1
    done = command(recorded, "verify", "small")
    assert done.exit_code == 1
    assert f"cassettes/small/{path}: {state}\n" in done.output
    assert command(recorded, "replay", "small", "--verify-checksums").exit_code == 1


def test_a_changed_file_fails_the_sha256_manifest_alone(recorded: Path) -> None:
    """Somebody who edits only the MD5 manifest is found out by the other one."""
    edit(recorded / "cassettes/small/study.toml", "A small study", "A small stufy")
    md5 = checksums.manifest_path(recorded, "small").read_text()
    sha = checksums.manifest_path(recorded, "small", "sha256").read_text()
    again(recorded)
    assert checksums.manifest_path(recorded, "small").read_text() != md5
    checksums.manifest_path(recorded, "small", "sha256").write_text(sha)
    assert verdict(recorded).problems == ["checksums: cassettes/small/study.toml: changed"]


def test_a_changed_prompt_is_a_miss_with_its_diff(recorded: Path) -> None:
    """With the manifest made anew, one word of a prompt changed names the call and the word."""
    edit(recorded / "cassettes/small/materials.json", "oral examination", "oral interrogation")
    again(recorded)
    found = verdict(recorded)
    assert found.checksums == "ok"
    assert found.cells == 0
    assert "call turn-1/interviewer" in found.problems[0]
    assert "[examination]" in found.problems[0]
    assert "[interrogation]" in found.problems[0]
    assert "You write one question" not in found.problems[0]
    assert found.exit_code == 1


def test_an_altered_score_is_a_number_that_differs(recorded: Path) -> None:
    """One judge's score altered inside a cassette: the first number that differs is named."""
    kept = cassettes.load(cell(recorded))
    reply = kept.get("turn-3/judge/judge-b", 0)
    assert reply is not None
    body = json.loads(reply.response.body["string"])
    message = body["choices"][0]["message"]
    scores = json.loads(message["content"])
    scores["far"] = 0.123
    message["content"] = json.dumps(scores)
    reply.response.body["string"] = json.dumps(body)
    kept.save(cell(recorded))
    again(recorded)
    found = verdict(recorded)
    assert found.numbers == "different"
    assert found.matched == found.calls
    assert found.first_difference.startswith("subjects[subject-a]")
    assert any("numbers: the first that differs" in problem for problem in found.problems)
    assert found.exit_code == 1


def test_a_removed_call_is_named(recorded: Path) -> None:
    """A recorded call taken out is one that is not recorded."""
    rewrite(recorded, lambda kept: kept.response.call != "turn-5/judge/judge-c")
    found = verdict(recorded)
    assert "call turn-5/judge/judge-c: not recorded" in found.problems[0]
    assert found.exit_code == 1


def test_an_added_call_is_named_and_counted(recorded: Path) -> None:
    """A recorded call that nobody asks for fails the replay and is counted as unused."""
    kept = cassettes.load(cell(recorded))
    extra = kept.get("turn-5/subject", 0)
    assert extra is not None
    extra.response.call = "turn-6/subject"
    old = cassettes.load(cell(recorded))
    old.add(extra)
    old.save(cell(recorded))
    again(recorded)
    found = verdict(recorded)
    assert found.unused == 1
    assert found.matched == found.calls - 1
    assert "turn-6/subject" in found.problems[0]
    assert found.exit_code == 1


def rewrite(root: Path, keep: Callable[[Interaction], bool]) -> None:
    kept = cassettes.Cassette(entry for entry in cassettes.load(cell(root)) if keep(entry))
    kept.save(cell(root))
    again(root)


def test_a_cassette_of_no_cell_is_named(recorded: Path) -> None:
    """A cassette that belongs to no cell of the grid fails the replay, manifest or not."""
    other = recorded / "cassettes/small/subject-z--harm-principle--c0--paper--r1.json"
    other.write_bytes(cell(recorded).read_bytes())
    again(recorded)
    assert f"{other.name} is the cassette of no cell" in verdict(recorded).problems[0]


def test_expect_refuses_another_fingerprint(recorded: Path) -> None:
    """Files and manifest edited together pass every check but the one a paper printed."""
    before = checksums.fingerprint(recorded, "small")
    assert verdict(recorded, expect=before).ok
    edit(recorded / "cassettes/small/study.toml", "A small study", "A study")
    again(recorded)
    assert verdict(recorded).ok
    found = verdict(recorded, expect=before)
    assert found.problems[0].startswith(f"fingerprint: expected {before}, got ")
    done = command(recorded, "replay", "small", "--expect", before)
    assert done.exit_code == 1


def test_expect_alone_checks_the_files_too(recorded: Path) -> None:
    """--expect without --verify-checksums still finds a changed file."""
    before = checksums.fingerprint(recorded, "small")
    damage(recorded)
    assert command(recorded, "replay", "small", "--expect", before).exit_code == 1


def test_an_invalid_study_stays_invalid(recorded: Path) -> None:
    """Too many missing judgements make a study invalid, and a replay says the same."""
    study = recorded / "cassettes/small/study.toml"
    study.write_text(study.read_text() + "missing_limit = 0.0\n")
    kept = cassettes.load(cell(recorded))
    for name in ("turn-5/judge/judge-c",):
        entry = kept.get(name, 0)
        assert entry is not None
        entry.response.status.code = 400
    kept.save(cell(recorded))
    again(recorded)
    found = verdict(recorded)
    assert not found.valid
    assert found.problems[0].splitlines()[0] == (
        "study invalid: 1 of 90 judgements are missing (1.1%), 0.0% are allowed"
    )
    assert found.exit_code == 1


def test_rounding_differences_are_equal_not_identical(recorded: Path) -> None:
    """A number off by less than 1e-9 of itself is another platform's; the verdict says so."""
    results = recorded / "cassettes/small/results.json"
    document = json.loads(results.read_text())
    value = document["subjects"][0]["cri"]["value"]
    document["subjects"][0]["cri"]["value"] = value * (1 + 2e-10)
    results.write_text(json.dumps(document))
    again(recorded)
    found = verdict(recorded)
    assert found.numbers == "equal"
    assert found.ok
    assert "subjects[subject-a].cri.value" in found.line
    document["subjects"][0]["cri"]["value"] = value * (1 + 2e-9)
    results.write_text(json.dumps(document))
    again(recorded)
    assert verdict(recorded).numbers == "different"


def test_missing_results_are_said(recorded: Path) -> None:
    """Without results.json there is nothing to compare, and that is a failure."""
    (recorded / "cassettes/small/results.json").unlink()
    again(recorded)
    found = verdict(recorded)
    assert found.numbers == "not compared"
    assert "results.json is missing" in found.problems[0]


def test_an_unfinished_study_is_incomplete(recorded: Path) -> None:
    """A study with cells still to record is exit 3, names the first, and --partial writes aside."""
    unpublish(Study(recorded / "cassettes/small"))
    cell(recorded).unlink()
    done = command(recorded, "replay", "small")
    assert done.exit_code == 3
    assert f"1 of 6 cells are not recorded yet, the first is {CELL}" in done.output
    done = command(recorded, "replay", "small", "--partial")
    assert done.exit_code == 0
    aside = json.loads((recorded / "cassettes/small/results.partial.json").read_text())
    assert (aside["planned"], aside["finished"], aside["missing"]) == (6, 5, [CELL])
    subject = aside["results"]["subjects"][0]
    assert subject["ci"]["reason"] == "incomplete: 2 of 3 cells"
    assert subject["ci"]["value"] is None


def test_json_says_the_same(recorded: Path) -> None:
    """--json gives every field of the verdict and the exit code."""
    done = command(recorded, "replay", "small", "--verify-checksums", "--json")
    [said] = json.loads(done.output)
    found = verdict(recorded)
    assert said["fingerprint"] == found.fingerprint
    assert (said["ok"], said["exit_code"], said["numbers"]) == (True, 0, "identical")
    assert said["matched"] == said["calls"] == 150


def test_replay_works_without_a_network_namespace(recorded: Path) -> None:
    """The whole command runs where the machine has no network at all."""
    program = "from harness.cli import main; main()"
    words = ["replay", "small", "--verify-checksums", "--root", str(recorded)]
    done = subprocess.run(
        ["unshare", "-rn", sys.executable, "-c", program, *words], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "network attempts 0" in done.stdout


@pytest.mark.parametrize("workers", ["1", "3"])
def test_attempts_are_counted_once_in_every_process(recorded: Path, workers: str) -> None:
    """One blocked attempt a cell is six attempts, whether in this process or in three others."""
    (recorded / "sitecustomize.py").write_text(
        "import socket, harness.protocols.ddft.dialogue.dialogue as protocol\n"
        "held = protocol.Dialogue.run\n"
        "def leaking(self):\n"
        "    try: socket.create_connection(('127.0.0.1', 9))\n"
        "    except BaseException: pass\n"
        "    return held(self)\n"
        "protocol.Dialogue.run = leaking\n"
    )
    program = "from harness.cli import main\nif __name__ == '__main__': main()"
    script = recorded / "program.py"
    script.write_text(program)
    words = ["replay", "small", "--workers", workers, "--root", str(recorded)]
    path = f"{recorded}:{Path(__file__).parents[2]}"
    done = subprocess.run(
        [sys.executable, str(script), *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert "network attempts 6," in done.stdout
    assert done.returncode == 1


def test_without_names_a_study_that_is_being_recorded_is_named_and_left_out(
    recorded: Path,
) -> None:
    """Replaying everything is about what is published; the open one can be asked for by name."""
    other = recorded / "cassettes" / "open"
    other.mkdir()
    (other / "study.toml").write_bytes((recorded / "cassettes/small/study.toml").read_bytes())
    (other / "materials.json").write_bytes(
        (recorded / "cassettes/small/materials.json").read_bytes()
    )
    for words in (["replay", "--verify-checksums"], ["verify"]):
        done = command(recorded, *words)
        assert done.exit_code == 0, done.output
        assert "open: is being recorded, left out" in done.output
    assert command(recorded, "replay", "open").exit_code == 3
    (recorded / "cassettes/small/results.json").unlink()
    assert command(recorded, "replay", "--verify-checksums").exit_code == 1
    checksums.manifest_path(recorded, "small").unlink()
    assert command(recorded, "replay").exit_code == 2


def test_another_model_in_the_study_than_in_the_recording_names_both(recorded: Path) -> None:
    """A study file that asks for another model is a miss that shows the old name and the new."""
    edit(recorded / "cassettes/small/study.toml", 'model = "judge-b"', 'model = "judge-9"')
    again(recorded)
    found = verdict(recorded)
    assert found.exit_code == 1
    assert "turn-1/judge/judge-b" in found.problems[0]
    assert "[b]" in found.problems[0]
    assert "[9]" in found.problems[0]
