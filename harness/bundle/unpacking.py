"""A bundle as a folder again, nothing of it trusted: looked at whole before a file is written.

Only regular files under one folder come out. A path that leads elsewhere, a link, a device, a name
that stands twice, more bytes or files than a bundle has, a file that is not what SHA256SUMS says:
DamagedFile, which names it.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

import zstandard

from harness.bundle.archive import SEAL, SEALED, SUMS, files_in, sum_of
from harness.errors import DamagedFile, UsageError
from harness.files import refused
from harness.recording.checksums import read_manifest

STEP = 1024  # bytes read at a time: they never decompress to more than 32 MB
COPIED = 2**16
LONGEST_HEADER = 2**20
WIDEST_WINDOW = 2**27
LONGEST_NAME = 255  # bytes, on most file systems
LONGEST_PATH = 1024  # characters
DEEPEST = 16  # parts of a path; what `harness pack` writes has four
SHOWN = 80  # characters of a name that is refused
PLAIN_TYPES = (tarfile.REGTYPE, tarfile.AREGTYPE)


class BundleLimits(NamedTuple):
    """The most that a bundle may hold: bytes in all, files, and how many times its own size."""

    size: int = 4 * 2**30
    files: int = 200_000
    times: int = 100

    def size_of(self, compressed: int) -> int:
        """Return to how many bytes a bundle of so many may unpack; 16 MB are always let in."""
        return min(self.size, max(2**24, self.times * compressed))


LIMITS = BundleLimits()


def unpack(bundle: Path, into: Path, limits: BundleLimits = LIMITS) -> Path:
    """Unpack a bundle into an empty folder and give the one folder in it.

    Raises UsageError where there is no such file, DamagedFile where it is not what `harness pack`
    writes: nothing outside `into` has been written then, and what lies in it is not to be used.
    """
    try:
        with tempfile.TemporaryFile(dir=into) as file:
            _decompress(bundle, file, limits)
            with _opened(bundle, file) as tar:
                members = _checked(bundle, tar, limits)
                for member in members:
                    _extract(tar, member, into)
    except OSError as error:
        raise refused(into, error) from error
    top = into / members[0].name.partition("/")[0]
    _check_sums(bundle, top)
    return top


def _sound(bundle: Path) -> bytes:
    """Read a bundle's compressed frame, as it was sealed."""
    try:
        sealed = bundle.read_bytes()
    except OSError as error:
        raise UsageError(f"{bundle}: cannot be read ({error.strerror}).") from error
    data, seal = sealed[:-SEALED], sealed[-SEALED:]
    if seal != SEAL + hashlib.sha256(data).digest():
        raise _damaged(bundle, "it is cut off, changed, or no bundle: its seal does not fit")
    return data


def _decompress(bundle: Path, file: IO[bytes], limits: BundleLimits) -> None:
    """Write what a bundle holds to a file."""
    data = _sound(bundle)
    limit = limits.size_of(len(data))
    frame = zstandard.ZstdDecompressor(max_window_size=WIDEST_WINDOW).decompressobj()
    with io.BytesIO(data) as source:
        while step := source.read(STEP):
            if frame.eof:
                raise _damaged(bundle, "something follows its end")
            try:
                file.write(frame.decompress(step))
            except zstandard.ZstdError as error:
                raise _damaged(bundle, f"it does not decompress ({error})") from error
            if file.tell() > limit:
                raise _damaged(bundle, f"it holds more than {limit} bytes, the most that is let in")
    if not frame.eof:
        raise _damaged(bundle, "it is cut off")
    if frame.unused_data:
        raise _damaged(bundle, "something follows its end")


class _ShortHeaders:
    """A file for tarfile, which would hold a header of any announced length in memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self.seek, self.tell, self._file = file.seek, file.tell, file

    def read(self, size: int) -> bytes:
        if not 0 <= size <= LONGEST_HEADER:
            raise tarfile.ReadError(f"a header of {size} bytes")
        return self._file.read(size)


@contextmanager
def _opened(bundle: Path, file: IO[bytes]) -> Iterator[tarfile.TarFile]:
    file.seek(0)
    try:
        with tarfile.open(fileobj=_ShortHeaders(file), mode="r:") as tar:  # type: ignore[call-overload]
            yield tar
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        raise _damaged(bundle, f"it holds no sound tar archive ({error})") from error


def _checked(bundle: Path, tar: tarfile.TarFile, limits: BundleLimits) -> list[tarfile.TarInfo]:
    """Return the members of an archive, each of them looked at, before one is unpacked."""
    members: list[tarfile.TarInfo] = []
    files: set[PurePosixPath] = set()
    folders: set[PurePosixPath] = set()
    size = 0
    for member in tar:
        if fault := _fault(member, members):
            raise _damaged(bundle, f"{member.name[:SHOWN]!r} {fault}")
        path = PurePosixPath(member.name.casefold())
        if path in files or path in folders or files.intersection(path.parents):
            raise _damaged(bundle, f"{member.name!r} stands twice, or for a file and a folder")
        members.append(member)
        files.add(path)
        folders.update(path.parents)
        size += member.size
        if size > limits.size or len(members) > limits.files:
            raise _damaged(
                bundle, f"it holds more than {limits.size} bytes or {limits.files} files"
            )
    if not members:
        raise _damaged(bundle, "it is empty")
    return members


def _fault(member: tarfile.TarInfo, before: list[tarfile.TarInfo]) -> str:
    """Say what is wrong with a member by itself, and beside the first one; "" for nothing."""
    if len(member.name) > LONGEST_PATH or member.name.count("/") >= DEEPEST:
        return f"lies too deep, beyond {DEEPEST} parts or {LONGEST_PATH} characters"
    steps = member.name.split("/")
    if member.type not in PLAIN_TYPES or member.issparse():
        return "is a link, a folder, a device or a pipe; only plain files are let in"
    if member.size < 0:
        return "has no size"
    if len(steps) < 2 or any(step in ("", ".", "..") for step in steps):
        return "leads out of the folder that a bundle is"
    if any(character in "\\:" or not character.isprintable() for character in member.name):
        return "has a character that no path in a bundle has"
    if any(len(step.encode("utf-8", "surrogatepass")) > LONGEST_NAME for step in steps):
        return "has a name that is too long"
    if before and steps[0] != before[0].name.partition("/")[0]:
        return "lies beside the one folder that a bundle is"
    return ""


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, into: Path) -> None:
    """Write one file; nothing of its owner, mode or time is taken over."""
    path = into / member.name
    path.parent.mkdir(parents=True, exist_ok=True)
    source = tar.extractfile(member)
    assert source is not None  # it is a plain file
    with source, path.open("xb") as file:
        shutil.copyfileobj(source, file, COPIED)


def _check_sums(bundle: Path, folder: Path) -> None:
    if not (folder / SUMS).is_file():
        raise _damaged(bundle, f"it has no {SUMS}")
    expected = read_manifest(folder / SUMS)
    sums = {name: sum_of(folder / name) for name in files_in(folder) if name != SUMS}
    for name in sorted({*expected, *sums}):
        if expected.get(name) != sums.get(name):
            state = "is missing" if name not in sums else "is not what it was"
            raise _damaged(bundle, f"{name} {state if name in expected else 'is not in ' + SUMS}")


def _damaged(bundle: Path, damage: str) -> DamagedFile:
    return DamagedFile(
        f"{bundle}: refused: {damage}. Nothing was kept of it. Get it again from where it was "
        "published, and compare its checksum with the one printed there."
    )
