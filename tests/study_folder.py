"""Study folders for the tests of recording: written, recorded, counted, compared."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from provider import md5
from study_text import study_text

from harness.recording import cassette as cassettes
from harness.recording.cassette import masked
from harness.recording.journal import read_journal
from harness.study.folder import Study

PACKAGE = Path(__file__).parent.parent
NOBODY = 65534


def write_study(
    root: Path,
    url: str,
    *,
    subjects: tuple[str, ...] = ("subject-a",),
    concepts: tuple[str, ...] = ("harm-principle",),
    levels: str = "[0.0, 0.5]",
    record: str = "",
) -> Study:
    """Write a study of 25 calls a cell for the provider at `url`; record: lines of [record]."""
    folder = root / "cassettes" / "small"
    folder.mkdir(parents=True)
    text = study_text(
        url, subjects=subjects, concepts=concepts, levels=levels, extra=f"\n[record]\n{record}\n"
    )
    (folder / "study.toml").write_text(text)
    return Study(folder)


def edit(study: Study, old: str, new: str) -> None:
    """Change a study's file as a person would."""
    path = study.folder / "study.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def unpublish(study: Study) -> None:
    """Take results and manifests away, as of a study that is still being recorded."""
    study.results.unlink(missing_ok=True)
    for path in (study.root / "checksums").glob(f"{study.name}.*"):
        path.unlink()


def final_files(study: Study) -> dict[str, bytes]:
    """Give every file that a finished recording is made of, clock times blanked."""
    assert left_over(study) == []
    return {path.name: masked(path.read_bytes()) for path in sorted(study.folder.glob("*.json"))}


def left_over(study: Study) -> list[str]:
    """Name the journals and half-written files that are still there."""
    folders = (study.folder, study.root / "checksums")
    found = [path for folder in folders for path in folder.glob("*") if path.is_file()]
    return [path.name for path in found if path.name.endswith((".journal", ".tmp"))]


def kept_calls(study: Study) -> Counter[str]:
    """Count the answers that are on the disk, by the MD5 of their requests' bodies."""
    kept: Counter[str] = Counter()
    for cell in study.cells():
        path = study.cassette(cell)
        calls = {i.response.call: i for i in cassettes.load(path)} if path.exists() else {}
        journal = path.with_suffix(".journal")
        lines = read_journal(journal).lines if journal.exists() else []
        answers = [line[7:] for line in lines if line.startswith(b"answer ")]
        calls |= {i.response.call: i for i in map(cassettes.from_line, answers)}
        kept.update(md5(i.request_bytes) for i in calls.values())
    return kept


def command(study: Study, *words: str) -> list[str]:
    """Give the command line of a harness in a process of its own, for this study."""
    first, *rest = words
    return [sys.executable, "-m", "harness", first, str(study.folder), *rest]


def harness(study: Study, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a harness in a process of its own, to its end."""
    return subprocess.run(
        command(study, *words), cwd=PACKAGE, capture_output=True, text=True, timeout=60
    )


@contextlib.contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """Take away the right to write; root has it always, so it becomes nobody for a while."""
    root = os.geteuid() == 0
    above = [path for path in folder.parents if path.is_relative_to(tempfile.gettempdir())]
    modes = {path: path.stat().st_mode for path in (folder, *above)}
    for path, mode in modes.items():
        path.chmod(0o555 if path == folder else mode | 0o011)
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)
