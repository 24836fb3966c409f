"""Replay a study for its numbers, and check first that they are the published ones.

Whatever gives numbers or words of a study goes through here: its files are compared with the
manifest, the cells replay, and what is computed is compared with results.json. What differs is an
error that names the file; what could not be checked is said beside every number.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import CheckFailed
from harness.recording import cassette as cassettes
from harness.recording import checksums
from harness.run.comparison import ResultsComparison, compare_cells, compare_results
from harness.run.replay import CellReplay, results_of, sound_replays
from harness.run.whole import require_whole
from harness.study.folder import Cell, Study

VERIFIED = "verified"
NO_MANIFEST = "unverified: there is no manifest to compare the files with"
NOT_ASKED = "unverified: files and numbers were not compared (--no-verify-checksums)"
MOST_NAMED = 5


class Checked(NamedTuple):
    """A study's replayed cells, and how far they were checked.

    results: of all cells, None where only some were replayed. verification: VERIFIED, or a text
    that begins with "unverified".
    """

    study: Study
    replays: list[CellReplay]
    results: Any
    verification: str

    @property
    def is_verified(self) -> bool:
        """Return whether files and numbers are those that were published."""
        return self.verification == VERIFIED


def checked(study: Study, *, verify: bool = True) -> Checked:
    """Replay all of a study without a network, and compute its results.

    verify: compare files with the manifest and results with results.json. Raises CheckFailed where
    something differs or a cell does not replay, UsageError where bodies are left out.
    """
    verification = check_files(study, verify=verify)
    replays = sound_replays(study)
    results = results_of(study, replays)
    if verify and study.results.is_file():
        _require_same(study, compare_results(study, results, replays))
    return Checked(study, replays, results, verification)


def checked_cells(study: Study, cells: Sequence[Cell], *, verify: bool = True) -> Checked:
    """Replay some cells, and compare each with its place in results.json; raises as `checked`."""
    verification = check_files(study, verify=verify)
    replays = sound_replays(study, cells)
    if verify and study.results.is_file():
        _require_same(study, compare_cells(study, replays))
    return Checked(study, replays, None, verification)


def _require_same(study: Study, comparison: ResultsComparison) -> None:
    if comparison.problem:
        raise CheckFailed(
            f"{study.results}: is not what the recording gives now: {comparison.problem}. "
            f"`harness replay {study.name}` says all of it; --no-verify-checksums computes anew "
            "whatever was recorded, unverified."
        )


def check_files(
    study: Study, *, verify: bool = True, require_bodies: bool = True, edited: Collection[str] = ()
) -> str:
    """Compare a study's files with its manifests, and return how far they were checked.

    edited: names of files that may differ, which is said. Raises CheckFailed that names the files
    which differ, and, unless `require_bodies` is False, UsageError where bodies are left out.
    """
    if require_bodies:
        require_whole(study)
    if not verify:
        return NOT_ASKED
    if not any(
        checksums.manifest_path(study.root, study.name, kind).is_file() for kind in checksums.KINDS
    ):
        return NO_MANIFEST
    faults = checksums.faults(checksums.verify(study.root, study.folder))
    wrong = [state for state in faults if Path(state.path).name not in edited]
    if wrong:
        named = "\n".join(f"{state.path}: {state.state}" for state in wrong[:MOST_NAMED])
        raise CheckFailed(
            f"{study.name}: {len(wrong)} files are not those of the manifest:\n{named}\n"
            "Nothing was computed from them. Restore the files (`git checkout`, or get the study "
            "again); --no-verify-checksums computes from them as they are, unverified."
        )
    if faults:
        return f"unverified: {faults[0].path} is not the one of the manifest"
    return VERIFIED


def false_digests(study: Study) -> list[str]:
    """Return the calls of format-1 cassettes whose stored digest is not that of their request.

    Each as "FILE, call NAME". Raises DamagedFile for a cassette that cannot be read.
    """
    paths = [study.cassette(cell) for cell in study.cells()]
    return [
        f"{path}, call {label}"
        for path in paths
        if path.exists()
        for label in cassettes.load(path).false_digests()
    ]
