"""The pytest plugin: a project's own tests, recorded once, then replayed without a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Answer, Loopback, Received, json_answer
from study_folder import PACKAGE

PROJECT = """
import httpx, os, pytest

URL = os.environ["URL"]


@pytest.mark.harness(mode="once")
def test_answer(harness):
    with httpx.Client(transport=harness, trust_env=False) as client:
        assert client.post(URL, json={"n": 1}).json() == {"number": 0}


def test_swallows(harness):
    client = httpx.Client(transport=harness, trust_env=False)
    for n in (1, 2)[: int(os.environ["ASKS"])]:
        try:
            client.post(URL, json={"n": n})
        except BaseException:
            pass


def test_goes_past():
    httpx.get(URL, trust_env=False)
"""


def number(received: Received) -> Answer:
    """Answer with the number of the request."""
    return json_answer({"number": received.number})


def run(folder: Path, url: str, asks: int, *options: str, recording: bool = False) -> str:
    """Run the project's tests and return what pytest printed."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p"]
    command += ["harness.pytest_plugin", "-q", *options, str(folder)]
    command += [] if recording else ["-p", "no:recording"]
    environment = {"PYTHONPATH": str(PACKAGE), "URL": url, "ASKS": str(asks), "PATH": ""}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write a project with tests of its own."""
    (tmp_path / "test_project.py").write_text(PROJECT)
    return tmp_path


def test_a_project_is_recorded_and_replayed(project: Path) -> None:
    """Recorded with --record-mode once; afterwards the same tests pass with no server."""
    with Loopback(number) as server:
        assert "3 passed" in run(project, server.url, 1, "--record-mode", "once")
    done = run(project, server.url, 1, "-k", "not past")
    assert "2 passed" in done
    assert sorted(path.name for path in (project / "cassettes" / "test_project").iterdir()) == [
        "test_answer.json",
        "test_swallows.json",
    ]


@pytest.mark.parametrize(("asks", "words"), [(2, "not recorded"), (0, "were not asked for")])
def test_what_a_program_swallows_fails_its_test(project: Path, asks: int, words: str) -> None:
    """A miss, and a recorded call that nobody asks for, are errors of the test."""
    with Loopback(number) as server:
        run(project, server.url, 1, "--record-mode", "once")
    done = run(project, server.url, asks, "-k", "swallows")
    assert "1 error" in done
    assert words in done


def test_beside_pytest_recording(project: Path) -> None:
    """Where that plugin is loaded too, its option serves both."""
    with Loopback(number) as server:
        done = run(project, server.url, 1, "--record-mode", "once", "-k", "answer", recording=True)
    assert "1 passed" in done


def test_block_network(project: Path) -> None:
    """With --block-network, what goes past the transport fails, and what is recorded does not."""
    with Loopback(number) as server:
        done = run(project, server.url, 1, "--block-network", "--record-mode", "once")
    assert "blocked by harness.offline()" in done
    assert "1 failed, 2 passed" in done
