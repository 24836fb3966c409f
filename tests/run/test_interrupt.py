"""Ctrl-C ends a recording soon, and saves first; two recorders do not get in each other's way."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from study_folder import PACKAGE, command, harness, kept_calls, left_over, write_study

from harness.study.folder import Study

Process = subprocess.Popen[str]


def start(study: Study, *words: str) -> Process:
    """Start a harness in a process group of its own, as a shell does."""
    return subprocess.Popen(
        command(study, *words),
        cwd=PACKAGE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_until(true: Callable[[], object], seconds: float = 30) -> None:
    """Wait for something to become true, and fail when it does not."""
    patience = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < patience
        time.sleep(0.01)


def interrupt(process: Process) -> None:
    """Press Ctrl-C."""
    os.killpg(process.pid, signal.SIGINT)


class Gate:
    """A provider whose answers wait until the gate is open."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self._provider = Provider()
        self.bodies: list[bytes] = []

    def __call__(self, received: Received) -> Answer:
        self.bodies.append(received.body)
        assert self.open.wait(60)
        return self._provider(received)


def test_what_is_in_flight_is_finished_and_kept(tmp_path: Path) -> None:
    """On Ctrl-C the four calls in flight are awaited and kept, none is begun, and exit is 130.

    The same command goes on, and no call is paid for twice.
    """
    gate = Gate()
    with Loopback(gate) as server:
        study = write_study(tmp_path, server.url, levels="[0.0, 0.25, 0.5, 0.75]")
        process = start(study, "record", "--workers", "4")
        wait_until(lambda: server.answered >= 20)
        gate.open.clear()
        wait_until(lambda: len(gate.bodies) - server.answered == 4)
        begun = len(gate.bodies)
        interrupt(process)
        time.sleep(0.3)
        assert process.poll() is None, "it did not wait for what was paid for"
        gate.open.set()
        said, _ = process.communicate(timeout=20)
        assert process.returncode == 130, said
        assert "interrupted; every finished call is saved" in said
        assert "Traceback" not in said
        assert kept_calls(study).total() == len(gate.bodies) == begun
        done = harness(study, "record")
        assert done.returncode == 0, done.stderr
        assert len(gate.bodies) == 4 * 25


def test_a_wait_before_another_try_ends(tmp_path: Path) -> None:
    """Ctrl-C does not wait for the 200 seconds that a provider asked for."""

    def busy(received: Received) -> Answer:
        return json_answer({"error": "busy"}, 429, [("Retry-After", "200")])

    with Loopback(busy) as server:
        study = write_study(tmp_path, server.url)
        process = start(study, "record", "--workers", "2")
        wait_until(lambda: server.answered == 2)
        time.sleep(0.2)
        interrupt(process)
        said, _ = process.communicate(timeout=20)
        assert process.returncode == 130, said
        assert "Traceback" not in said
        assert server.answered == 2


def test_a_place_that_is_waited_for_is_not_taken(tmp_path: Path) -> None:
    """Cells that stand in line for an endpoint send nothing any more after Ctrl-C."""
    gate = Gate()
    gate.open.clear()
    with Loopback(gate) as server:
        study = write_study(tmp_path, server.url, levels="[0.0, 0.25, 0.5, 0.75, 0.9, 1.0]")
        process = start(study, "record", "--workers", "6")  # and 4 at a time for one endpoint
        wait_until(lambda: len(gate.bodies) == 4)
        time.sleep(0.2)
        interrupt(process)
        time.sleep(0.3)
        gate.open.set()
        said, _ = process.communicate(timeout=20)
        assert process.returncode == 130, said
        assert len(gate.bodies) == kept_calls(study).total() == 4


def test_a_second_interrupt_ends_at_once(tmp_path: Path) -> None:
    """A second Ctrl-C waits for no answer; what was kept stays, and the resume needs only the
    rest.
    """
    gate = Gate()
    with Loopback(gate) as server:
        study = write_study(tmp_path, server.url)
        process = start(study, "record", "--workers", "2")
        wait_until(lambda: server.answered >= 20)
        gate.open.clear()
        wait_until(lambda: len(gate.bodies) - server.answered == 2)
        kept = kept_calls(study)
        interrupt(process)
        time.sleep(0.3)
        assert process.poll() is None
        interrupt(process)
        said, _ = process.communicate(timeout=20)
        assert process.returncode == 130, said
        assert kept_calls(study) == kept
        gate.open.set()
        done = harness(study, "record")
        assert done.returncode == 0, done.stderr
        assert len(gate.bodies) == 2 * 25 + 2
        assert left_over(study) == []


def test_two_recorders_do_not_share_a_cell(tmp_path: Path) -> None:
    """The second names the first by its process id, records the other cells, and exits with 3.

    Killed with -9, the first leaves a lock behind that keeps nobody out.
    """
    provider, silent = Provider(), threading.Event()

    def answer(received: Received) -> Answer:
        if silent.is_set():
            return provider(received)
        silent.set()
        return Answer(status=0, hang=True)  # to the first call, until its client is gone

    with Loopback(answer) as server:
        study = write_study(tmp_path, server.url)
        first = start(study, "record", "--workers", "1")
        wait_until(silent.is_set)
        second = harness(study, "record")
        assert second.returncode == 3, second.stderr
        assert f"process {first.pid} on " in second.stderr
        assert len(server.received) == 1 + 25
        assert kept_calls(study).total() == 25
        first.kill()
        first.communicate()
        assert len(list(study.folder.glob("*.lock"))) == 1
        done = harness(study, "record")
        assert done.returncode == 0, done.stderr
        assert list(study.folder.glob("*.lock*")) == []
        assert len(server.received) == 1 + 2 * 25


def test_a_reader_that_leaves_costs_no_answer(tmp_path: Path) -> None:
    """Nobody reads the progress any more (`record 2>&1 | head -1`): every answer is still kept."""
    gate = Gate()
    with Loopback(gate) as server:
        study = write_study(tmp_path, server.url)
        process = start(study, "record", "--workers", "2")
        assert process.stdout
        process.stdout.close()
        process.wait(60)
        assert len(gate.bodies) == 2 * 25
        assert left_over(study) == []
        assert study.results.exists()
