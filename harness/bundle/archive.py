"""A folder as one file: tar inside zstd, the same bytes from the same files.

Names are sorted, and owners, modes and times are fixed. Sameness of the whole file holds for one
version of the zstandard library, since another may compress otherwise; what counts is the list of
checksums inside, which names every other file and is checked when the bundle is unpacked.

Behind the compressed frame stands a skippable one (RFC 8878, 3.1.2), which other programs pass by:
the SHA-256 of all bytes before it. zstd's own checksum is of the content alone, and some bits of a
frame can change without it.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
from pathlib import Path

import zstandard

from harness.files import write_atomic

SUFFIX = ".tar.zst"
SUMS = "SHA256SUMS"
LEVEL = 10
MODE = 0o644
SEAL = bytes.fromhex("5e2a4d18") + (32).to_bytes(4, "little")  # a skippable frame of 32 bytes
SEALED = len(SEAL) + 32


def is_bundle(name: str) -> bool:
    """Return whether an argument names a bundle."""
    return name.endswith(SUFFIX)


def files_in(folder: Path) -> list[str]:
    """Return every file below a folder, as sorted paths with slashes."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def sum_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal(folder: Path) -> None:
    """Write SHA256SUMS, which `sha256sum -c` reads, over every other file of a folder."""
    lines = [f"{sum_of(folder / name)}  {name}\n" for name in files_in(folder) if name != SUMS]
    write_atomic(folder / SUMS, "".join(lines).encode())


def packed(folder: Path, top: str) -> bytes:
    """Return a folder's files as an archive in which they lie under the one folder `top`."""
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for name in files_in(folder):
                _add(tar, folder / name, f"{top}/{name}")
        size = file.tell()
        file.seek(0)
        compressed = io.BytesIO()
        compressor = zstandard.ZstdCompressor(
            level=LEVEL, write_checksum=True, write_content_size=True, threads=0
        )
        compressor.copy_stream(file, compressed, size=size)
        data = compressed.getvalue()
    return data + SEAL + hashlib.sha256(data).digest()


def _add(tar: tarfile.TarFile, path: Path, name: str) -> None:
    member = tarfile.TarInfo(name)  # its owner and time are 0, its names of owners are empty
    member.size, member.mode = path.stat().st_size, MODE
    with path.open("rb") as file:
        tar.addfile(member, file)
