"""A bundle as a study: unpacked for a while, and replayed with what is there."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness import results as results_file
from harness.bundle.archive import SUMS
from harness.bundle.archive import is_bundle as is_bundle
from harness.bundle.unpacking import unpack
from harness.errors import DamagedFile
from harness.run import verdict as verdicts
from harness.run.comparison import compare_cells
from harness.run.replay import CellReplay, replay_cells
from harness.run.verdict import Verdict, count, enter_comparison, name_attempts, verify_files
from harness.run.whole import LEFT_OUT, LeftOut, read_left_out
from harness.study.folder import STUDIES, Study


@contextmanager
def opened(path: Path) -> Iterator[Study]:
    """Unpack a bundle into a folder of its own, which is gone afterwards, and give its study.

    Raises UsageError where there is no such file, DamagedFile where it is no sound bundle.
    """
    with tempfile.TemporaryDirectory(prefix="harness-bundle-") as folder:
        top = unpack(path, Path(folder))
        folders = sorted(place.parent for place in top.glob(f"{STUDIES}/*/study.toml"))
        if len(folders) != 1:
            raise DamagedFile(f"{path}: refused: it holds {len(folders)} studies, not one.")
        yield Study(folders[0])


def replay(
    study: Study,
    *,
    verify_checksums: bool | None = None,
    expect: str = "",
    workers: int | None = None,
) -> Verdict:
    """Replay a study, or a bundle's: checksums always, and of what is left out no claim.

    Where bodies are left out, the other cells are replayed and compared with their places in
    results.json; the verdict is incomplete then, and says so.
    """
    checked = True if (study.root / SUMS).is_file() else verify_checksums
    left_out = read_left_out(study.root)
    if left_out is None:
        return verdicts.replay(study, verify_checksums=checked, expect=expect, workers=workers)
    began = time.monotonic()
    verdict = _replay_rest(study, left_out, expect, workers)
    verdict.seconds = round(time.monotonic() - began, 2)
    return verdict


def _replay_rest(study: Study, left_out: LeftOut, expect: str, workers: int | None) -> Verdict:
    files = verify_files(study)
    verdict = Verdict(
        study=study.name,
        cells=0,
        planned=len(study.cells()),
        calls=0,
        matched=0,
        unused=0,
        network_attempts=0,
        checksums="failed" if files.wrong else "ok",
        numbers="not compared",
        fingerprint=files.fingerprint,
        valid=False,
        seconds=0.0,
        left_out=len(left_out.cells),
    )
    if expect and expect.lower() != files.fingerprint:
        verdict.problems.append(
            f"fingerprint: expected {expect}, got {files.fingerprint}: bodies are left out here "
            f"of a study whose fingerprint is said to be {left_out.fingerprint}."
        )
    verdict.problems += [
        f"checksums: {state.path}: {state.state}" for state in files.states if state.state != "ok"
    ]
    if not verdict.problems:
        complete = [cell for cell in study.cells() if cell.name not in left_out.cells]
        _enter(study, replay_cells(study, workers, complete), verdict)
        verdict.incomplete = not verdict.problems
        verdict.problems.append(_left_words(left_out, len(complete)))
    return verdict


def _enter(study: Study, replays: Sequence[CellReplay], verdict: Verdict) -> None:
    """Write what became of the cells that are whole into the verdict."""
    count(replays, verdict)
    verdict.network_attempts = sum(replay.network_attempts for replay in replays)
    failed = [replay for replay in replays if replay.problem]
    verdict.problems += [f"replay: {replay.problem}" for replay in failed][:1]
    name_attempts(verdict)
    if replays and not failed:
        recorded = results_file.read_results(study.results)
        verdict.valid = isinstance(recorded, dict) and recorded.get("valid") is True
        enter_comparison(compare_cells(study, replays), verdict)


def _left_words(left_out: LeftOut, complete: int) -> str:
    return (
        f"left out: {len(left_out.cells)} cells lack {len(left_out.bodies)} bodies that may not be "
        f"handed on ({LEFT_OUT} names them), and do not replay; the {complete} others do, and are "
        "compared with their places in results.json. What is computed over all cells "
        "cannot be checked here."
    )
