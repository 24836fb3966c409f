"""Files that survive a kill: atomic writes, locks; and names for files."""

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
from collections.abc import Iterable
from pathlib import Path

from harness.errors import HarnessError, Incomplete, NoRoom, UsageError

ROOM_NEEDED = 16 * 2**20
NAME_LIMIT = 120


def write_atomic(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file, whole or in pieces, so that a reader finds the old content or the new one.

    Raises NoRoom where the disk is full, UsageError where the folder refuses.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        _sweep(path)
        _write_synced(temporary, [data] if isinstance(data, bytes) else data)
        os.replace(temporary, path)
        sync_folder(path.parent)
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


def _write_synced(path: Path, pieces: Iterable[bytes]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        for piece in pieces:
            write_all(descriptor, piece)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data to an open file."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
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
