"""Start a command where it reaches a proxy of ours and, where the system can, nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import CheckFailed

LAUNCH = Path(__file__).with_name("launch.py")
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
STARTED_WITHIN = 60.0  # seconds, on a machine under load
POLL = 0.05
OWN_NETWORK = "own network, files read-only"
ONLY_NETWORK = "own network, files not protected"
NOT_ISOLATED = "proxy variables only, bypass not observed"
Serve = Callable[[socket.socket], AbstractContextManager[Mapping[str, str]]]


class Launch(NamedTuple):
    """A command and where it runs.

    folder: may be written to; the command runs in its subfolder `work`, with `home` as its home.
    timeout: in seconds. stdout, stderr: files.
    """

    command: Sequence[str]
    folder: Path
    timeout: float
    stdout: Path
    stderr: Path


class Ended(NamedTuple):
    """How a command ended.

    code: its exit code, negative for a signal. attempts: connections that went past the proxy, None
    where that cannot be seen. isolation: what kept it apart, in words.
    """

    code: int
    timed_out: bool
    attempts: int | None
    isolation: str


def can_isolate() -> bool:
    """Tell whether this system gives a command a network of its own."""
    if sys.platform != "linux":
        return False
    probe = [sys.executable, "-I", "-S", str(LAUNCH), "probe"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def run(launch: Launch, serve: Serve, stop: threading.Event, *, isolated: bool) -> Ended:
    """Run a command until it ends, its time is up, or `stop` is set.

    serve: is handed a listening socket that the command reaches, and gives the environment
    variables that say so to the command's clients.
    """
    for name in ("work", "home", "tmp"):
        (launch.folder / name).mkdir(exist_ok=True)
    return (_run_isolated if isolated else _run_beside)(launch, serve, stop)


def _environment(launch: Launch, variables: Mapping[str, str], tripwire: int) -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    refusing = f"http://127.0.0.1:{tripwire}" if tripwire else ""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    proxies = {each: refusing for name in names for each in (name, name.lower()) if refusing}
    return {
        **passed,
        **proxies,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "HOME": str(launch.folder / "home"),
        "TMPDIR": str(launch.folder / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        **variables,
    }


def _run_isolated(launch: Launch, serve: Serve, stop: threading.Event) -> Ended:
    ours, theirs = socket.socketpair()
    with ours, _started(launch, [sys.executable, "-I", "-S", str(LAUNCH)], theirs) as process:
        ours.settimeout(STARTED_WITHIN)
        order = {
            "command": list(launch.command),
            "folder": str(launch.folder / "work"),
            "writable": str(launch.folder),
        }
        ours.sendall(json.dumps(order).encode() + b"\n")
        message, descriptors, _, _ = socket.recv_fds(ours, 65536, 1)
        state = json.loads(message or b'{"isolated": false, "why": "the launcher ended"}')
        if not state["isolated"]:
            raise CheckFailed(f"the program cannot be isolated here: {state['why']}")
        with socket.socket(fileno=descriptors[0]) as listener, serve(listener) as variables:
            environment = _environment(launch, variables, state["tripwire"])
            ours.sendall(json.dumps(environment).encode() + b"\n")
            ended, timed_out = _awaited(ours, process, launch.timeout, stop)
    isolation = OWN_NETWORK if state["files"] else ONLY_NETWORK
    return Ended(int(ended["code"]), timed_out, int(ended["attempts"]), isolation)


def _awaited(
    control: socket.socket, process: subprocess.Popen[bytes], timeout: float, stop: threading.Event
) -> tuple[dict[str, Any], bool]:
    """Return what the launcher says at the end, and whether the time was up."""
    deadline, timed_out = time.monotonic() + timeout, False
    control.settimeout(POLL)
    message = b""
    while not message.endswith(b"\n"):
        timed_out = timed_out or time.monotonic() > deadline
        if stop.is_set() or timed_out:
            process.send_signal(signal.SIGTERM)
        try:
            piece = control.recv(65536)
        except TimeoutError:
            continue
        if not piece:
            raise CheckFailed("the program's launcher was killed; start the same command again")
        message += piece
    return json.loads(message), timed_out


@contextmanager
def _started(
    launch: Launch, command: Sequence[str], control: socket.socket
) -> Iterator[subprocess.Popen[bytes]]:
    with control, launch.stdout.open("wb") as out, launch.stderr.open("wb") as err:
        process = subprocess.Popen(
            [*command, str(control.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            pass_fds=[control.fileno()],
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _run_beside(launch: Launch, serve: Serve, stop: threading.Event) -> Ended:
    """Run the command on this machine's network, with nothing but variables to lead it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        with (
            serve(listener) as variables,
            launch.stdout.open("wb") as out,
            launch.stderr.open("wb") as err,
        ):
            process = subprocess.Popen(
                list(launch.command),
                cwd=launch.folder / "work",
                env=_environment(launch, variables, 0),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            deadline = time.monotonic() + launch.timeout
            while process.poll() is None and not stop.is_set() and time.monotonic() < deadline:
                stop.wait(POLL)
            timed_out = process.poll() is None and not stop.is_set()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Ended(process.returncode, timed_out, None, NOT_ISOLATED)
