"""A recording on a bad disk: it stops in time, in words, and goes on when the disk is mended."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from loopback import Answer, Loopback, Received
from provider import Provider
from study_folder import (
    PACKAGE,
    command,
    final_files,
    harness,
    kept_calls,
    left_over,
    unwritable,
    write_study,
)

from harness.cli import main
from harness.recording.journal import read_journal
from harness.study.folder import Study


def record(study: Study, *words: str) -> Result:
    """Record from the command line."""
    return CliRunner().invoke(main, ["record", str(study.folder), *words])


def import_all(folder: Path, url: str) -> None:
    """Record something, so that nothing is left to import that nobody may not read."""
    assert record(write_study(folder / "first", url, levels="[1.0]")).exit_code == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[..., bool]]:
    """Give a function that mounts a small disk at tmp_path; False where that is not permitted."""
    mounted: list[str] = []

    def mount(options: str) -> bool:
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(tmp_path)]
        if mounted:
            words = ["mount", "-o", f"remount,{options}", str(tmp_path)]
        with contextlib.suppress(FileNotFoundError):
            if subprocess.run(words, capture_output=True).returncode == 0:
                mounted.append(options)
                return True
        return False

    yield mount
    if mounted:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


class Filling:
    """The provider, and a disk that is full from its n-th answer on."""

    def __init__(self, folder: Path, nth: int) -> None:
        self._provider, self._filler, self._nth = Provider(), folder / "filler", nth

    def __call__(self, received: Received) -> Answer:
        if received.number == self._nth:
            with self._filler.open("wb", buffering=0) as filler, contextlib.suppress(OSError):
                while True:
                    filler.write(bytes(4096))
        return self._provider(received)

    def free(self) -> None:
        """Make room again."""
        self._filler.unlink()


def test_a_full_disk_stops_all_and_loses_nothing_kept(
    tmp_path: Path, disk: Callable[[str], bool]
) -> None:
    """The disk is full when an answer is to be kept: exit 3, and no other cell pays for a call
    that could not be kept either. With room again, only what was not kept is sent.
    """
    small = disk("size=20m")
    filling = Filling(tmp_path, 8 if small else -1)
    with Loopback(filling) as server:
        study = write_study(tmp_path, server.url, levels="[0.0, 0.25, 0.5, 0.75, 1.0]")
        words = ("record", "--workers", "2")
        done = harness(study, *words) if small else limited(study, 16)
        assert done.returncode == 3, done.stderr
        assert "no room left to write" in done.stderr or "MB free" in done.stderr
        assert "Traceback" not in done.stderr
        sent, kept = len(server.received), kept_calls(study).total()
        assert 0 < sent - kept <= 2
        if small:
            filling.free()
        assert harness(study, "record").returncode == 0
        assert len(server.received) == 5 * 25 + sent - kept
    assert left_over(study) == []


def limited(study: Study, kilobytes: int) -> subprocess.CompletedProcess[str]:
    """Record in a process whose files may not grow beyond a size."""
    words = ["bash", "-c", f'ulimit -f {kilobytes}; exec "$@"', "bash"]
    return subprocess.run(
        [*words, *command(study, "record", "--workers", "2")],
        cwd=PACKAGE,
        capture_output=True,
        text=True,
    )


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """Cut off in the middle of a journal's line, the recording stops with exit 3; the half line is
    gone, and the next `record` completes to the same files as an undisturbed one.
    """
    with Loopback(Provider()) as server:
        study = write_study(tmp_path / "a", server.url)
        done = limited(study, 40)
        assert done.returncode == 3, done.stderr
        assert "no room left to write" in done.stderr
        journals = [read_journal(path) for path in study.folder.glob("*.journal")]
        assert not any(journal.torn for journal in journals)
        sent, kept = len(server.received), kept_calls(study).total()
        assert 0 < sent - kept <= 2
        assert harness(study, "record").returncode == 0
        assert len(server.received) == 50 + sent - kept
        other = write_study(tmp_path / "b", server.url)
        assert record(other).exit_code == 0
        assert final_files(study) == final_files(other)


def test_too_little_room_sends_nothing(tmp_path: Path, disk: Callable[[str], bool]) -> None:
    """Less than 16 MB free: exit 3 before the first call."""
    small = disk("size=8m")
    with Loopback(Provider()) as server:
        study = write_study(tmp_path, server.url)
        done = record(study) if small else limited(study, 0)
        assert server.received == []
    assert (done.exit_code if isinstance(done, Result) else done.returncode) == 3
    assert "Traceback" not in str(done)


@pytest.mark.parametrize("begun", [False, True])
def test_a_folder_without_write_permission_sends_nothing(begun: bool, tmp_path: Path) -> None:
    """At the first record and at a later one: exit 2, the file that is refused, no call."""
    with Loopback(Provider()) as server:
        study = write_study(tmp_path / "a", server.url)
        import_all(tmp_path, server.url)
        if begun:
            assert record(study).exit_code == 0
            study.cassette(study.cells()[0]).unlink()
            for path in study.folder.glob("*.lock"):
                path.unlink()
        before = len(server.received)
        with unwritable(study.folder):
            done = record(study)
        assert done.exit_code == 2, done.output
        assert "cannot be written" in done.output
        assert "--root" in done.output
        assert len(server.received) == before


def test_a_read_only_disk_sends_nothing(tmp_path: Path, disk: Callable[[str], bool]) -> None:
    """The same on a disk that is mounted for reading only."""
    with Loopback(Provider()) as server:
        mounted = disk("size=40m")
        study = write_study(tmp_path / "a", server.url)
        import_all(tmp_path, server.url)
        before = len(server.received)
        with contextlib.ExitStack() as stack:
            if not (mounted and disk("ro")):
                stack.enter_context(unwritable(study.folder))
            done = record(study)
        assert len(server.received) == before
    assert done.exit_code == 2, done.output
    assert "cannot be written" in done.output
