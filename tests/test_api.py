"""The same from Python: record, replay, and the transport alone."""

import shutil
from pathlib import Path

import httpx
import pytest
from loopback import Loopback, json_answer
from provider import Provider
from study_text import study_text

import harness
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
        harness.nonsense  # noqa: B018
