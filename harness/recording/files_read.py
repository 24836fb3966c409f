"""Files that were read lately, so that those who need one after another read and decode it once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

MOST_BYTES = 2**25  # of all files that are kept; their objects take about as much again

Content = TypeVar("Content")


class StateOnDisk(NamedTuple):
    """What tells one state of a file from another without reading it."""

    path: Path
    inode: int
    size: int
    changed: int


class ReadFile(NamedTuple, Generic[Content]):
    """A file's bytes and what was made of them."""

    data: bytes
    content: Content


class FilesRead(Generic[Content]):
    """Files and their contents, the latest up to so many bytes; one that changed is read again."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._files: OrderedDict[StateOnDisk, ReadFile[Content]] = OrderedDict()

    def read(self, path: Path, decode: Callable[[Path, bytes], Content]) -> ReadFile[Content]:
        """Return a file's bytes and content; raises what `decode` raises."""
        state = _state(path)
        if state in self._files:
            self._files.move_to_end(state)
            return self._files[state]
        data = path.read_bytes()
        file = ReadFile(data, decode(path, data))
        self._files[state] = file
        self._bytes += len(data)
        while self._bytes > self._most_bytes:
            _, oldest = self._files.popitem(last=False)
            self._bytes -= len(oldest.data)
        return file


def _state(path: Path) -> StateOnDisk:
    status = path.stat()
    return StateOnDisk(path, status.st_ino, status.st_size, status.st_mtime_ns)
