"""Files that survive a kill: atomic writes, append-only journals, locks."""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import json
import os
import re
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.errors import DamagedFile, HarnessError, Incomplete, NoRoom, UsageError

ROOM_NEEDED = 16 * 2**20
NAME_LIMIT = 120


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that a reader finds the old content or the new, never a part.

    Raises NoRoom where the disk is full, UsageError where the folder refuses.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        _sweep(path)
        _write_synced(temporary, data)
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):  # on a read-only disk even this is refused
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise refused(path, error) from error
        raise


def _sweep(path: Path) -> None:
    """Remove what processes left that were killed while they wrote this file."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        pid = leftover.name.rsplit(".", 2)[1]
        if pid.isdecimal() and not _is_running(int(pid)):
            leftover.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _write_synced(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Make a folder and those above it; raises UsageError where that is refused."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused(path, error) from error


def refused(path: Path, error: OSError) -> HarnessError:
    """Put an operating system's refusal into words, with what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return NoRoom(
            f"{path}: no room left to write ({error.strerror}). Free some space; "
            "what was recorded before is kept, and `harness record` goes on."
        )
    return UsageError(
        f"{path}: cannot be written ({error.strerror}). "
        "Check that its folder is there and may be written to, or go elsewhere (studies: --root)."
    )


def check_room(folder: Path, needed: int = ROOM_NEEDED) -> None:
    """Raise NoRoom where an answer that is about to be paid for could not be kept."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise NoRoom(
            f"{folder}: only {free // 2**20} MB free, {needed // 2**20} MB are needed "
            "before a call is paid for. Free some space and start the same command "
            "again; it goes on from here."
        )


def move_aside(path: Path) -> Path:
    """Rename a file that is to be made anew, to a name nothing has yet; give that name."""
    stem = f"{path.name}.journal-{int(time.time())}"
    names = (
        path.with_name(f"{stem}{suffix}") for suffix in ("", *(f"-{n}" for n in range(2, 1000)))
    )
    aside = next(name for name in names if not name.exists())
    return path.replace(aside)


def file_name(label: str) -> str:
    """Turn any label into a file name that no other label gets, on any file system.

    Plain lower-case names stay as they are. Whatever is lost (case, punctuation, length) is told
    apart by eight hexadecimal digits of the label's MD5.
    """
    plain = re.sub(r"[^a-z0-9.=-]+", "_", label.lower()).strip("._")[:NAME_LIMIT]
    if plain and plain == label:
        return plain
    mark = hashlib.md5(label.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    return f"{plain}~{mark[:8]}"


class Entries(NamedTuple):
    """What a journal holds: its header, its lines, and what a kill tore off."""

    header: str
    lines: list[bytes]
    torn: bytes
    sound_bytes: int


class Journal:
    """An append-only file of lines, each flushed to the disk before the next is begun.

    A line is eight hexadecimal digits of its MD5, a space, its text. The first holds the header:
    what the lines belong to. Only the last line can be torn; anything else is damage.
    """

    def __init__(self, path: Path, header: str) -> None:
        self.path = path
        self._refusal: HarnessError | None = None
        try:
            self.entries = read_journal(path) if path.exists() else Entries("", [], b"", 0)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise refused(path, error) from error
        try:
            self._begin(header)
        except BaseException:
            self.close()
            raise

    def _begin(self, header: str) -> None:
        try:
            os.ftruncate(self._descriptor, self.entries.sound_bytes)
        except OSError as error:
            raise refused(self.path, error) from error
        if self.entries.sound_bytes == 0:
            self.append(header.encode())
            _sync_folder(self.path.parent)
            self.entries = self.entries._replace(header=header)

    def append(self, line: bytes) -> None:
        """Add one line (without a line end) and wait until it is on the disk.

        Raises what `refused` says, and from then on the same for every line. A part that was
        written is taken back: behind it, the next line would be damage in the middle.
        """
        self.check()
        sound_bytes = os.fstat(self._descriptor).st_size
        try:
            _write_all(self._descriptor, _sealed(line))
            os.fsync(self._descriptor)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, sound_bytes)
            if isinstance(error, OSError):
                self._refusal = refused(self.path, error)
                raise self._refusal from error
            raise

    def check(self) -> None:
        """Raise what an earlier line was refused with: nothing can be kept any more."""
        if self._refusal is not None:
            raise self._refusal

    def close(self) -> None:
        """Close the file and leave it; closing it again does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:  # closed twice, it could be a file that another thread has opened
            os.close(descriptor)

    def remove(self) -> None:
        """Close the file and delete it: what it held is safe elsewhere."""
        self.close()
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise refused(self.path, error) from error


def _sealed(line: bytes) -> bytes:
    return hashlib.md5(line, usedforsecurity=False).hexdigest()[:8].encode() + b" " + line + b"\n"


def read_journal(path: Path) -> Entries:
    """Read a journal; a torn last line is given apart, damage elsewhere raises DamagedFile."""
    complete, _, torn = path.read_bytes().rpartition(b"\n")
    if not complete:
        return Entries("", [], torn, 0)
    lines = list(_unsealed(path, complete))
    return Entries(lines[0].decode(), lines[1:], torn, len(complete) + 1)


def _unsealed(path: Path, lines: bytes) -> Iterator[bytes]:
    for number, sealed in enumerate(lines.split(b"\n"), 1):
        line = sealed[9:]
        if _sealed(line) != sealed + b"\n":
            raise DamagedFile(
                f"{path}, line {number}: damaged (its checksum does not fit). "
                "Recorded answers may be lost from here on, so nothing was changed. "
                "Put back a copy of the file, or start this cell anew with "
                "`harness record --restart CELL` (the file is moved aside)."
            )
        yield line


class Lock:
    """Keep other recorders off one cassette, on this machine, until released or dead.

    Raises Incomplete that says who holds it.
    """

    def __init__(self, path: Path) -> None:
        from filelock import FileLock, Timeout

        self._path, self._owner = path, path.with_name(path.name + ".owner")
        self._lock = FileLock(path, timeout=0, thread_local=False, is_singleton=False)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise Incomplete(
                f"{path.with_suffix('')}: {self._holder()} is recording this now. "
                "Wait for it to end, or stop it, and start again."
            ) from error
        except OSError as error:
            raise refused(path, error) from error
        me = {"pid": os.getpid(), "host": socket.gethostname()}
        try:
            self._owner.write_text(json.dumps(me))
        except OSError as error:
            self.release()
            raise refused(self._owner, error) from error

    def _holder(self) -> str:
        try:
            owner = json.loads(self._owner.read_text())
            return f"process {owner['pid']} on {owner['host']}"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def release(self) -> None:
        """Let others in; the file goes while it is held, so that nobody locks a dead one."""
        with contextlib.suppress(OSError):  # left behind, both files do no harm
            self._owner.unlink(missing_ok=True)
            self._path.unlink(missing_ok=True)
        self._lock.release()
