"""Whatever gives numbers or words of a study checks first that they are the published ones."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from study_folder import unpublish

from harness import CognitiveProfiler
from harness.cli import main
from harness.errors import CheckFailed
from harness.recording import cassette as cassettes
from harness.recording import checksums
from harness.run.checked import checked
from harness.run.verdict import replay
from harness.study.folder import Study

CELL = "subject-a--harm-principle--c0.5--paper--r1"
COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "analyze": lambda _: ["analyze", "small"],
    "analyze --json": lambda _: ["analyze", "small", "--json"],
    "export csv": lambda out: ["export", "small", "--format", "csv", "-o", str(out / "x.csv")],
    "export eee": lambda out: ["export", "small", "--format", "eee", "-o", str(out / "eee")],
    "diff": lambda _: ["diff", "small", "small"],
    "show": lambda _: ["show", "small", f"{CELL}:turn-1/subject"],
    "replay": lambda _: ["replay", "small"],
    "pack": lambda out: ["pack", "small", "-o", str(out / "x.tar.zst")],
    "calibrate": lambda out: ["calibrate", "small", "export", "-o", str(out / "sheet.csv")],
}


def small(root: Path) -> Study:
    return Study(root / "cassettes/small")


def run(root: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--root", str(root)])


def alter(path: Path, call: str, pattern: str, new: str) -> None:
    """Change the answer to one call in a cassette, and nothing else."""
    cassette = cassettes.load(path)
    [interaction] = [one for label, one in cassette.labelled() if label == call]
    text = interaction.response.body["string"]
    interaction.response.body["string"] = re.sub(pattern, new, text, count=1)
    assert interaction.response.body["string"] != text
    cassette.save(path)


def alter_scores(study: Study) -> str:
    """Change a judge's score in one cassette, and return the file's path from the root."""
    path = study.cassette(next(cell for cell in study.cells() if cell.name == CELL))
    alter(path, "turn-3/judge/judge-b", r'far\\": [0-9.]+', r'far\\": 0.123')
    return path.relative_to(study.root).as_posix()


def reseal(study: Study) -> None:
    """Make the manifests anew, as somebody does who changes files and hides it."""
    checksums.write_manifests(study.root, study.folder)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_altered_cassette_stops_every_command_by_its_name(
    recorded: Path, tmp_path: Path, name: str
) -> None:
    """Manifest and results untouched, one score changed: exit 1, the file named, no output."""
    path = alter_scores(small(recorded))
    out = tmp_path / "out"
    out.mkdir()
    done = run(recorded, *COMMANDS[name](out))
    assert done.exit_code == 1
    assert path in done.output
    assert "changed" in done.output
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["analyze", "analyze --json", "export csv", "export eee", "diff", "show", "replay"]
)
def test_without_verification_every_output_says_unverified(
    recorded: Path, tmp_path: Path, name: str
) -> None:
    """--no-verify-checksums computes from the files as they are, and each output says so."""
    alter_scores(small(recorded))
    out = tmp_path / "out"
    out.mkdir()
    done = run(recorded, *COMMANDS[name](out), "--no-verify-checksums")
    written = [path.read_text("utf-8") for path in out.rglob("*") if path.is_file()]
    assert done.exit_code == (1 if name == "replay" else 0), done.output
    assert "unverified" in done.output
    assert all("unverified" in text for text in written)


def test_a_profile_is_checked_like_a_command(recorded: Path) -> None:
    """An altered cell raises; without verification the profile says what it is."""
    study = small(recorded)
    sound = CognitiveProfiler("subject-a", str(study.folder)).run_complete_assessment()
    assert sound.verification == "verified"
    path = alter_scores(study)
    with pytest.raises(CheckFailed, match=re.escape(path)):
        CognitiveProfiler("subject-a", str(study.folder)).run_complete_assessment()
    loose = CognitiveProfiler("subject-a", str(study.folder), verify_checksums=False)
    assert loose.run_complete_assessment().verification.startswith("unverified")


def test_a_manifest_made_anew_does_not_help_altered_scores(recorded: Path) -> None:
    """The results are compared with results.json, and those of a profile's cells too."""
    study = small(recorded)
    alter_scores(study)
    reseal(study)
    with pytest.raises(CheckFailed, match=r"results\.json: is not what the recording gives now"):
        checked(study)
    with pytest.raises(CheckFailed, match="the first that differs is cells"):
        CognitiveProfiler("subject-a", str(study.folder)).run_complete_assessment()


def test_other_words_with_the_same_numbers_are_told(recorded: Path) -> None:
    """A judge's reason is bound by the transcript's hash, whatever the manifest says."""
    study = small(recorded)
    path = study.cassette(study.cells()[0])
    alter(path, "turn-3/judge/judge-b", "decides", "is flawless")
    reseal(study)
    verdict = replay(study)
    assert (verdict.ok, verdict.numbers, verdict.words) == (False, "identical", "different")
    assert study.cells()[0].name in verdict.problems[0]


def test_a_study_without_a_manifest_is_unverified(recorded: Path) -> None:
    """Nothing to compare with is said, not passed over."""
    study = small(recorded)
    unpublish(study)
    assert checked(study).verification.startswith("unverified: there is no manifest")
    assert replay(study).checksums == "none (unverified)"


def test_results_that_claim_an_older_form_do_not_unbind_the_words(recorded: Path) -> None:
    """Only cassettes of format 1 have results without hashes of words; here they are missed."""
    study = small(recorded)
    results = json.loads(study.results.read_text())
    results["results_version"] = 1
    del results["transcripts"]
    study.results.write_text(json.dumps(results))
    reseal(study)
    verdict = replay(study)
    assert not verdict.ok
    assert "transcripts" in verdict.first_difference


def test_a_format_1_study_says_that_its_words_are_not_bound() -> None:
    """A study of the older format replays, and the verdict says what it does not check."""
    root = Path(__file__).parent.parent.parent
    verdict = replay(Study(root / "cassettes" / "ddft-local"))
    assert (verdict.ok, verdict.numbers, verdict.words) == (True, "identical", "not bound")
    assert "words not bound" in verdict.line


@pytest.mark.parametrize("words", [("verify",), ("pack", "-o", "x.tar.zst")])
def test_a_false_digest_of_format_1_is_named(
    tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the manifests made anew, `verify` and `pack` still derive the digests and compare."""
    root = Path(__file__).parent.parent.parent
    shutil.copytree(root / "cassettes" / "ddft-local", tmp_path / "cassettes" / "ddft-local")
    (tmp_path / "checksums").mkdir()
    study = Study(tmp_path / "cassettes" / "ddft-local")
    path = study.cassette(study.cells()[0])
    text = path.read_text("utf-8")
    path.write_text(re.sub(r'"digest":"1:[0-9a-f]{32}"', f'"digest":"1:{"0" * 32}"', text, count=1))
    reseal(study)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, [words[0], "ddft-local", *words[1:]])
    assert done.exit_code == 1
    assert "the digest beside the request is not that request's" in done.output
    assert path.name in done.output


@pytest.mark.parametrize("name", ["diff", "from Python"])
def test_a_study_file_with_another_grid_is_named(recorded: Path, name: str) -> None:
    """A concept in other letters has no recorded cell: that the file changed is said first."""
    study = small(recorded)
    path = study.folder / "study.toml"
    path.write_text(path.read_text("utf-8").replace("harm-principle", "harm-principles"), "utf-8")
    if name == "diff":
        done = run(recorded, "diff", "small", "small")
        assert done.exit_code == 1
        assert "study.toml: changed" in done.output
    else:
        with pytest.raises(CheckFailed, match=r"study\.toml: changed"):
            CognitiveProfiler("subject-a", str(study.folder))
