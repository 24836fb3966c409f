"""A judge that gives nothing usable any more is noticed before all of the study is paid for."""

from pathlib import Path

from click.testing import CliRunner
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_text import study_text

from harness.cli import main
from harness.run.verdict import replay
from harness.study.folder import Study


def silent(received: Received) -> Answer:
    """Play the provider with one judge that says nothing."""
    if received.json()["model"] != "judge-b":
        return Provider()(received)
    return json_answer({"choices": [{"message": {"content": "no"}, "finish_reason": "stop"}]})


def write(root: Path, url: str, record: str) -> Path:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True)
    extra = f"missing_limit = 0.5\n[record]\nworkers = 1\n{record}"
    (folder / "study.toml").write_text(study_text(url, subjects=("subject-a",), extra=extra))
    return folder


def test_a_silent_judge_stops_the_recording_until_somebody_says_go_on(tmp_path: Path) -> None:
    """After seven unusable replies: exit 3, naming the judge; --keep-going records to the end."""
    with Loopback(silent) as server:
        folder = write(tmp_path, server.url, "stop_after_unusable = 7\n")
        done = CliRunner().invoke(main, ["record", str(folder)])
        assert done.exit_code == 3
        assert "judge-b gave 7 unusable replies in a row" in done.output
        for command in ("show mine", "check mine", "record mine --keep-going"):
            assert f"`harness {command}`" in done.output
        assert server.answered < 3 * 30
        assert CliRunner().invoke(main, ["record", str(folder)]).exit_code == 3
        assert server.answered < 3 * 30
        done = CliRunner().invoke(main, ["record", str(folder), "--keep-going"])
        assert done.exit_code == 0
        assert server.answered == 3 * 30
    verdict = replay(Study(folder), verify_checksums=True)
    assert verdict.ok
    assert verdict.valid


def test_a_usable_reply_starts_the_count_anew(tmp_path: Path) -> None:
    """A judge that fails now and then is no reason to stop."""
    with Loopback(Provider(dirty=0.4)) as server:
        folder = write(tmp_path, server.url, "stop_after_unusable = 8\n")
        assert CliRunner().invoke(main, ["record", str(folder)]).exit_code == 0
