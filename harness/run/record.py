"""Record a study: its cells in threads, each into its own cassette."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import httpx

from harness import results as results_file
from harness.asking.executor import in_turn
from harness.asking.models.chat_model import Manner, unnoticed
from harness.asking.rate_limits import Limits, LimitTransport
from harness.asking.replies.structured_output import ignored
from harness.asking.retry import RetryTransport
from harness.errors import CheckFailed, Incomplete, UsageError
from harness.files import move_aside, write_atomic
from harness.protocols.registry import held_cell, protocol_of
from harness.recording import checksums
from harness.recording.journal import read_journal
from harness.recording.recorder import Recorder
from harness.recording.redaction import KeyRing
from harness.recording.transport import RecordingTransport
from harness.results import Fallback, GoldKey
from harness.run.budget import Budget, PricedTransport, check_limit
from harness.run.causes import cause_of, causes
from harness.run.circuit_breaker import JudgeWatch
from harness.run.commands import command_runner
from harness.run.preflight import read_all
from harness.run.reach import ReachTransport
from harness.run.rejections import RejectionWatch
from harness.run.replay import replayed_results
from harness.run.served import ServedModels
from harness.run.tally import Tally
from harness.run.threads import at_once, started, stops_all
from harness.run.verdict import replay
from harness.run.wiring import endpoints, freeze, keys_in_use, require_keys, surroundings, way_out
from harness.study.entries import ModelEntry, SourceEntry
from harness.study.folder import Cell, Study

NO_THREAD = (
    "the system started no thread; nothing was sent. Raise its limits of memory and processes "
    "(`ulimit -v`, `ulimit -u`) and start the same command again."
)
OPEN = "open"  # no cell is named so: theirs have "--" inside


class RecordOutcome(NamedTuple):
    """What a recording came to: the verdict's own words where it is complete.

    missing: judgements, and missing_answers those of the models examined, by kind: of the whole
    study where it is complete, else of the cells that this session finished. judged_answers: those
    without a text that were judged, by kind.
    causes: why the study is invalid, and how to go on; () where it is valid.
    """

    tally: Tally
    problems: list[str]
    fingerprint: str
    torn: list[str]
    redacted: int
    spent: float | None
    invalid: str = ""
    missing: int = 0
    missing_answers: Mapping[str, int] = MappingProxyType({})
    judged_answers: Mapping[str, int] = MappingProxyType({})
    fallbacks: Sequence[Fallback] = ()
    causes: Sequence[str] = ()
    notices: Sequence[str] = ()


class _Counted(httpx.BaseTransport):
    """Count the calls that come back from below."""

    def __init__(self, inner: httpx.BaseTransport, tally: Tally) -> None:
        self._inner, self._tally = inner, tally

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        self._tally.add(calls=1)
        return response


class Recording:
    """A recording of a study: its cells in threads, each into its own cassette."""

    def __init__(
        self,
        study: Study,
        *,
        restart: Iterable[str] = (),
        price_file: Path | None = None,
        cost_limit: float | None = None,
        keep_going: bool = False,
        pilot: bool = False,
        only: Sequence[Cell] = (),
        accept_missing: Iterable[str] = (),
    ) -> None:
        """Look at what is there.

        pilot: record only a reduced grid; only: only these cells; neither makes results.
        accept_missing: the cells in which an error that stays is a missing answer.
        """
        if price_file is not None and study.results.exists():
            raise UsageError(
                f"{study.results}: the study is finished, and its fingerprint holds the prices it "
                "was recorded with; --prices comes too late."
            )
        self.study = study
        read_all(study, price_file)
        self._frozen = freeze(study, price_file)
        self._prices = self._frozen.materials.prices
        if cost_limit is not None:
            check_limit(study, self._prices)
        self.budget = Budget(cost_limit)
        self._found: Any = None
        self._served = ServedModels(study.file.models)
        rejected_limit = 0 if keep_going else study.file.record.rejected_limit
        self._rejections = RejectionWatch(rejected_limit, study.name)
        self._keys = keys_in_use(study)
        self.ring = KeyRing(self._keys.values())
        self._restart = self._cells_named(restart)
        self._accepting = self._accepted(accept_missing)
        self._identity = study.identity(self._frozen.data)
        self.stop = threading.Event()
        self.torn: list[str] = []
        grid = protocol_of(study).pilot_cells(study) if pilot else only or study.cells()
        self._partial = len(grid) < len(study.cells())
        self.open_cells = [cell for cell in grid if self._is_open(cell)]
        if self.open_cells:  # results can be made anew without a key
            require_keys(study, self._keys)
        self._protocol = protocol_of(study)
        calls, planned = self._protocol.calls_a_cell(study), len(grid)
        self.tally = Tally(planned, planned - len(self.open_cells), calls)
        limit = None if keep_going else study.file.record.stop_after_unusable
        self._watch = JudgeWatch(limit, study.name, partial(cause_of, study), self.tally.note)
        trusted = httpx.create_ssl_context()  # reading the certificates takes its time: only once
        self._network = {
            name: self._way_out(name, entry, httpx.HTTPTransport(verify=trusted))
            for name, entry in endpoints(study).items()
        }

    @property
    def _spent(self) -> float | None:
        """Return what this session spent; None where the price of a model is not known."""
        prices = self._prices.models if self._prices else {}
        models = set(self.study.file.models)
        return self.budget.spent if models and set(prices) >= models else None

    def _cells_named(self, names: Iterable[str]) -> set[str]:
        """Return the cells to start anew; the name "open" stands for all that are begun."""
        restarted, names_of_cells = set(names), {cell.name for cell in self.study.cells()}
        if OPEN in restarted:
            restarted = restarted - {OPEN} | self._begun()
        for name in restarted - names_of_cells:
            raise UsageError(
                f"--restart {name}: no such cell; `harness show {self.study.name}` lists them, and "
                f"{OPEN!r} stands for all that are begun."
            )
        return restarted

    def _begun(self) -> set[str]:
        """Return the cells that have calls and are not finished."""
        paths = {cell.name: self.study.cassette(cell) for cell in self.study.cells()}
        return {
            name
            for name, path in paths.items()
            if path.with_suffix(".journal").exists() and not path.exists()
        }

    def _accepted(self, names: Iterable[str]) -> set[str]:
        cells, names_of_cells = set(names), {cell.name for cell in self.study.cells()}
        version = self._frozen.materials.protocol_version
        for name in cells - names_of_cells:
            raise UsageError(f"--accept-missing {name}: no such cell in {self.study.name}.")
        if cells and version == 1:
            raise UsageError(
                "--accept-missing: this study was begun under protocol version 1, which has no "
                "missing answers: the jury would judge them. Make a new study of its file."
            )
        return cells

    def _is_open(self, cell: Cell) -> bool:
        """A journal beside a cassette: killed before it was removed; the cell tidies up, unsent."""
        path = self.study.cassette(cell)
        is_begun = path.with_suffix(".journal").exists()
        return is_begun or not path.exists() or cell.name in self._restart

    def _way_out(
        self, name: str, entry: ModelEntry | SourceEntry, wire: httpx.BaseTransport
    ) -> httpx.BaseTransport:
        retry = RetryTransport(
            LimitTransport(way_out(entry, wire), _limits(entry), self.stop),
            self.stop,
            tries=self.study.file.record.tries,
            retried=lambda: self.tally.add(retries=1),
        )
        reached = ReachTransport(retry, name, entry.base_url)
        counted = _Counted(reached, self.tally)
        price = self._prices.models.get(name) if self._prices else None
        if price is None or not isinstance(entry, ModelEntry):
            return counted
        return PricedTransport(counted, self.budget, price, entry.provider)

    def run(self, workers: int | None = None) -> RecordOutcome:
        """Record what is not finished; on Ctrl-C finish the calls in flight, save, and raise.

        Raises KeyboardInterrupt after saving (a second Ctrl-C: at once, what is in the journals
        stays); before anything is sent Miss, UsageError and DamagedFile where what was recorded
        does not fit the study; EndpointRefused and NoRoom as soon as the calls in flight have
        ended. Cells that another infrastructure error left incomplete are named in the outcome.
        """
        if not self.open_cells and self._is_sealed():
            return RecordOutcome(self.tally, [], self._compare(), self.torn, 0, self._spent)
        self._check_recorded()
        self._workers = workers or self.study.file.record.workers
        problems: list[str] = []
        futures: dict[Future[None], Cell] = {Future(): cell for cell in self.open_cells}
        waiting = deque(futures.items())
        crew: list[threading.Thread] = []
        try:
            crew = started(partial(self._work, waiting), min(self._workers, len(futures)))
            if futures and not crew:
                raise Incomplete(NO_THREAD)
            self._gather(futures, problems)
        finally:
            self._end(crew)
        done = "" if problems or self._partial else self._complete()
        outcome = RecordOutcome(
            self.tally,
            problems,
            done,
            self.torn,
            self.ring.replaced,
            self._spent,
            missing=self.tally.missing,
            missing_answers=self.tally.missing_answers,
            judged_answers=self.tally.judged_answers,
            notices=self._served.warnings,
        )
        return outcome if self._found is None else self._with_results(outcome)

    def _with_results(self, outcome: RecordOutcome) -> RecordOutcome:
        invalid = self._found.invalid_reason or ""
        return outcome._replace(
            invalid=invalid,
            missing=self._found.missing.missing,
            missing_answers=self._found.answers.whole.missing_kinds,
            judged_answers=self._found.answers.whole.judged_kinds,
            fallbacks=self._found.fallbacks.shares,
            notices=[*self._found.notices, *outcome.notices],
            causes=causes(self.study, self._found) if invalid else [],
        )

    def _check_recorded(self) -> None:
        """Look at everything that is there before a call is paid for: damage, or another study."""
        nothing = dict.fromkeys(endpoints(self.study))
        for cell in self.study.cells():
            if cell.name in self._restart:
                continue
            if self.study.cassette(cell).exists():
                self._hold(cell, Recorder(self.study.cassette(cell)), nothing)
            self._check_journal(cell)

    def _check_journal(self, cell: Cell) -> None:
        path = self.study.cassette(cell).with_suffix(".journal")
        begun = read_journal(path).header if path.exists() else ""
        if begun not in ("", self._identity):
            raise UsageError(
                f"{path}: begun under another study file or other materials (then {begun}, now "
                f"{self._identity}). Nothing was sent. Undo the change, or start every open cell "
                f"anew: `harness record {self.study.name} --restart {OPEN}` (or this one alone: "
                f"--restart {cell.name})."
            )

    def _work(self, waiting: deque[tuple[Future[None], Cell]]) -> None:
        """Record one cell after the other, until there is none left or all is to stop."""
        while not self.stop.is_set():
            try:
                future, cell = waiting.popleft()
            except IndexError:
                return
            try:
                self._cell(cell)
            except BaseException as error:  # noqa: BLE001  # _gather raises it
                if stops_all(error):
                    self.stop.set()  # before this thread, or any, begins another cell
                future.set_exception(error)
            else:
                future.set_result(None)

    def _end(self, crew: Iterable[threading.Thread]) -> None:
        """Let the calls in flight end; the threads are daemons, so a second Ctrl-C ends them."""
        self.stop.set()
        for thread in crew:
            if thread.ident is not None:
                thread.join()
        for transport in self._network.values():
            transport.close()

    def _gather(self, futures: Mapping[Future[None], Cell], problems: list[str]) -> None:
        waiting, places = set(futures), {cell: n for n, cell in enumerate(futures.values())}
        while waiting:
            done, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda future: places[futures[future]]):
                error = future.exception()
                if error is not None and stops_all(error):
                    raise error
                if error is not None:
                    problems.append(self.ring.clean_text(f"{futures[future].name}: {error}"))

    def _cell(self, cell: Cell) -> None:
        path, restart = self.study.cassette(cell), cell.name in self._restart
        if restart and path.exists():
            move_aside(path)
        recorder = Recorder(
            path, "new_episodes", keys=self.ring, identity=self._identity, restart=restart
        )
        try:
            if recorder.torn:
                self.torn.append(
                    f"{cell.name}: {len(recorder.torn)} bytes of a torn last line "
                    "were dropped; that call is sent again"
                )
            result = self._hold(cell, recorder, self._network)
            recorder.save()
        finally:
            recorder.release()
        results = [] if isinstance(cell, GoldKey) else [result]
        answers = self._protocol.answers(results).whole
        self.tally.add(
            cells=1,
            missing=self._protocol.missing(results),
            missing_answers=answers.missing_kinds,
            judged_answers=answers.judged_kinds,
        )

    def _hold(
        self, cell: Cell, recorder: Recorder, ways: Mapping[str, httpx.BaseTransport | None]
    ) -> object:
        """Hold a cell; what is not recorded goes the `ways` out."""
        transports = {name: RecordingTransport(recorder, inner=way) for name, way in ways.items()}
        sends = recorder.mode != "none"
        around = surroundings(
            self.study,
            cell,
            transports,
            self._keys,
            self._watch.heard if sends else ignored,
            at_once(self._workers, self.stop) if sends else in_turn,
            Manner(
                self._frozen.materials.protocol_version,
                cell.name in self._accepting,
                self._rejections.noticed if sends else unnoticed,
            ),
            command_runner(self.study, recorder, self._keys, self.tally),
        )
        result = held_cell(self.study, cell, self._frozen.materials, around).run()
        recorder.check()
        self._served.add(result.served)
        return result

    def _is_sealed(self) -> bool:
        """Return whether results and both manifests are there; a kill between them leaves fewer."""
        manifests = [
            checksums.manifest_path(self.study.root, self.study.name, kind)
            for kind in checksums.KINDS
        ]
        return all(path.exists() for path in (self.study.results, *manifests))

    def _compare(self) -> str:
        """Leave a finished study as it is, and say so where it does not hold."""
        verdict = replay(self.study, verify_checksums=True)
        if verdict.ok:
            return verdict.fingerprint
        raise CheckFailed(
            f"{self.study.name}: all cells are recorded and nothing was written. But the study "
            f"does not hold: {verdict.problems[0]}\nTo record a cell anew: --restart CELL. To make "
            f"results and manifests anew from the cassettes as they are, delete "
            f"{self.study.results} first."
        )

    def _complete(self) -> str:
        """Write results and manifests, from the cassettes as a replay reads them."""
        self._found = replayed_results(self.study)
        write_atomic(self.study.results, results_file.canonical(self._found))
        (self.study.folder / checksums.PARTIAL).unlink(missing_ok=True)
        return checksums.write_manifests(self.study.root, self.study.folder)


def _limits(entry: ModelEntry | SourceEntry) -> Limits:
    tokens = entry.tokens_per_minute if isinstance(entry, ModelEntry) else None
    return Limits(entry.concurrency, entry.requests_per_minute, tokens)
