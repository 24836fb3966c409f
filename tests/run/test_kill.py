"""A recording survives kill -9 anywhere: nothing kept is lost, nothing kept is paid for twice."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from dying import Fault, Nursery, nursery
from provider import finished, running
from study_folder import edit, final_files, kept_calls, left_over, write_study

from harness.recording import checksums
from harness.recording.journal import read_journal
from harness.study.folder import Study

KILLS = 100
WORKERS = 4
WIDE: dict[str, tuple[str, ...] | str] = {
    "subjects": ("subject-a", "subject-b"),
    "concepts": ("harm-principle", "recursion"),
    "levels": "[0.0, 0.25, 0.5, 0.75, 1.0]",
}
JOURNAL, CASSETTE = "r1.journal", "r1.json"
POINTS = [
    *(Fault("write", JOURNAL, nth, "half") for nth in (1, 2, 20)),
    *(Fault("fsync", JOURNAL, nth, moment) for nth in (1, 21) for moment in ("before", "after")),
    *(Fault("ftruncate", JOURNAL, 1, moment) for moment in ("before", "after")),
    *(Fault("unlink", JOURNAL, 1, moment) for moment in ("before", "after")),
]
SAVED = ("materials.json", CASSETTE, "results.json", "small.md5", "small.sha256")


def saving(file: str) -> list[Fault]:
    """Give the points at which a whole file is written: into a temporary one, then renamed."""
    temporary = f"{file}.{{pid}}.tmp"
    return [
        Fault("write", temporary, 1, "half"),
        Fault("fsync", temporary, 1, "before"),
        Fault("fsync", temporary, 1, "after"),
        Fault("replace", file, 1, "before"),
        Fault("replace", file, 1, "after"),
    ]


POINTS += [point for file in SAVED for point in saving(file)]


class Ledger:
    """What the provider answered and what the disk holds, compared after every death."""

    def __init__(self, study: Study, log: Path) -> None:
        self._study, self._log = study, log
        self._before = finished(log)
        self._settled: dict[str, int] = {}

    @property
    def answered(self) -> Counter[str]:
        """Count what was answered since the recording began."""
        return finished(self._log) - self._before

    def check(self, expected: Counter[str]) -> None:
        """Fail where a request whose answers were all kept has been answered once more."""
        kept = kept_calls(self._study)
        patience = time.monotonic() + 5
        while kept - (answered := self.answered):  # the provider writes its log after it answers
            assert time.monotonic() < patience, f"kept and never answered: {kept - answered}"
            time.sleep(0.01)
        for body, times in self._settled.items():
            assert answered[body] == times, f"sent again although it was kept: {body}"
        for body, times in kept.items():
            if times == expected[body]:
                self._settled.setdefault(body, answered[body])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kill")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with running(folder, "--delay", "0.003") as address:
        yield address


@pytest.fixture(scope="module")
def nest(folder: Path) -> Iterator[Nursery]:
    with nursery(folder) as process:
        yield process


class Undisturbed:
    """A recording that nothing happened to: its files, its requests, and how long it took."""

    def __init__(self, study: Study, nest: Nursery, log: Path) -> None:
        began, before = time.monotonic(), finished(log)
        assert nest.run("record", str(study.folder), "--workers", str(WORKERS)) == 0, nest.said
        self.seconds = time.monotonic() - began
        self.requests = finished(log) - before
        began = time.monotonic()
        assert nest.run("record", str(study.folder)) == 0
        self.start_seconds = (time.monotonic() - began) / 2
        self.files = final_files(study)


@pytest.fixture(scope="module")
def small(folder: Path, url: str, nest: Nursery) -> Undisturbed:
    return Undisturbed(write_study(folder / "small", url), nest, folder / "provider.log")


def test_a_hundred_kills_at_random_moments(folder: Path, url: str, nest: Nursery) -> None:
    """Killed again and again, a recording comes to the same files, and pays for no call twice.

    What was in flight at a kill is sent again: at most one call for each worker. Where a recording
    is complete before all kills are made, the next one begins.
    """
    log = folder / "provider.log"
    whole = Undisturbed(write_study(folder / "whole", url, **WIDE), nest, log)  # type: ignore[arg-type]
    chance, kills, resent, rounds = random.Random(20260131), 0, 0, 0
    longest = whole.start_seconds + 8 * whole.seconds / KILLS
    while kills < KILLS:
        rounds += 1
        study = write_study(folder / f"killed-{rounds}", url, **WIDE)  # type: ignore[arg-type]
        ledger, here = Ledger(study, log), kills
        words = ("record", str(study.folder), "--workers", str(WORKERS))
        while kills < KILLS:
            pid = nest.start(*words)
            time.sleep(chance.uniform(whole.start_seconds / 5, longest))
            if not nest.kill(pid):
                break
            kills += 1
            ledger.check(whole.requests)
        assert nest.run(*words) == 0, nest.said
        ledger.check(whole.requests)
        assert final_files(study) == whole.files
        assert checksums.faults(checksums.verify(study.root, study.folder)) == []
        again = ledger.answered - whole.requests
        assert not whole.requests - ledger.answered
        assert again.total() <= (kills - here) * WORKERS
        resent += again.total()
    print(f"{kills} kills, {rounds} recordings, {resent} of {whole.requests.total()} calls resent")
    assert resent > 0, "no kill came while a call was in flight"


@pytest.mark.parametrize(
    "point", POINTS, ids=lambda p: f"{p.function}-{p.place}-{p.nth}-{p.moment}"
)
def test_a_kill_at_a_point(
    point: Fault, folder: Path, url: str, nest: Nursery, small: Undisturbed, tmp_path: Path
) -> None:
    """Killed inside a write, around an fsync, a rename or a removal: the same files in the end."""
    study = write_study(tmp_path, url)
    ledger = Ledger(study, folder / "provider.log")
    words = ("record", str(study.folder), "--workers", "2")
    assert nest.run(*words, fault=point) == -9, nest.said
    ledger.check(small.requests)
    assert nest.run(*words) == 0, nest.said
    ledger.check(small.requests)
    assert final_files(study) == small.files
    assert (ledger.answered - small.requests).total() <= 2
    assert checksums.faults(checksums.verify(study.root, study.folder)) == []


def test_kills_when_nothing_is_in_flight(
    folder: Path, url: str, nest: Nursery, small: Undisturbed, tmp_path: Path
) -> None:
    """Killed each time right after an answer is on the disk, it sends no call a second time."""
    study = write_study(tmp_path, url)
    ledger = Ledger(study, folder / "provider.log")
    words = ("record", str(study.folder), "--workers", "1")
    deaths = 0
    while nest.run(*words, fault=Fault("fsync", JOURNAL, 4, "after")) == -9:
        deaths += 1
    assert deaths == 13
    assert nest.run(*words) == 0
    assert ledger.answered == small.requests
    assert final_files(study) == small.files


def test_a_torn_line_is_dropped_and_named(
    url: str, nest: Nursery, folder: Path, small: Undisturbed, tmp_path: Path
) -> None:
    """The resume says which cell had a torn last line, and sends that one call again."""
    study = write_study(tmp_path, url)
    ledger = Ledger(study, folder / "provider.log")
    words = ("record", str(study.folder), "--workers", "1")
    assert nest.run(*words, fault=Fault("write", JOURNAL, 5, "half")) == -9
    assert nest.run(*words) == 0
    assert "note: subject-a--harm-principle--c0--paper--r1: " in nest.said
    assert "bytes of a torn last line were dropped" in nest.said
    assert (ledger.answered - small.requests).total() == 1


@pytest.mark.parametrize("cut", [1, 8, 9, 10, 40])
def test_a_journal_cut_in_its_first_line(
    cut: int, url: str, nest: Nursery, small: Undisturbed, tmp_path: Path
) -> None:
    """A kill in the middle of a journal's header costs nothing."""
    study = write_study(tmp_path, url)
    words = ("record", str(study.folder), "--workers", "1")
    assert nest.run(*words, fault=Fault("fsync", JOURNAL, 1, "after")) == -9
    journal = next(study.folder.glob("*.journal"))
    journal.write_bytes(journal.read_bytes()[:cut])
    assert nest.run(*words) == 0, nest.said
    assert final_files(study) == small.files


def test_damage_in_the_middle_of_a_journal(
    folder: Path, url: str, nest: Nursery, small: Undisturbed, tmp_path: Path
) -> None:
    """It stops with exit 1 before anything is sent, names the line, and changes no byte."""
    study = write_study(tmp_path, url)
    words = ("record", str(study.folder), "--workers", "1")
    nest.run(*words, fault=Fault("fsync", JOURNAL, 7, "after"))
    journal = next(study.folder.glob("*.journal"))
    damaged = journal.read_bytes().replace(b"turn-1/subject", b"turn-1/sUbject", 1)
    journal.write_bytes(damaged)
    ledger = Ledger(study, folder / "provider.log")
    assert nest.run(*words) == 1
    assert f"{journal}, line 3: damaged" in nest.said
    assert "--restart" in nest.said
    assert journal.read_bytes() == damaged
    assert not ledger.answered


def test_restart_records_one_cell_anew(
    folder: Path, url: str, nest: Nursery, small: Undisturbed, tmp_path: Path
) -> None:
    """--restart moves the cell's recording aside, also a damaged one, and sends only its calls."""
    study = write_study(tmp_path, url)
    words = ("record", str(study.folder), "--workers", "1")
    assert nest.run(*words) == 0
    cell = study.cells()[1]
    damaged = study.cassette(cell).read_bytes()[:-20]
    study.cassette(cell).write_bytes(damaged)
    ledger = Ledger(study, folder / "provider.log")
    assert nest.run(*words) == 1
    assert f"{study.cassette(cell).name}: changed" in nest.said
    assert "--restart" in nest.said
    assert not ledger.answered
    assert nest.run(*words, "--restart", cell.name) == 0, nest.said
    assert ledger.answered.total() == 25
    assert final_files(study) == small.files
    aside = study.folder.glob(f"{study.cassette(cell).name}.journal-*")
    assert [path.read_bytes() for path in aside] == [damaged]


def test_restart_moves_a_journal_aside(
    folder: Path, url: str, nest: Nursery, small: Undisturbed, tmp_path: Path
) -> None:
    """--restart begins a cell again that was not finished; the journal's answers are kept aside."""
    study = write_study(tmp_path, url)
    words = ("record", str(study.folder), "--workers", "1")
    nest.run(*words, fault=Fault("fsync", JOURNAL, 7, "after"))
    ledger = Ledger(study, folder / "provider.log")
    assert nest.run(*words, "--restart", study.cells()[0].name) == 0, nest.said
    assert ledger.answered == small.requests
    (aside,) = study.folder.glob("*.journal-*")
    assert len(read_journal(aside).lines) == 6


@pytest.mark.parametrize("finished_cells", [0, 1])
def test_a_changed_study_is_not_gone_on_with(
    finished_cells: int, folder: Path, url: str, nest: Nursery, small: Undisturbed, tmp_path: Path
) -> None:
    """A parameter changed in between: the resume says so before it sends anything, and undoing
    the change goes on.
    """
    study = write_study(tmp_path, url)
    words = ("record", str(study.folder), "--workers", "1")
    place = Fault("fsync", JOURNAL, 7, "after")
    if finished_cells:  # and not a single journal
        place = Fault("unlink", JOURNAL, 1, "after")
    assert nest.run(*words, fault=place) == -9
    old, new = 'model = "subject-a"', 'model = "subject-a"\nparams = { temperature = 1.0 }'
    edit(study, old, new)
    ledger = Ledger(study, folder / "provider.log")
    assert nest.run(*words) == (1 if finished_cells else 2)
    words_said = "temperature" if finished_cells else "begun under another study file"
    assert words_said in nest.said
    assert "--restart" in nest.said
    assert not ledger.answered
    edit(study, new, old)
    assert nest.run(*words) == 0, nest.said
    assert final_files(study) == small.files


def test_nothing_is_left_lying_about(url: str, nest: Nursery, tmp_path: Path) -> None:
    """What a killed process had half written is removed by the next that writes the same file."""
    study = write_study(tmp_path, url)
    words = ("record", str(study.folder), "--workers", "1")
    nest.run(*words, fault=Fault("replace", CASSETTE, 1, "before"))
    assert [name.split(".")[-1] for name in sorted(left_over(study))] == ["tmp", "journal"]
    assert nest.run(*words) == 0
    assert left_over(study) == []
