"""Any label gets a file name of its own, on any file system."""

from __future__ import annotations

from pathlib import Path

from loopback import Loopback, json_answer
from recording.sessions import client, recorded

from harness.files import file_name

LABELS = [
    "model-a--harm-principle--c0.25--paper--r1",
    "org/model",
    "org_model",
    "org?model",
    "org model",
    "org:model",
    "Org/model",
    "ORG_MODEL",
    "org.model",
    "org..model",
    "../model",
    "..",
    ".",
    "/etc/passwd",
    "model.",
    "model",
    "_model",
    "model\x00",
    "model\n",
    "m" * 300,
    "m" * 299,
    "m" * 120,
    "M" * 120,
    "modèle",
    "mode\u0300le",
    "模型",
    "型模",
    "\ud800",
]


def test_distinct_and_harmless() -> None:
    """Labels that differ anywhere get names that differ even where case is lost."""
    names = [file_name(label) for label in LABELS]
    assert len({name.lower() for name in names}) == len(LABELS)
    for name in names:
        assert name == Path(name).name
        assert name not in ("", ".", "..")
        assert len(name.encode()) <= 200
        assert name.isascii() and name.isprintable()


def test_plain_names_stay() -> None:
    """A plain lower-case name is its own file name."""
    assert file_name(LABELS[0]) == LABELS[0]


def test_they_hold_cassettes(tmp_path: Path) -> None:
    """Every label's file can hold a cassette with its journal and lock beside it."""
    with Loopback(lambda received: json_answer(received.number)) as server:
        clients = [client(tmp_path / f"{file_name(label)}.json", "once") for label in LABELS]
        numbers = [live.post(server.url, content=b"x").json() for live in clients]
        for live in clients:
            live.close()
    kept = [recorded(tmp_path / f"{file_name(label)}.json") for label in LABELS]
    assert [int(one.body_bytes) for (one,) in kept] == numbers == list(range(len(LABELS)))
