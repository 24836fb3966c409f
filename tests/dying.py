"""Harness processes that die: killed from outside, or at a chosen system call of their own.

They are forked from one process that has imported everything, so that a hundred of them start
quickly. The program they run is the command line, with no hooks: a fault replaces a function of
`os` in that process alone.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple


class Fault(NamedTuple):
    """Die at the n-th call of os.`function` on a path that ends in `place`.

    moment: "before" or "after" the call, or "half" of a write.
    """

    function: str
    place: str
    nth: int
    moment: str


class Nursery:
    """Starts harness processes, one at a time."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process, self._log = process, log

    def start(self, *words: str, fault: Fault | None = None) -> int:
        """Start `harness WORDS` and give its process id."""
        self._log.write_text("")
        assert self._process.stdin
        self._process.stdin.write(json.dumps([words, fault]) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def wait(self) -> int:
        """Wait for its end and give the exit code, negative for a signal."""
        return int(self._line())

    def run(self, *words: str, fault: Fault | None = None) -> int:
        """Start a process, wait, and give the exit code."""
        self.start(*words, fault=fault)
        return self.wait()

    def kill(self, pid: int) -> bool:
        """Kill the process and wait; False where it had come to its own end."""
        with suppress(ProcessLookupError):  # it has ended, and the nursery has taken notice
            os.kill(pid, signal.SIGKILL)
        return self.wait() == -signal.SIGKILL

    @property
    def said(self) -> str:
        """What the last process printed."""
        return self._log.read_text()

    def _line(self) -> str:
        assert self._process.stdout
        ready, _, _ = select.select([self._process.stdout], [], [], 60)
        assert ready, f"no end after a minute: {self.said}"
        return self._process.stdout.readline()


@contextmanager
def nursery(folder: Path) -> Iterator[Nursery]:
    """Keep the process that all others are forked from."""
    log = folder / "harness.log"
    process = subprocess.Popen(
        [sys.executable, __file__, str(log)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=1,
        text=True,
    )
    try:
        yield Nursery(process, log)
    finally:
        process.kill()
        process.wait()


def sabotage(fault: Fault) -> None:
    """Let this process die at a call of its own."""
    opened: dict[int, str] = {}
    real_open, real = os.open, getattr(os, fault.function)
    calls, place = itertools.count(1), fault.place.format(pid=os.getpid())

    def watched_open(path: Any, *more: Any, **named: Any) -> int:
        descriptor = real_open(path, *more, **named)
        opened[descriptor] = os.fspath(path)
        return descriptor

    def deadly(first: Any, *more: Any) -> Any:
        path = opened.get(first, "") if isinstance(first, int) else os.fspath((first, *more)[-1])
        if not path.endswith(place) or next(calls) != fault.nth:
            return real(first, *more)
        if fault.moment == "after":
            real(first, *more)
        elif fault.moment == "half":
            real(first, bytes(more[0])[: len(more[0]) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
        return time.sleep(60)  # no other thread gets far, either

    os.open = watched_open
    setattr(os, fault.function, deadly)


def _serve(log: Path, main: Callable[[list[str]], None]) -> None:
    for line in sys.stdin:
        words, fault = json.loads(line)
        pid = os.fork()
        if not pid:
            _live(log, main, words, Fault(*fault) if fault else None)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _live(
    log: Path, main: Callable[[list[str]], None], words: list[str], fault: Fault | None
) -> None:
    file = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    if fault:
        sabotage(fault)
    code: Any = 70
    try:
        main(words)
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    import filelock  # noqa: F401  # so that no child spends time on importing

    import harness.run.record  # noqa: F401
    from harness.cli import main as command_line

    _serve(Path(sys.argv[1]), command_line)
