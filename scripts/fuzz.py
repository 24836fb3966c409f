"""Damage recorded studies in many ways, and count what which command notices.

Two ways. With the manifest in place every command that gives numbers or words of a study must
refuse a damaged file: each is run in this process, by its own entry. With manifests made anew, as
an author can, a replay must find what the numbers and words rest on: what still passes is counted
by the field that differs, with the reason (scripts/unbound.py), and what has no reason is a fault.

Studies: one of each protocol, recorded here in the present format against a simulated provider, and
the bundled ones, whose format binds no words. The same seed gives the same damage. Exit code 1: a
command passed in place, a traceback, or a pass without a reason.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from damage import BYTES, JSON, Damage, Sound
from damaged_calls import CALLS
from drilling import answering, world, write_drill
from loopback import Loopback
from provider import Provider
from refusals import API, COMMANDS, fault_of
from study_text import study_text
from unbound import differing, in_short, reason_for

from harness.errors import HarnessError, RunStopped
from harness.recording import cassette as cassettes
from harness.recording import checksums
from harness.run import replay as replays
from harness.run.comparison import compare_cells, compare_results
from harness.run.record import Recording
from harness.run.verdict import replay as verdict_of
from harness.study.folder import Study

HERE = Path(__file__).parent.parent
BUNDLED = ("ddft-local", "depthcharge-local")
BATCH = 100
FILES = {"cassette": 85, "results.json": 9, "materials.json": 3, "study.toml": 3}
ALL_BUT_INPUTS = {"cassette": 97, "results.json": 3}  # where a whole replay takes seconds


@dataclass
class Tally:
    """What became of damaged files.

    tried, noticed: by kind of damage. runs: by command. passed: by the study's
    format, the reason, and the field that differs. faults: what must not be, each with its place.
    """

    tried: Counter[str] = field(default_factory=Counter)
    noticed: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    passed: Counter[tuple[int, str, str]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add what became of other files."""
        for mine, more in zip(self._counts, other._counts, strict=True):
            mine.update(more)
        self.faults += other.faults

    @property
    def _counts(self) -> tuple[Counter[Any], ...]:
        return self.tried, self.noticed, self.runs, self.passed


class Task(NamedTuple):
    """So many damaged files of one study; way: "in place" or "made anew"."""

    way: str
    root: Path
    name: str
    seed: int
    files: int


class Case(NamedTuple):
    """One damaged file."""

    path: Path
    kind: str
    data: bytes
    sound: bytes


class Recorded(NamedTuple):
    """A study in a folder of its own, as it was recorded, and replayed once."""

    study: Study
    files: dict[Path, bytes]
    cells: dict[Path, replays.CellReplay]
    results: Any
    form: int

    @property
    def is_small(self) -> bool:
        """Tell whether it was recorded here, so that all of it is replayed in no time."""
        return self.study.name not in BUNDLED


def opened(study: Study, *, replayed: bool) -> Recorded:
    """Read a sound study; replay it where that is asked for."""
    done = replays.replay_cells(study, 1) if replayed else []
    paths = [study.cassette(cell) for cell in study.cells()]
    own = [study.results, study.materials, study.folder / "study.toml"]
    return Recorded(
        study,
        {path: path.read_bytes() for path in (*paths, *own)},
        {study.cassette(cell.cell): cell for cell in done},
        replays.results_of(study, done) if replayed else None,
        cassettes.load(paths[0]).format,
    )


def cases(
    recorded: Recorded, chance: random.Random, count: int, weights: dict[str, int]
) -> Iterator[Case]:
    """Yield so many damaged files, each the only one in its study."""
    names = [path.name if path.name in FILES else "cassette" for path in recorded.files]
    while count:
        file = chance.choices([*weights], [*weights.values()])[0]
        paths = [path for path, name in zip(recorded.files, names, strict=True) if name == file]
        path = chance.choice(paths)
        kinds = _kinds(file)
        name = chance.choice([*kinds])
        kin = [recorded.files[other] for other in paths if other != path]
        try:
            data = kinds[name](chance, Sound(path.name, recorded.files[path], kin))
        except (ValueError, KeyError, IndexError, TypeError, OverflowError):
            continue  # the file has nothing of what this kind damages
        if data is not None and data != recorded.files[path]:
            count -= 1
            yield Case(path, f"{file}: {name}", data, recorded.files[path])


def _kinds(file: str) -> dict[str, Damage]:
    if file == "cassette":
        return {**BYTES, **CALLS}
    return BYTES if file == "study.toml" else {**BYTES, **JSON}


def run(task: Task) -> Tally:
    """Damage a copy of a study, one file at a time."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="harness-fuzz-", dir=_memory()) as folder:
        study = _copied(task, Path(folder))
        anew = task.way == "made anew"
        recorded = opened(study, replayed=anew)
        weights = FILES if recorded.is_small or not anew else ALL_BUT_INPUTS
        chance = random.Random(f"{task.way}/{task.name}/{task.seed}")
        for number, case in enumerate(cases(recorded, chance, task.files, weights)):
            case.path.write_bytes(case.data)
            tally.tried[case.kind] += 1
            if anew:
                made_anew(recorded, case, tally)
            else:
                in_place(recorded, case, number, tally)
            case.path.write_bytes(recorded.files[case.path])
    return tally


def _copied(task: Task, root: Path) -> Study:
    (root / "checksums").mkdir()
    for mark in checksums.KINDS:
        shutil.copy(checksums.manifest_path(task.root, task.name, mark), root / "checksums")
    folder = root / "cassettes" / task.name
    shutil.copytree(task.root / "cassettes" / task.name, folder)
    return Study(folder)


def _memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def in_place(recorded: Recorded, case: Case, number: int, tally: Tally) -> None:
    """Run the commands on a study with one damaged file and its true manifests.

    All of them on a small study; on a bundled one, where each reads megabytes, one in turn.
    """
    study = recorded.study
    judged = study.file.protocol == "ddft"
    names = [name for name in (*COMMANDS, API) if name != "calibrate" or judged]
    if not recorded.is_small:
        names = [names[number % len(names)]]
    faults = [fault for name in names if (fault := fault_of(study, name, case.path.name))]
    tally.runs.update(names)
    tally.noticed[case.kind] += not faults
    tally.faults += [_fault(study, case, fault) for fault in faults]


def made_anew(recorded: Recorded, case: Case, tally: Tally) -> None:
    """Replay a study with one damaged file whose manifests its author has made anew."""
    try:
        passes = _passes(recorded, case)
    except (HarnessError, RunStopped):
        passes = False
    except Exception as error:  # noqa: BLE001  a traceback is what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error!s:.200} ({place.filename}, line {place.lineno})"
        tally.faults.append(_fault(recorded.study, case, words))
        return
    tally.noticed[case.kind] += not passes
    for name in differing(case.path, recorded.files[case.path]) if passes else ():
        reason = reason_for(recorded.form, name)
        tally.passed[recorded.form, reason, name] += 1
        if not reason:
            words = f"passes, and {name} has no reason to differ"
            tally.faults.append(_fault(recorded.study, case, words))


def _passes(recorded: Recorded, case: Case) -> bool:
    """Tell whether a replay that trusts the manifest finds nothing."""
    study = recorded.study
    if case.path == study.results:
        done = [*recorded.cells.values()]
        return not compare_results(study, recorded.results, done).problem
    if case.path not in recorded.cells:
        return verdict_of(Study(study.folder), verify_checksums=False, workers=1).ok
    sound = recorded.cells[case.path]
    now = replays.replay_cells(study, 1, [sound.cell])[0]
    if now.problem or now.result is None:
        return False
    if now.result == sound.result and recorded.form == now.file_format:
        return now.file_format == 1 or now.transcript_sum == sound.transcript_sum
    done = [now if cell is sound else cell for cell in recorded.cells.values()]
    if compare_cells(study, [now]).problem:
        return False
    return not compare_results(study, replays.results_of(study, done), done).problem


def _fault(study: Study, case: Case, words: str) -> str:
    pairs = enumerate(zip(case.sound, case.data, strict=False))
    place = next((place for place, (old, new) in pairs if old != new), len(case.sound))
    return f"{study.name}, {case.path.name}, {case.kind}, byte {place}: {words}"


def recorded_here(root: Path) -> list[str]:
    """Record a small study of each protocol in the present format; return their names."""
    folder = root / "cassettes" / "small"
    folder.mkdir(parents=True)
    with Loopback(Provider()) as server:
        text = study_text(server.url, subjects=("subject-a",), levels="[0.0, 1.0]")
        (folder / "study.toml").write_text(text)
        problems = Recording(Study(folder)).run().problems
    with Loopback(answering(world(accuracy=(0.9, 0.5)))) as server:
        domains = ("Medicine", "Ancient Rome")
        study = write_drill(root, server.url, domains=domains, questions=2, max_depth=2)
        problems += Recording(study).run().problems
    assert not problems, problems
    return ["small", "drill"]


def tasks(way: str, seed: int, count: int, places: dict[str, Path]) -> list[Task]:
    """Share damaged files out: most to the small studies, a twentieth to each bundled one."""
    shares = {name: 0.05 if name in BUNDLED else 0.45 for name in places}
    total = sum(shares.values())
    done: list[Task] = []
    for name, root in places.items():
        wanted = max(1, round(count * shares[name] / total))
        for start in range(0, wanted, BATCH):
            done.append(Task(way, root, name, seed + start, min(BATCH, wanted - start)))
    return done


def fuzz(way: str, seed: int, count: int, workers: int, places: dict[str, Path]) -> Tally:
    """Damage so many files, in processes of their own where there are several."""
    tally = Tally()
    listed = tasks(way, seed, count, places)
    if workers == 1:
        for task in listed:
            tally.add(run(task))
        return tally
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for part in pool.map(run, listed):
            tally.add(part)
    return tally


def told(way: str, tally: Tally) -> str:
    """Return a tally as text."""
    tried, noticed = tally.tried.total(), tally.noticed.total()
    lines = [f"{way}: {tried} damaged files, {noticed} noticed, {len(tally.faults)} faults"]
    lines += [f"  {count:7} runs of {name}" for name, count in tally.runs.items()]
    shown: Counter[str] = Counter()
    for (form, reason, name), count in tally.passed.items():
        shown[f"format {form}, {in_short(name)}: {reason or 'NO REASON'}"] += count
    lines += [f"  {shown[line]:7} pass: {line}" for line in sorted(shown)]
    lines += [
        f"  {kind:50} {noticed:6} of {tried:6} noticed"
        for kind, tried in sorted(tally.tried.items())
        for noticed in [tally.noticed[kind]]
    ]
    return "\n".join([*lines, *(f"  FAULT {fault}" for fault in tally.faults[:50])])


def main() -> None:
    """Fuzz both ways, print what became of it, and fail where there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--in-place", type=int, default=300, metavar="N", help="manifests in place")
    parser.add_argument("--made-anew", type=int, default=300, metavar="N", help="manifests anew")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="leave the bundled studies out")
    options = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="harness-fuzz-") as folder:
        places = dict.fromkeys(recorded_here(Path(folder)), Path(folder))
        places |= {} if options.small else dict.fromkeys(BUNDLED, HERE)
        for way, count in (("in place", options.in_place), ("made anew", options.made_anew)):
            began = time.monotonic()
            tally = fuzz(way, options.seed, count, options.workers, places) if count else Tally()
            print(told(way, tally), f"\n  {time.monotonic() - began:.0f} s", flush=True)
            faults += len(tally.faults)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
