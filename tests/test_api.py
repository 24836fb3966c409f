"""The same from Python: record, replay, and the transport alone."""

import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_text import study_text

import harness
from harness import errors, open_study
from harness.cli import main
from harness.errors import Miss


def test_record_and_replay_from_python(tmp_path: Path) -> None:
    """Two calls record a study and give its verdict."""
    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(Provider()) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.5]")
        (folder / "study.toml").write_text(text)
        outcome = harness.record("mine", root=tmp_path)
    verdict = harness.replay("mine", root=tmp_path, expect=outcome.fingerprint)
    assert verdict.ok
    assert verdict.numbers == "identical"


def test_a_study_may_be_moved(recorded: Path, tmp_path: Path) -> None:
    """Nothing in a study knows where it was recorded."""
    shutil.move(recorded, tmp_path / "elsewhere")
    assert harness.replay("small", root=tmp_path / "elsewhere").ok


def test_the_transport_alone(tmp_path: Path) -> None:
    """The README's second use: one class in somebody's own client."""
    path = tmp_path / "answers.json"
    with Loopback(lambda received: json_answer({"n": received.number})) as server:
        url = server.url
        with httpx.Client(transport=harness.RecordingTransport(path, mode="once")) as client:
            live = client.post(url, json={"a": 1}).json()
    client = httpx.Client(transport=harness.RecordingTransport(path))
    assert client.post(url, json={"a": 1}).json() == live
    with pytest.raises(Miss, match="not recorded"):
        client.post(url, json={"a": 2})
    with pytest.raises(Miss, match="not recorded"):
        client.close()


def test_an_unknown_name_is_an_attribute_error() -> None:
    """The package hands on its public names and no others."""
    with pytest.raises(AttributeError, match="nonsense"):
        harness.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_the_package_shows_its_public_names() -> None:
    """dir() lists exactly what is public, and every name of it can be had."""
    assert dir(harness) == sorted(harness.__all__)
    assert all(hasattr(harness, name) for name in harness.__all__)


def test_every_error_is_public() -> None:
    """Whatever class of harness/errors.py a call raises can be named by who catches it."""
    classes = {name for name, thing in vars(errors).items() if isinstance(thing, type)}
    assert classes <= set(harness.__all__)


USER = """\
from harness import CognitiveProfiler, RecordingTransport, open_study, replay
reveal_type(CognitiveProfiler)
reveal_type(replay("x"))
reveal_type(open_study("x").analyze().verification)
CognitiveProfiler(modle=3)
open_study("x").repley()
from harness import replai
"""


def test_the_types_of_the_public_names_reach_the_user(tmp_path: Path) -> None:
    """mypy tells a user's program what a call returns, and which names and arguments are wrong."""
    program = tmp_path / "user.py"
    program.write_text(USER)
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(program)]
    checked = subprocess.run(
        words, cwd=Path(harness.__file__).parents[1], capture_output=True, text=True
    )
    lines = checked.stdout.splitlines()
    assert checked.returncode == 1
    for number, expected in {
        2: "def (model: str, study: str",
        3: '"harness.run.verdict.Verdict"',
        4: '"str"',
        5: "modle",
        6: 'has no attribute "repley"',
        7: 'no attribute "replai"',
    }.items():
        of_number = [line for line in lines if line.startswith(f"{program}:{number}:")]
        assert expected in " ".join(of_number), checked.stdout
    assert Path(harness.__file__).with_name("py.typed").is_file()


def test_a_model_that_gives_itself_another_name_is_said(tmp_path: Path) -> None:
    """Recording ends with what to do where another model answered than was asked for."""
    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)
    provider = Provider()

    def renamed(received: Received) -> Answer:
        answer = provider(received)
        return replace(answer, body=answer.body.replace(b'"subject-a"', b'"cheap"'))

    with Loopback(renamed) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.5]")
        (folder / "study.toml").write_text(text)
        result = CliRunner().invoke(main, ["record", "mine", "--root", str(tmp_path)])
    assert result.exit_code == 0
    [warning] = [line for line in result.output.splitlines() if "warning" in line]
    assert warning.startswith("subject-a: asked for subject-a, cheap answered; warning:")
    assert 'served_as = ["cheap"] in [models.subject-a]' in warning


@pytest.fixture
def bundle(recorded: Path, tmp_path: Path) -> Path:
    """A bundle of the small study."""
    with open_study("small", root=recorded) as study:
        study.pack(tmp_path / "small.tar.zst")
    return tmp_path / "small.tar.zst"


def test_a_bundle_is_opened_as_a_folder_is(recorded: Path, bundle: Path, tmp_path: Path) -> None:
    """Verdict, numbers, tables, rows and exports of both are the same; then nothing is left."""
    with (
        open_study("small", root=recorded) as folder,
        open_study(bundle) as packed,
    ):
        assert folder.replay().ok
        assert packed.replay().line.split(", ")[:-1] == folder.replay().line.split(", ")[:-1]
        assert packed.tables() == folder.tables()
        assert packed.rows() == folder.rows()
        assert packed.materials == folder.materials
        assert packed.diff(folder).cells == len(folder.recorded_cells)
        place = packed.study.folder
        assert place.exists()
    assert not place.exists()


def test_the_functions_take_bundles_too(bundle: Path) -> None:
    """A path to a bundle is a study's name wherever one is replayed or scored."""
    assert harness.replay(str(bundle)).ok
    assert harness.score(str(bundle), {}).changes == []


def test_a_bundle_is_not_recorded_into(bundle: Path) -> None:
    """What would be lost with the folder that it is unpacked into is refused, with what to do."""
    with open_study(bundle) as study, pytest.raises(harness.UsageError, match="Unpack it"):
        study.recording()


def test_command_and_python_end_alike(recorded: Path, bundle: Path) -> None:
    """The verdict's exit code from Python is the command's: good, changed, and gone."""
    for name, words in (("small", ["--root", str(recorded)]), (str(bundle), [])):
        result = CliRunner().invoke(main, ["replay", name, *words])
        assert result.exit_code == harness.replay(name, root=recorded).exit_code == 0
    results = recorded / "cassettes/small/results.json"
    results.write_bytes(results.read_bytes().replace(b"0", b"1", 1))
    result = CliRunner().invoke(main, ["replay", "small", "--root", str(recorded)])
    assert result.exit_code == harness.replay("small", root=recorded).exit_code == 1
    with pytest.raises(harness.UsageError) as raised:
        harness.replay("gone", root=recorded)
    result = CliRunner().invoke(main, ["replay", "gone", "--root", str(recorded)])
    assert result.exit_code == raised.value.exit_code == 2
    assert str(raised.value) in result.output


COMMANDS = {
    "replay": ["replay", "{study}", "--workers", "1"],
    "analyze": ["analyze", "{study}"],
    "report": ["report", "{study}", "-o", "{out}/page.html"],
    "diff": ["diff", "{study}", "{study}"],
    "show": ["show", "{study}"],
    "csv": ["export", "{study}", "--format", "csv", "-o", "{out}/tables"],
    "eee": ["export", "{study}", "--format", "eee", "-o", "{out}/records"],
    "pack": ["pack", "{study}", "-o", "{out}/bundle.tar.zst"],
    "score": ["score", "{study}"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_each_file_of_a_study_once(
    command: str, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Materials and cassettes are read and decoded at most once, and hashed beside."""
    study = recorded / "cassettes/small"
    (tmp_path / "out").mkdir()
    reads: Counter[Path] = Counter()
    read_bytes = Path.read_bytes

    def counted(path: Path) -> bytes:
        if path.is_relative_to(study):
            reads[path] += 1
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", counted)
    words = [word.format(study=study, out=tmp_path / "out") for word in COMMANDS[command]]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert {
        path.name: n for path, n in reads.items() if n > 1 and path.name != "results.json"
    } == {}
