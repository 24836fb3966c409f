"""Record a study: its cells in threads, each into its own cassette."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

import httpx

from harness import results as results_file
from harness.asking.retry import LimitTransport, RetryTransport
from harness.ddft.protocol import SCRIPTED
from harness.ddft.scoring import count_missing
from harness.errors import CheckFailed, EndpointRefused, Incomplete, UsageError
from harness.files import write_atomic
from harness.recording import cassette as cassettes
from harness.recording import checksums
from harness.recording.recorder import Recorder
from harness.recording.redaction import KeyRing
from harness.recording.transport import RecordingTransport
from harness.results import CellKey
from harness.run.replay import replay_cells
from harness.run.wiring import chat_models, dialogue, freeze, keys_in_use, require_keys, score
from harness.study import ModelEntry, Study


class Tally:
    """How far a recording is; `changed` is called after every change, under the lock."""

    def __init__(self, planned: int, finished: int, calls_a_cell: int) -> None:
        self.planned, self.finished, self.calls_a_cell = planned, finished, calls_a_cell
        self.calls = self.retries = self.missing = 0
        self.began = time.monotonic()
        self.changed: Callable[[Tally], None] = lambda _: None
        self._lock = threading.Lock()

    def add(self, *, calls: int = 0, retries: int = 0, missing: int = 0, cells: int = 0) -> None:
        """Count what happened."""
        with self._lock:
            self.calls += calls
            self.retries += retries
            self.missing += missing
            self.finished += cells
            self.changed(self)

    @property
    def seconds_left(self) -> float | None:
        """Give the expected time to the end, from the calls of this session; None at first."""
        left = (self.planned - self.finished) * self.calls_a_cell
        passed = time.monotonic() - self.began
        return passed / self.calls * left if self.calls else None


class RecordOutcome(NamedTuple):
    """What a recording came to: the verdict's own words where it is complete."""

    tally: Tally
    problems: list[str]
    fingerprint: str
    torn: list[str]
    redacted: int


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

    def __init__(self, study: Study, *, restart: Iterable[str] = ()) -> None:
        self.study = study
        self._frozen = freeze(study)
        self._keys = keys_in_use(study)
        require_keys(study, self._keys)
        self.ring = KeyRing(self._keys.values())
        self._restart = self._cells_named(restart)
        self._identity = study.identity(self._frozen.data)
        self.stop = threading.Event()
        self.torn: list[str] = []
        self.open_cells = [cell for cell in study.cells() if not self._is_finished(cell)]
        calls = 5 * (1 + (study.file.ddft.interviewer != SCRIPTED) + len(study.file.ddft.jury))
        planned = len(study.cells())
        self.tally = Tally(planned, planned - len(self.open_cells), calls)
        self._network = {name: self._way_out(model) for name, model in study.file.models.items()}

    def _cells_named(self, names: Iterable[str]) -> set[str]:
        known = {cell.name for cell in self.study.cells()}
        for name in names:
            if name not in known:
                raise UsageError(
                    f"--restart {name}: no such cell; `harness show {self.study.name}` lists them."
                )
        return set(names)

    def _is_finished(self, cell: CellKey) -> bool:
        path = self.study.cassette(cell)
        if not path.exists():
            return False
        if cell.name in self._restart:
            path.replace(path.with_suffix(f".json.journal-{int(time.time())}"))
            return False
        cassettes.load(path)  # a damaged cassette stops here: it is never recorded over
        return True

    def _way_out(self, model: ModelEntry) -> httpx.BaseTransport:
        limit = LimitTransport(httpx.HTTPTransport(), model.concurrency)
        retry = RetryTransport(
            limit,
            self.stop,
            tries=self.study.file.record.tries,
            retried=lambda: self.tally.add(retries=1),
        )
        return _Counted(retry, self.tally)

    def run(self, workers: int | None = None) -> RecordOutcome:
        """Record what is not finished; on Ctrl-C finish the calls in flight, save, and raise.

        Raises KeyboardInterrupt after saving, UsageError and CheckFailed at once; cells that an
        infrastructure error left incomplete are named in the outcome.
        """
        problems: list[str] = []
        pool = ThreadPoolExecutor(workers or self.study.file.record.workers)
        try:
            futures = {pool.submit(self._cell, cell): cell for cell in self.open_cells}
            self._gather(futures, problems)
        finally:
            self.stop.set()
            pool.shutdown(cancel_futures=True)
            for transport in self._network.values():
                transport.close()
        done = "" if problems else self._complete()
        return RecordOutcome(self.tally, problems, done, self.torn, self.ring.replaced)

    def _gather(self, futures: Mapping[Future[None], CellKey], problems: list[str]) -> None:
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda future: futures[future]):
                error = future.exception()
                if isinstance(error, Incomplete) and not isinstance(error, EndpointRefused):
                    problems.append(f"{futures[future].name}: {error}")
                elif error is not None:
                    raise error

    def _cell(self, cell: CellKey) -> None:
        recorder = Recorder(
            self.study.cassette(cell),
            "new_episodes",
            keys=self.ring,
            identity=self._identity,
            restart=cell.name in self._restart,
        )
        try:
            if recorder.torn:
                self.torn.append(
                    f"{cell.name}: {len(recorder.torn)} bytes of a torn last line "
                    "were dropped; that call is sent again"
                )
            transports = {
                name: RecordingTransport(recorder, inner=way) for name, way in self._network.items()
            }
            models = chat_models(self.study, transports, self._keys)
            result = dialogue(self.study, cell, self._frozen.materials, models).run()
            recorder.check()
            recorder.save()
        finally:
            recorder.release()
        self.tally.add(cells=1, missing=count_missing([result], 1.0).missing)

    def _complete(self) -> str:
        """Write results and manifests, from the cassettes as a replay reads them."""
        replays = replay_cells(self.study)
        for replay in replays:
            if replay.problem:
                raise CheckFailed(replay.problem)
        found = score(self.study, [replay.result for replay in replays if replay.result])
        write_atomic(self.study.results, results_file.canonical(found))
        (self.study.folder / checksums.PARTIAL).unlink(missing_ok=True)
        return checksums.write_manifests(self.study.root, self.study.folder)
