"""Journals: lines that are there after a kill, and many that share one wait for the disk."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from study_folder import PACKAGE

from harness.errors import DamagedFile, UsageError
from harness.recording.journal import ByteSpan, Journal, read_journal


def test_a_journal_gives_back_its_lines(tmp_path: Path) -> None:
    """Header and lines come back; opening it again adds nothing."""
    path = tmp_path / "a.journal"
    for lines in ([], [b"one", b"two"]):
        journal = Journal(path, "header")
        assert journal.entries.lines == []
        for line in lines:
            journal.append(line)
        journal.close()
    entries = read_journal(path)
    assert (entries.header, entries.lines, entries.torn) == ("header", [b"one", b"two"], b"")


def test_a_journal_cut_anywhere_loses_only_its_end(tmp_path: Path) -> None:
    """Cut at any byte: the lines before the cut are there, the rest is named and taken off."""
    path = tmp_path / "a.journal"
    journal = Journal(path, "header")
    for line in (b"one", b"two"):
        journal.append(line)
    journal.close()
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        lines = whole[:cut].count(b"\n")
        again = Journal(path, "header")
        assert again.entries.header == "header"
        assert again.entries.lines == [b"one", b"two"][: max(0, lines - 1)]
        assert again.entries.torn == whole[:cut].rpartition(b"\n")[2]
        again.append(b"three")
        again.close()
        assert read_journal(path).lines[-1] == b"three"


def test_a_journal_with_a_changed_byte_is_damaged(tmp_path: Path) -> None:
    """Any byte of a complete line changed: DamagedFile names the line, and the file stays."""
    path = tmp_path / "a.journal"
    journal = Journal(path, "header")
    journal.append(b"one")
    journal.append(b"two")
    journal.close()
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 1
        path.write_bytes(changed)
        with pytest.raises(DamagedFile, match=f"{path}, line "):
            Journal(path, "header")
        assert path.read_bytes() == changed


def test_a_line_that_did_not_fit_is_taken_back(tmp_path: Path) -> None:
    """After a line that went to the disk in part, the journal is as before it, and takes no more:
    a later line would stand behind half a line.
    """
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from harness.errors import NoRoom; from harness.recording.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]), 'header'); journal.append(b'one')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "for line in (b'x' * 200, b'y'):\n"
        "    try: journal.append(line)\n"
        "    except NoRoom as error: print(error)\n"
    )
    path = tmp_path / "a.journal"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], cwd=PACKAGE, capture_output=True, text=True
    )
    assert done.stdout.count(f"{path}: no room left to write") == 2, done.stderr
    entries = read_journal(path)
    assert (entries.lines, entries.torn) == ([b"one"], b"")


def test_a_journal_that_cannot_be_removed(tmp_path: Path) -> None:
    """The refusal is put into words, and the file is closed once and not twice."""
    path = tmp_path / "a.journal"
    journal = Journal(path, "header")
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match=r"a\.journal: cannot be written"):
        journal.remove()
    with (tmp_path / "other").open("wb") as other:
        journal.close()
        other.write(b"still open")


def test_lines_that_wait_together_share_one_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred lines handed over before any is waited for take one fsync, and keep their order."""
    syncs: list[int] = []
    journal = Journal(tmp_path / "a.journal", "header")
    monkeypatch.setattr(os, "fsync", syncs.append)
    spans: list[ByteSpan] = []
    tickets = [journal.submit(b"line %d" % n, spans.append) for n in range(100)]
    for ticket in tickets:
        journal.wait(ticket)
    assert len(syncs) == 1
    assert [span.read() for span in spans] == [b"line %d" % n for n in range(100)]
    journal.close()
    assert read_journal(tmp_path / "a.journal").lines == [b"line %d" % n for n in range(100)]


def test_waiting_does_not_hold_up_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the disk is slow, the event loop goes on."""
    journal, on_disk = Journal(tmp_path / "a.journal", "header"), threading.Event()
    monkeypatch.setattr(os, "fsync", lambda descriptor: on_disk.wait(5))

    async def talk() -> None:
        waiting = asyncio.create_task(journal.wait_async(journal.submit(b"line")))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        on_disk.set()
        await waiting

    asyncio.run(talk())
    journal.close()
