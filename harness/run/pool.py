"""Replay batches of cells in processes of our own.

A process of a standard library's pool first runs the caller's script again, so a plain script or a
notebook breaks it. These run nothing but this package, and are started before the network is
closed. Where one cannot start, or dies, its work is done in this process.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

Batch = TypeVar("Batch")
Outcome = TypeVar("Outcome")
PROGRAM = "from harness.run.pool import serve; serve()"
PACKAGE_ROOT = Path(__file__).parent.parent.parent


class Pool(Generic[Batch, Outcome]):
    """Child processes that do batches of work by a function of a module.

    work: the function's module and name, importable in a child. context: what it is handed first,
    before each batch.
    """

    def __init__(self, work: tuple[str, str], context: object, size: int) -> None:
        self._children = [child for _ in range(size) if (child := _started(work, context))]

    def run(self, batches: Sequence[Batch], work: Callable[[Batch], Outcome]) -> list[Outcome]:
        """Return each batch's outcome: from the first on in the children, from the last on here.

        Raises what a batch raised, the first of them in the batches' order.
        """
        waiting = deque(enumerate(batches))
        outcomes: dict[int, Outcome | BaseException] = {}
        threads = [
            threading.Thread(target=_serve_child, args=(child, waiting, outcomes), daemon=True)
            for child in self._children
        ]
        started = [thread for thread in threads if _is_started(thread)]
        _work_here(waiting, outcomes, work)
        for thread in started:
            thread.join()
        _work_here(waiting, outcomes, work)  # what a child left behind
        return [_outcome(outcomes[place]) for place in range(len(batches))]

    def close(self) -> None:
        """End the children."""
        for child in self._children:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]


@contextlib.contextmanager
def opened(work: tuple[str, str], context: object, size: int) -> Iterator[Pool[Any, Any]]:
    """Start a pool for the time of a `with` block."""
    pool: Pool[Any, Any] = Pool(work, context, size)
    try:
        yield pool
    finally:
        pool.close()


def _started(work: tuple[str, str], context: object) -> subprocess.Popen[bytes] | None:
    paths = [str(PACKAGE_ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    try:
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        _send(child.stdin, (work, context))
    except OSError:
        return None
    return child


def _is_started(thread: threading.Thread) -> bool:
    try:
        thread.start()
    except RuntimeError:  # no more threads are allowed here
        return False
    return True


def _serve_child(
    child: subprocess.Popen[bytes], waiting: deque[tuple[int, Any]], outcomes: dict[int, object]
) -> None:
    """Hand batches to a child until there is none, or it is gone."""
    while waiting:
        try:
            place, batch = waiting.popleft()
        except IndexError:
            return
        try:
            _send(child.stdin, batch)
            outcomes[place] = pickle.load(child.stdout)  # type: ignore[arg-type]
        except (OSError, EOFError, pickle.UnpicklingError):
            waiting.appendleft((place, batch))
            return


def _work_here(
    waiting: deque[tuple[int, Any]], outcomes: dict[int, Any], work: Callable[[Any], Any]
) -> None:
    while waiting:
        try:
            place, batch = waiting.pop()
        except IndexError:
            return
        outcomes[place] = work(batch)


def _outcome(outcome: Any) -> Any:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _send(pipe: Any, value: object) -> None:
    pickle.dump(value, pipe)
    pipe.flush()


def serve() -> None:
    """Do batches as they come on standard input, in a child process, without a network."""
    from harness.recording import guard

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed is no answer
    guard.close()
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        _serve(sys.stdin.buffer, answers)


def _serve(batches: BinaryIO, answers: BinaryIO) -> None:
    from importlib import import_module

    (module, name), context = pickle.load(batches)
    work = getattr(import_module(module), name)
    while True:
        batch = pickle.load(batches)
        try:
            outcome = work(context, batch)
        except Exception as error:  # noqa: BLE001  # the parent raises it
            outcome = error
        _send(answers, outcome)
