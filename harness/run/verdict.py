"""The verdict on a study: checksums, replay, and every number anew."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from harness.recording import checksums, guard
from harness.results.answers import answer_words
from harness.run.causes import causes
from harness.run.comparison import ResultsComparison, compare_results
from harness.run.metric_settings import rescoring_hint
from harness.run.replay import CellReplay, replay_cells, results_of
from harness.study.folder import Study

NOT_PROVEN = (
    "This shows that the numbers follow from the recording, not that the recording is honest or "
    "that the models still answer so."
)


class Verdict(msgspec.Struct):
    """What a replay came to.

    checksums: "ok", "failed", or why they were not compared, with the word "unverified". numbers:
    "identical" (every recorded one, to the last digit), "equal" (to 1e-9; another platform or
    library), "different", or "not compared". words: "identical" (every transcript), "different",
    "not bound" (an older release recorded no hash of them) or "not compared". more: how many values
    are computed now that the results of an older release do not have. missing_answers: of the
    models examined, by kind; judged_answers: those without a text that were judged, by kind;
    missing_judgements: those of them, too. left_out: how many cells lack bodies and are not
    replayed. notices: what has to be said before any
    number. remarks: what the protocol says beside the numbers. problems: everything that makes it
    fail, the first of each kind in full.
    """

    study: str
    cells: int
    planned: int
    calls: int
    matched: int
    unused: int
    network_attempts: int
    checksums: str
    numbers: str
    fingerprint: str
    valid: bool
    seconds: float
    recorded_cost: float | None = None
    currency: str | None = None
    words: str = "not compared"
    first_difference: str = ""
    more: int = 0
    missing_judgements: int = 0
    missing_answers: dict[str, int] = {}
    judged_answers: dict[str, int] = {}
    left_out: int = 0
    notices: list[str] = []
    incomplete: bool = False
    jury: str = ""
    remarks: list[str] = []
    problems: list[str] = []

    @property
    def ok(self) -> bool:
        """Return whether everything that was looked at holds."""
        return not self.problems

    @property
    def exit_code(self) -> int:
        """Return the command's exit code: 3 where cells are still to be recorded, else 0 or 1."""
        if self.incomplete:
            return 3
        return 0 if self.ok else 1

    @property
    def line(self) -> str:
        """Return the verdict in one line, with what it does not prove."""
        state = "OK" if self.ok else "INCOMPLETE" if self.incomplete else "FAILED"
        facts = (
            f"checksums {self.checksums}",
            f"cells {self.cells}/{self.planned}",
            f"calls matched {self.matched}/{self.calls}",
            f"unused {self.unused}",
            f"network attempts {self.network_attempts}",
            f"numbers {self.numbers}{self._of_whole}{self._first}",
            f"words {self.words}{self._of_whole}",
            *self.remarks,
            f"fingerprint {self.fingerprint or 'none'}",
            *self._missing,
            *([f"jury: {self.jury}"] if self.jury else []),
            *self._cost,
            f"{self.seconds:.1f} s",
        )
        limits = f" {NOT_PROVEN}" if self.ok else ""
        first = "".join(f"{notice}; " for notice in self.notices)
        return f"{self.study}: {state}: {first}{', '.join(facts)}.{limits}"

    @property
    def _missing(self) -> list[str]:
        """Say how many answers and judgements are missing, or judged without a text, if any."""
        if not (self.missing_judgements or self.missing_answers or self.judged_answers):
            return []
        answers = answer_words(self.missing_answers, self.judged_answers)
        return [f"missing judgements {self.missing_judgements}, {answers}"]

    @property
    def _of_whole(self) -> str:
        """Return of which cells numbers and words were compared, where bodies are left out."""
        if not self.left_out or self.numbers == "not compared":
            return ""
        return f" in {self.cells} of {self.planned} cells"

    @property
    def _cost(self) -> list[str]:
        """Say what the recording cost, where that is known; a replay costs nothing."""
        if self.recorded_cost is None:
            return []
        return [f"recorded cost {self.recorded_cost:.4f} {self.currency}, spent 0"]

    @property
    def _first(self) -> str:
        if self.first_difference:
            return f" (first at {self.first_difference})"
        return f" ({self.more} more than recorded)" if self.more else ""


class Replayed(NamedTuple):
    """A verdict and what it rests on.

    replays: every cell of the grid, [] where nothing was replayed; found: the results computed from
    them, None where a cell does not replay.
    """

    verdict: Verdict
    replays: list[CellReplay]
    found: object


def replay(
    study: Study,
    *,
    verify_checksums: bool | None = None,
    expect: str = "",
    workers: int | None = None,
) -> Verdict:
    """Replay a study without a network, recompute its numbers, and compare.

    In this order: checksums, guard, the protocol against the cassettes, metrics, comparison.
    verify_checksums: compare the files with the manifest (default: where there is one). expect: the
    fingerprint that a paper printed; it implies verify_checksums. Where the files are not those of
    the manifest nothing is replayed. Raises UsageError where there is no study.
    """
    return replayed(study, verify_checksums, expect, workers).verdict


def replayed(
    study: Study,
    verify_checksums: bool | None = None,
    expect: str = "",
    workers: int | None = None,
) -> Replayed:
    """Do what `replay` does, and hand on what was replayed."""
    began = time.monotonic()
    replays: list[CellReplay] = []
    results = None
    verdict = Verdict(
        study.name, 0, len(study.cells()), 0, 0, 0, 0, "not checked", "not compared", "", False, 0.0
    )
    fingerprint = _known_fingerprint(study)
    if expect or (bool(fingerprint) if verify_checksums is None else verify_checksums):
        _check_files(study, expect, verdict)
    else:
        verdict.fingerprint = fingerprint
        verdict.checksums = "not compared (unverified)" if fingerprint else "none (unverified)"
    if verdict.ok:
        replays, results = _check_replay(study, workers, verdict)
    if not verdict.ok and (hint := rescoring_hint(study)):
        verdict.problems.append(hint)
    verdict.seconds = round(time.monotonic() - began, 2)
    return Replayed(verdict, replays, results)


class Files(NamedTuple):
    """What became of each file of a study, how many are not ok, and the manifest's MD5."""

    states: list[checksums.FileState]
    wrong: int
    fingerprint: str


def verify_files(study: Study) -> Files:
    """Compare a study's files with its manifests; raises UsageError where there are none."""
    states = checksums.verify(study.root, study.folder)
    mark = checksums.fingerprint(study.root, study.name)
    return Files(states, len(checksums.faults(states)), mark)


def _known_fingerprint(study: Study) -> str:
    path = checksums.manifest_path(study.root, study.name)
    return checksums.fingerprint(study.root, study.name) if path.is_file() else ""


def _check_files(study: Study, expect: str, verdict: Verdict) -> None:
    files = verify_files(study)
    verdict.fingerprint = files.fingerprint
    if expect and expect.lower() != files.fingerprint:
        verdict.problems.append(
            f"fingerprint: expected {expect}, got {files.fingerprint}. The files here, or their "
            "manifest, are not those that the fingerprint was printed for."
        )
    verdict.checksums = "failed" if files.wrong else "ok"
    verdict.problems += [
        f"checksums: {state.path}: {state.state}" for state in checksums.faults(files.states)
    ]


def _check_replay(
    study: Study, workers: int | None, verdict: Verdict
) -> tuple[list[CellReplay], object]:
    before = guard.attempts()
    replays = replay_cells(study, workers)
    count(replays, verdict)
    elsewhere = [replay for replay in replays if replay.process != os.getpid()]
    verdict.network_attempts = guard.attempts() - before
    verdict.network_attempts += sum(replay.network_attempts for replay in elsewhere)
    verdict.problems += _strangers(study)
    _name_unfinished(study, verdict)
    failed = [replay for replay in replays if replay.problem]
    if failed and not verdict.incomplete:
        verdict.problems.append(
            f"replay: {len(failed)} of {len(replays)} cells do not replay; "
            f"the first:\n{failed[0].problem}"
        )
    name_attempts(verdict)
    results = None if failed else results_of(study, replays)
    if not failed:
        _compare(study, results, replays, verdict)
    return replays, results


def count(replays: Sequence[CellReplay], verdict: Verdict) -> None:
    """Write into a verdict how many cells replay, and what became of their calls."""
    verdict.cells = sum(not replay.problem for replay in replays)
    verdict.calls = sum(replay.recorded for replay in replays)
    verdict.matched = sum(replay.matched for replay in replays)
    verdict.unused = sum(replay.unused for replay in replays)


def name_attempts(verdict: Verdict) -> None:
    """Make network attempts a problem, if there were any."""
    if verdict.network_attempts:
        verdict.problems.append(f"network: {verdict.network_attempts} attempts were blocked")


def _name_unfinished(study: Study, verdict: Verdict) -> None:
    open_cells = [cell.name for cell in study.cells() if not study.cassette(cell).exists()]
    if open_cells and not study.results.exists():
        verdict.incomplete = True
        verdict.problems.append(
            f"incomplete: {len(open_cells)} of {verdict.planned} cells are not recorded yet, the "
            f"first is {open_cells[0]}. Go on with `harness record {study.name}`."
        )


def _strangers(study: Study) -> list[str]:
    """Name the files of the study's folder that belong to no cell of its grid."""
    expected = {study.cassette(cell).name for cell in study.cells()}
    expected |= {"materials.json", "results.json", *study.file.plan.listed_files}
    return [
        f"replay: {path.name} is the cassette of no cell in study.toml"
        for path in checksums.covered_files(study.folder)
        if path.parent == study.folder and path.suffix == ".json" and path.name not in expected
    ]


def _compare(study: Study, results: Any, replays: Sequence[CellReplay], verdict: Verdict) -> None:
    verdict.valid, verdict.notices = results.valid, results.notices
    transcripts = [replay.transcript for replay in replays]
    verdict.remarks = _remarks(transcripts)
    verdict.missing_judgements = results.missing.missing
    verdict.missing_answers = results.answers.whole.missing_kinds
    verdict.judged_answers = results.answers.whole.judged_kinds
    verdict.jury = results.jury.words if results.jury else ""
    verdict.recorded_cost = results.spending.total.value
    verdict.currency = results.spending.currency
    if not results.valid:
        reason = f"study invalid: {results.invalid_reason}"
        verdict.problems.append("\n".join([reason, *causes(study, results)]))
    if not study.results.is_file():
        verdict.problems.append(f"numbers: {study.results} is missing, nothing to compare with")
        return
    enter_comparison(compare_results(study, results, replays), verdict)


def _remarks(transcripts: Sequence[Any]) -> list[str]:
    """Return what transcripts remark, each with how many of its topic are so."""
    pairs = Counter(pair for each in transcripts for pair in getattr(each, "remarks", ()))
    topics = Counter(topic for topic, _ in pairs.elements())
    return [
        f"{topic} {state} {count}/{topics[topic]}"
        for (topic, state), count in sorted(pairs.items())
    ]


def enter_comparison(comparison: ResultsComparison, verdict: Verdict) -> None:
    """Write into a verdict how results.json compares with what is computed now."""
    verdict.numbers, verdict.words = comparison.numbers, comparison.words
    verdict.first_difference, verdict.more = comparison.where, comparison.more
    if comparison.problem:
        verdict.problems.append(comparison.problem)
