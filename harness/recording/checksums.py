"""Manifests that `md5sum -c` and `sha256sum -c` can check, and what became of each file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.errors import DamagedFile, UsageError
from harness.files import write_atomic

KINDS = ("md5", "sha256")
UNCOVERED = (".journal", ".lock", ".owner", ".tmp")
MOST_BYTES = 2**28  # of a manifest: 250 for each of the most cells
PARTIAL = "results.partial.json"


class FileState(NamedTuple):
    """A file of a study: "ok", "changed", "missing", "extra" or "line endings changed"."""

    path: str
    state: str
    expected: str = ""
    got: str = ""


def manifest_path(root: Path, study: str, kind: str = "md5") -> Path:
    """Return the place of a study's manifest."""
    return root / "checksums" / f"{study}.{kind}"


def covered_files(folder: Path) -> list[Path]:
    """Return every file that a study's manifest covers, sorted."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name != PARTIAL and not _passing(path)
    )


def _passing(path: Path) -> bool:
    return any(mark in path.name for mark in UNCOVERED)


def write_manifests(root: Path, folder: Path) -> str:
    """Write both manifests of a study and give its fingerprint."""
    (root / "checksums").mkdir(exist_ok=True)
    for kind in KINDS:
        lines = [
            f"{_sum(path, kind)}  {path.relative_to(root).as_posix()}\n"
            for path in covered_files(folder)
        ]
        write_atomic(manifest_path(root, folder.name, kind), "".join(lines).encode())
    return fingerprint(root, folder.name)


def fingerprint(root: Path, study: str) -> str:
    """Return the MD5 of the manifest on disk; raises UsageError where there is none."""
    path = manifest_path(root, study)
    if not path.is_file():
        raise UsageError(
            f"{path}: there is no manifest. It is written when a recording is "
            "complete (`harness record`)."
        )
    return _sum(path, "md5")


def _sum(path: Path, kind: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(
            file, lambda: hashlib.new(kind, usedforsecurity=False)
        ).hexdigest()


def verify(root: Path, folder: Path) -> list[FileState]:
    """Compare a study's files with both its manifests, the files sorted by path.

    Raises UsageError where there is no manifest, DamagedFile where one is no manifest.
    """
    expected = {kind: read_manifest(manifest_path(root, folder.name, kind)) for kind in KINDS}
    there = {path.relative_to(root).as_posix(): path for path in covered_files(folder)}
    names = sorted({*there, *expected["md5"], *expected["sha256"]})
    return [_state(name, root / name, expected) for name in names]


def read_manifest(path: Path) -> dict[str, str]:
    """Read a manifest: sums by path; raises UsageError or DamagedFile."""
    if not path.is_file():
        raise UsageError(
            f"{path}: there is no manifest, so nothing can be verified. It comes with "
            "the study, or is written when a recording is complete."
        )
    if path.stat().st_size > MOST_BYTES:
        raise DamagedFile(f"{path}: is larger than any manifest ({MOST_BYTES} bytes). Restore it.")
    sums: dict[str, str] = {}
    for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1):
        digest, space, name = line.partition("  ")
        if not space or len(digest) not in (32, 64) or name in sums:
            raise DamagedFile(
                f"{path}, line {number}: is no line of a manifest "
                "(expected: checksum, two spaces, path). Restore the file."
            )
        sums[name] = digest
    return sums


def _state(name: str, path: Path, expected: Mapping[str, Mapping[str, str]]) -> FileState:
    if not path.is_file():
        return FileState(name, "missing", expected["md5"].get(name, ""))
    wanted = {kind: sums.get(name, "") for kind, sums in expected.items()}
    if not all(wanted.values()):
        listed = any(wanted.values())
        return FileState(
            name,
            "changed" if listed else "extra",
            "in one of the two manifests only" if listed else "",
        )
    got = {kind: _sum(path, kind) for kind in KINDS}
    for kind in KINDS:
        if got[kind] != wanted[kind]:
            state = "line endings changed" if _same_lines(path, wanted["md5"]) else "changed"
            return FileState(name, state, wanted[kind], got[kind])
    return FileState(name, "ok", wanted["md5"], got["md5"])


def _same_lines(path: Path, md5: str) -> bool:
    data = path.read_bytes()
    unix = data.replace(b"\r\n", b"\n")
    return data != unix and hashlib.md5(unix, usedforsecurity=False).hexdigest() == md5


def faults(states: Iterable[FileState]) -> list[FileState]:
    """Return the files that are not ok."""
    return [state for state in states if state.state != "ok"]
