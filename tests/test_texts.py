"""Concepts and traps that users bring: used as they are, frozen, and told apart from mistakes."""

import json
from pathlib import Path

import pytest
from loopback import Loopback
from provider import Provider
from study_text import study_text

from harness.errors import UsageError
from harness.run.record import Recording
from harness.run.verdict import replay
from harness.run.wiring import foreseen
from harness.study.folder import Study

CONCEPTS = """
[[concept]]
id = "tides"
name = "Tides"
domain = "oceanography"
text = "Tides are the rise and fall of the sea, caused mostly by the Moon."
"""
CHECK = 'absence_check = { where = "nowhere", when = "2026-01-31", query = "x", found = "nothing" }'
TRAPS = f"""
[[pool]]
domain = "oceanography"
[[pool.experts]]
text = "Professor Maren Tidewell of Sandport"
difficulty = "near miss"
{CHECK}
[[pool.claims]]
text = "argues that {{phrase}} explains {{concept}}"
difficulty = "counterfactual"
{CHECK}
[[pool.phrases]]
text = "the lunar backwash"
difficulty = "near miss"
{CHECK}
"""
FILES = 'concept_file = "concepts.toml"\ntrap_file = "traps.toml"\n'


def write(root: Path, url: str, extra: str = FILES) -> Path:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True, exist_ok=True)
    text = study_text(
        url, subjects=("subject-a",), concepts=("tides",), levels="[0.5]", extra=extra
    )
    (folder / "study.toml").write_text(text)
    (folder / "concepts.toml").write_text(CONCEPTS)
    (folder / "traps.toml").write_text(TRAPS)
    return folder


def test_a_users_own_concept_and_traps_are_recorded(tmp_path: Path) -> None:
    """The dialogue is about the user's text, the trap is from the user's pool; both are frozen."""
    with Loopback(Provider()) as server:
        folder = write(tmp_path, server.url)
        assert Recording(Study(folder)).run().problems == []
        sent = b"\n".join(received.body for received in server.received).decode()
    assert "Tides are the rise and fall" in sent
    assert "Professor Maren Tidewell of Sandport" in sent
    assert "argues that the lunar backwash explains Tides" in sent
    (folder / "concepts.toml").write_text("changed afterwards")
    assert replay(Study(folder), verify_checksums=False).ok
    frozen = json.loads((folder / "materials.json").read_text())
    assert [pool["domain"] for pool in frozen["pools"]] == ["oceanography"]


def test_a_concept_without_traps_is_a_mistake(tmp_path: Path) -> None:
    """A domain that has no pool is told with what there is."""
    folder = write(tmp_path, "http://127.0.0.1:1", 'concept_file = "concepts.toml"\n')
    with pytest.raises(UsageError, match=r"no traps for its domain 'oceanography'.*trap_file"):
        foreseen(Study(folder))


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("concepts.toml", "domain =", "domane =", "domane"),
        ("concepts.toml", 'id = "tides"', 'id = "the/tides"', "the/tides"),
        ("traps.toml", "near miss", "nearly", "difficulty"),
        ("traps.toml", "[[pool.phrases]]", "[[pool.phases]]", "phases"),
    ],
)
def test_a_mistake_is_told_with_its_file(
    tmp_path: Path, name: str, old: str, new: str, told: str
) -> None:
    """The message names the user's file and the key."""
    folder = write(tmp_path, "http://127.0.0.1:1")
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))
    with pytest.raises(UsageError) as caught:
        foreseen(Study(folder))
    assert name in str(caught.value)
    assert told in str(caught.value)
