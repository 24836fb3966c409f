"""Replay cells from their cassettes, in this process or in several."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness import results as results_file
from harness.asking.models.chat_model import Manner
from harness.asking.models.usage import spending
from harness.errors import CheckFailed, HarnessError, RunStopped
from harness.files import write_atomic
from harness.protocols.registry import held_cell, protocol_of
from harness.protocols.seam import Held
from harness.recording import checksums, guard
from harness.recording.recorder import Recorder
from harness.recording.transcript import transcript_sum
from harness.recording.transport import RecordingTransport
from harness.results import GoldKey, Materials
from harness.run import pool
from harness.run.commands import command_runner, require_trust
from harness.run.exam import jury_check
from harness.run.wiring import endpoints, frozen, surroundings
from harness.study.folder import Cell, Study

MANY_CELLS = 100
BATCH = 12


class CellReplay(NamedTuple):
    """What became of one cell in a replay; `problem` is "" where all went well.

    result, transcript: in the forms of the protocol, None with a problem. transcript_sum: the hash
    of all that was asked and answered. file_format: the cassette's. network_attempts: refused in
    this cell, in the process with the id `process`.
    """

    cell: Cell
    recorded: int
    matched: int
    unused: int
    problem: str
    result: Any
    transcript: Any
    transcript_sum: str
    file_format: int
    network_attempts: int
    process: int


def replay_cells(
    study: Study, workers: int | None = None, cells: Sequence[Cell] | None = None
) -> list[CellReplay]:
    """Replay cells (default: all of the grid) without a network, and return them in order.

    workers: how many processes work, this one among them (default: by the number of cells).
    """
    require_trust(study)
    cells = study.cells() if cells is None else cells
    if workers is None:
        workers = (os.cpu_count() or 1) if len(cells) >= MANY_CELLS else 1
    batches = [cells[start : start + BATCH] for start in range(0, len(cells), BATCH)]
    work = ("harness.run.replay", "replay_batch")
    with pool.opened(work, study.folder, min(workers, len(batches)) - 1) as children:
        with guard.closed():
            materials = frozen(study).materials
            replays = children.run(
                batches, lambda batch: [_replay_cell(study, materials, cell) for cell in batch]
            )
    return [replay for batch in replays for replay in batch]


def replay_batch(folder: Path, cells: Sequence[Cell]) -> list[CellReplay]:
    """Replay some cells of a study in a child process, where the network is closed already."""
    study, materials = _opened(folder)
    return [_replay_cell(study, materials, cell) for cell in cells]


@lru_cache(maxsize=1)
def _opened(folder: Path) -> tuple[Study, Materials]:
    """Read a study once in each process of a pool."""
    study = Study(folder)
    return study, frozen(study).materials


def asked_endpoints(study: Study, cell: Cell) -> dict[tuple[str, int], str]:
    """Replay a cell without a network, and return whom its calls go to, by name and occurrence.

    Raises Miss where the cell does not replay.
    """
    recorder = Recorder(study.cassette(cell))
    with guard.closed():
        _opened_cell(study, frozen(study).materials, cell, recorder).run()
    recorder.check()
    return recorder.endpoints


def _opened_cell(study: Study, materials: Materials, cell: Cell, recorder: Recorder) -> Held:
    """Set up a cell with nothing but its recording to ask."""
    transports = dict.fromkeys(endpoints(study), RecordingTransport(recorder))
    manner = Manner(version=materials.protocol_version)
    runner = command_runner(study, recorder, {})
    around = surroundings(study, cell, transports, {}, manner=manner, run_command=runner)
    return held_cell(study, cell, materials, around)


def _replay_cell(study: Study, materials: Materials, cell: Cell) -> CellReplay:
    before = guard.attempts()
    result, held, recorder, problem = None, None, None, ""
    try:
        recorder = Recorder(study.cassette(cell))
        held = _opened_cell(study, materials, cell, recorder)
        result = held.run()
        recorder.check()
    except (HarnessError, RunStopped) as error:
        problem, result = str(error), None
    except Exception as error:  # noqa: BLE001  damage of any kind is a verdict
        problem, result = unforeseen(cell.name, error), None
    recorded = len(recorder.cassette) if recorder else 0
    matched = recorder.matched if recorder else 0
    return CellReplay(
        cell,
        recorded,
        matched,
        len(recorder.unused()) if recorder else 0,
        problem,
        result,
        held.transcript() if held and not problem else None,
        transcript_sum(recorder.cassette) if recorder and not problem else "",
        recorder.cassette.format if recorder else 0,
        guard.attempts() - before,
        os.getpid(),
    )


def results_of(study: Study, replays: Sequence[CellReplay]) -> object:
    """Compute a study's results from replayed cells; those with a problem are left out."""
    done = [replay for replay in replays if replay.result]
    exams = [replay.result for replay in done if isinstance(replay.cell, GoldKey)]
    cells = [replay.result for replay in done if not isinstance(replay.cell, GoldKey)]
    materials = frozen(study).materials
    try:
        results = protocol_of(study).score(study, materials, cells)
        results.jury = jury_check(study, materials, done)
        if exams:
            results.spending = spending([*cells, *exams], materials.prices)
    except HarnessError:
        raise
    except Exception as error:
        raise CheckFailed(unforeseen(study.name, error)) from error
    results.transcripts = {replay.cell.name: replay.transcript_sum for replay in done}
    return results


def unforeseen(name: str, error: Exception) -> str:
    """Return the words for an error that only content nobody recorded can lead to."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{name}: cannot be computed from its recording ({type(error).__name__}: {error!s:.200}; "
        f"{Path(place.filename).name}, line {place.lineno}). Its files are not what this release "
        "writes: `harness verify` tells which differ from the manifest; restore them from where "
        "you got the study. Where none differs, this is a fault of ours: please report it."
    )


def replayed_results(study: Study, cells: Sequence[Cell] | None = None) -> Any:
    """Replay cells (default: all) and compute results; raises CheckFailed where one does not."""
    return results_of(study, sound_replays(study, cells))


def sound_replays(study: Study, cells: Sequence[Cell] | None = None) -> list[CellReplay]:
    """Replay cells (default: all); raises CheckFailed with the first problem."""
    replays = replay_cells(study, cells=cells)
    for replay in replays:
        if replay.problem:
            raise CheckFailed(replay.problem)
    return replays


def write_partial(study: Study) -> Path:
    """Write results.partial.json from the cells that are finished; no manifest covers it."""
    finished = [cell for cell in study.cells() if study.cassette(cell).exists()]
    missing = [cell.name for cell in study.cells() if cell not in finished]
    content = {
        "planned": len(study.cells()),
        "finished": len(finished),
        "missing": missing,
        "results": msgspec.to_builtins(replayed_results(study, finished)),
    }
    path = study.folder / checksums.PARTIAL
    write_atomic(path, results_file.canonical(content))
    return path
