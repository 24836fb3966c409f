"""Recording what is recorded already: nothing is sent, nothing is written, nothing is blessed."""

from pathlib import Path

from click.testing import CliRunner, Result
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_text import study_text

from harness.cli import main
from harness.recording import checksums


def record_again(root: Path) -> Result:
    return CliRunner().invoke(main, ["record", "small", "--root", str(root)])


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_finished_study_stays_as_it_is(recorded: Path) -> None:
    """No call is sent, no byte changes, and the fingerprint is said again."""
    before = contents(recorded)
    done = record_again(recorded)
    assert done.exit_code == 0
    assert "calls sent 0" in done.output
    assert checksums.fingerprint(recorded, "small") in done.output
    assert contents(recorded) == before


def test_an_edited_study_is_not_blessed(recorded: Path) -> None:
    """A cassette edited in a still valid way is named; its manifest is not made anew."""
    cassette = next((recorded / "cassettes/small").glob("subject-a--*.json"))
    data = cassette.read_bytes()
    cassette.write_bytes(data.replace(b'"message":"OK"', b'"message":"Okay"', 1))
    before = contents(recorded)
    assert before[cassette] != data
    done = record_again(recorded)
    assert done.exit_code == 1
    assert f"{cassette.name}: changed" in done.output
    assert "results.json first" in done.output
    assert contents(recorded) == before


def test_results_are_made_anew_where_they_were_deleted(recorded: Path) -> None:
    """Deleting results.json asks for new ones, from the cassettes, without a call."""
    before = contents(recorded)
    (recorded / "cassettes/small/results.json").unlink()
    done = record_again(recorded)
    assert done.exit_code == 0
    assert contents(recorded) == before


def test_an_invalid_study_is_recorded_and_said(tmp_path: Path) -> None:
    """Too many missing judgements: everything is kept, and the exit code is 1 with the reason."""

    def reply(received: Received) -> Answer:
        if received.json()["model"] == "judge-c":
            return json_answer({"error": "policy"}, status=400)
        return Provider()(received)

    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(reply) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.5]")
        (folder / "study.toml").write_text(text)
        done = CliRunner().invoke(main, ["record", str(folder), "--keep-going"])
    assert done.exit_code == 1
    assert "invalid: 5 of 15 judgements are missing" in done.output
    done = CliRunner().invoke(main, ["replay", str(folder), "--verify-checksums"])
    assert done.exit_code == 1
    assert "5 of 15 judgements are missing" in done.output
    assert "numbers identical" in done.output
