"""An append-only file of lines that survives a kill; one fsync serves all who wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread

from harness.errors import DamagedFile, HarnessError
from harness.files import refused, sync_folder, write_all

MARK = 9  # bytes before a line's text: eight hexadecimal digits of its MD5, and a space


class ByteSpan(NamedTuple):
    """Where a text stands in a file, in bytes."""

    path: Path
    start: int
    size: int

    def read(self) -> bytes:
        """Return the text."""
        with self.path.open("rb") as file:
            file.seek(self.start)
            return file.read(self.size)


class Entries(NamedTuple):
    """What a journal holds: its header, its lines, and what a kill tore off."""

    header: str
    lines: list[bytes]
    torn: bytes
    sound_bytes: int


class _Waiting(NamedTuple):
    sealed: bytes
    written: Callable[[ByteSpan], None] | None
    ticket: Future[None]


class Journal:
    """An append-only file of lines, each on the disk before whoever appended it goes on.

    A line is eight hexadecimal digits of its MD5, a space, its text. The first holds the header:
    what the lines belong to. Only the last line can be torn; anything else is damage. Lines that
    wait at the same time are written together and share one fsync.
    """

    def __init__(self, path: Path, header: str) -> None:
        self.path = path
        self._refusal: HarnessError | None = None
        self._queue: list[_Waiting] = []
        self._queueing = threading.RLock()  # a transport that is let go of may come in between
        self._writing = threading.Lock()
        self._flush_asked = False
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
            sync_folder(self.path.parent)
            self.entries = self.entries._replace(header=header)

    def append(self, line: bytes) -> None:
        """Add one line (without a line end) and wait until it is on the disk.

        Raises what `refused` says, and from then on the same for every line. A part that was
        written is taken back: behind it, the next line would be damage in the middle.
        """
        self.wait(self.submit(line))

    def submit(
        self, line: bytes, written: Callable[[ByteSpan], None] | None = None
    ) -> Future[None]:
        """Queue one line, to be waited for; `written` is told where it stands once it does."""
        self.check()
        ticket: Future[None] = Future()
        with self._queueing:
            self._queue.append(_Waiting(_sealed(line), written, ticket))
        return ticket

    def wait(self, ticket: Future[None]) -> None:
        """Wait until a queued line is on the disk: whoever comes first writes for all."""
        if not ticket.done():
            self.flush()
        ticket.result()

    async def wait_async(self, ticket: Future[None]) -> None:
        """Do the same without holding up the event loop.

        A wait that is cancelled leaves the line in its place.
        """
        if not ticket.done():
            self.flush_soon()
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # another event loop, trio's
            await anyio.to_thread.run_sync(ticket.result)
        else:
            await asyncio.shield(asyncio.wrap_future(ticket))

    def flush_soon(self) -> None:
        """Let another thread write what is queued."""
        with self._queueing:
            if self._flush_asked:
                return
            self._flush_asked = True
        try:
            _disk_threads().submit(self.flush)
        except RuntimeError:  # the interpreter is ending
            self.flush()

    def flush(self) -> None:
        """Write what is queued."""
        with self._writing:
            with self._queueing:
                waiting, self._queue = self._queue, []
                self._flush_asked = False
            if waiting:
                self._write(waiting)

    def _write(self, waiting: list[_Waiting]) -> None:
        try:
            start = self._append_all(waiting)
        except BaseException as error:
            reason = refused(self.path, error) if isinstance(error, OSError) else error
            if isinstance(reason, HarnessError):
                self._refusal = reason
            for line in waiting:
                line.ticket.set_exception(reason)
            if reason is error:
                raise
            return
        for line in waiting:
            if line.written is not None:
                line.written(ByteSpan(self.path, start + MARK, len(line.sealed) - MARK - 1))
            start += len(line.sealed)
            line.ticket.set_result(None)

    def _append_all(self, waiting: list[_Waiting]) -> int:
        """Write lines and wait for the disk; return where the first one begins."""
        start = os.fstat(self._descriptor).st_size
        try:
            write_all(self._descriptor, b"".join(line.sealed for line in waiting))
            os.fsync(self._descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, start)
            raise
        return start

    def check(self) -> None:
        """Raise what an earlier line was refused with: nothing can be kept any more."""
        if self._refusal is not None:
            raise self._refusal

    def spans(self) -> Iterator[tuple[ByteSpan, bytes]]:
        """Yield the lines that were there at first, each with its place, and let go of them."""
        lines, self.entries = self.entries.lines, self.entries._replace(lines=[])
        start = len(_sealed(self.entries.header.encode()))
        for line in lines:
            yield ByteSpan(self.path, start + MARK, len(line)), line
            start += MARK + len(line) + 1

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


@cache
def _disk_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(4, "harness-disk")


os.register_at_fork(after_in_child=_disk_threads.cache_clear)  # a child has none of the threads


def _sealed(line: bytes) -> bytes:
    return hashlib.md5(line, usedforsecurity=False).hexdigest()[:8].encode() + b" " + line + b"\n"


def read_journal(path: Path) -> Entries:
    """Read a journal; a torn last line comes apart, damage elsewhere raises DamagedFile."""
    sound, _, torn = path.read_bytes().rpartition(b"\n")
    if not sound:
        return Entries("", [], torn, 0)
    lines = list(_unsealed(path, sound))
    return Entries(lines[0].decode(), lines[1:], torn, len(sound) + 1)


def _unsealed(path: Path, sound: bytes) -> Iterator[bytes]:
    for number, sealed in enumerate(sound.split(b"\n"), 1):
        line = sealed[MARK:]
        if _sealed(line) != sealed + b"\n":
            raise DamagedFile(
                f"{path}, line {number}: damaged (its checksum does not fit). "
                "Recorded answers may be lost from here on, so nothing was changed. "
                "Put back a copy of the file, or start this cell anew with "
                "`harness record --restart CELL` (the file is moved aside)."
            )
        yield line
