"""No network and no new program while the guard is closed, whoever tries."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import httpx
import pytest
from loopback import Loopback, json_answer
from recording.sessions import FACES, async_client, client, send

from harness.errors import Blocked
from harness.recording import guard

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import asyncio, os, socket, subprocess, sys
from harness.errors import Blocked
from harness.recording import guard

udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here = ("127.0.0.1", 9)

async def opened():
    await asyncio.open_connection("127.0.0.1", 9)

async def looked_up():
    await asyncio.open_connection("localhost", 9)

TRIES = {
    "connect": lambda: socket.create_connection(here, 1),
    "connect_ex": lambda: socket.socket().connect_ex(here),
    "connect to a path": lambda: socket.socket(socket.AF_UNIX).connect("/tmp/none"),
    "getaddrinfo": lambda: socket.getaddrinfo("localhost", 80),
    "gethostbyname": lambda: socket.gethostbyname("localhost"),
    "gethostbyname_ex": lambda: socket.gethostbyname_ex("localhost"),
    "gethostbyaddr": lambda: socket.gethostbyaddr("127.0.0.1"),
    "getnameinfo": lambda: socket.getnameinfo(here, 0),
    "sendto": lambda: udp.sendto(b"x", here),
    "sendmsg": lambda: udp.sendmsg([b"x"], [], 0, here),
    "bind": lambda: socket.socket().bind(("127.0.0.1", 0)),
    "subprocess.Popen": lambda: subprocess.Popen([sys.executable, "-c", "0"]),
    "subprocess.run": lambda: subprocess.run("true", shell=True),
    "os.system": lambda: os.system("true"),
    "os.popen": lambda: os.popen("true"),
    "os.fork": lambda: os.fork() or os._exit(0),
    "os.posix_spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "os.spawnv": lambda: os.spawnv(os.P_WAIT, "/bin/true", ["true"]),
    "os.execv": lambda: os.execv("/bin/true", ["true"]),
    "asyncio": lambda: asyncio.run(opened()),
    "asyncio with a name": lambda: asyncio.run(looked_up()),
}
guard.close()
for number, (name, attempt) in enumerate(TRIES.items(), 1):
    try:
        attempt()
        print(name, "got through")
    except Blocked as blocked:
        print(name, "blocked" if "reaches no network" in str(blocked) else blocked)
    assert guard.attempts() == number, (name, guard.attempts())
guard.open_again()
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), 1).close()
assert subprocess.run([sys.executable, "-c", "pass"]).returncode == 0
print("open", guard.attempts() == len(TRIES))
"""
REPLAY = """
import sys
import httpx
from harness.recording.transport import RecordingTransport
transport = RecordingTransport(sys.argv[1])
with httpx.Client(transport=transport) as client:
    print([client.post(sys.argv[2], json={"n": n}).json()["number"] for n in range(3)])
    transport.check()
"""


def run(*command: str) -> str:
    """Run a program in the repository's root and give what it printed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_way_out_is_blocked() -> None:
    """A fresh process finds every way out shut and counted, and open again afterwards."""
    *tries, last = run(sys.executable, "-c", CHILD).splitlines()
    assert [line for line in tries if not line.endswith(" blocked")] == []
    assert len(tries) == 21
    assert last == "open True"


def connect(port: int) -> str:
    """Try to connect, in a child of a pool."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except Blocked:
        return f"blocked {guard.attempts()}"
    return "connected"


def resolve(name: str) -> str:
    """Look a name up, in a child of a pool."""
    return socket.gethostbyname(name)


def test_children_of_a_pool_are_closed_too() -> None:
    """A spawn pool starts under a closed guard, and its children are closed by the initializer."""
    with socket.create_server(("127.0.0.1", 0)) as server, guard.closed():
        before = guard.attempts()
        with ProcessPoolExecutor(1, get_context("spawn"), guard.close) as pool:
            port = server.getsockname()[1]
            assert pool.submit(connect, port).result(30) == "blocked 1"
            with pytest.raises(Blocked, match=r"socket\.gethostbyname"):
                pool.submit(resolve, "localhost").result(30)
        assert guard.attempts() == before


def test_client_without_the_transport() -> None:
    """A client built without the transport is blocked, and retries on Exception do not hide it."""

    def insist(url: str) -> int:
        tries = 0
        with httpx.Client(trust_env=False) as bare:
            while tries < 3:
                tries += 1
                try:
                    bare.get(url)
                except Exception:
                    continue
        return tries

    with Loopback(lambda received: json_answer(1)) as server:
        before = guard.attempts()
        with guard.closed(), pytest.raises(Blocked, match="without the recording transport"):
            insist(server.url)
        assert guard.attempts() == before + 1
        assert server.connections == 0
        assert insist(server.url) == 3  # open again


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_async_client_without_the_transport(host: str) -> None:
    """An async client is blocked too; a group around the reason is no Exception either."""

    async def insist(url: str) -> None:
        async with httpx.AsyncClient(trust_env=False) as bare:
            try:
                await bare.get(url)
            except Exception:
                return

    with Loopback(lambda received: json_answer(1)) as server:
        with guard.closed(), pytest.raises(BaseException) as stopped:  # noqa: PT011
            asyncio.run(insist(server.url.replace("127.0.0.1", host)))
        assert server.connections == 0
    reason: BaseException = stopped.value
    while isinstance(reason, BaseExceptionGroup):
        reason = reason.exceptions[0]
    assert isinstance(reason, Blocked)


def test_closing_twice_needs_opening_twice() -> None:
    """Closed blocks may stand in each other; the network is back after the outer one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with guard.closed():
            with guard.closed():
                pass
            with pytest.raises(Blocked):
                socket.create_connection(server.getsockname(), 1)
        guard.open_again()  # once too often does no harm
        socket.create_connection(server.getsockname(), 1).close()
        with guard.closed(), pytest.raises(Blocked):
            socket.create_connection(server.getsockname(), 1)


@pytest.fixture
def three(tmp_path: Path) -> tuple[Path, str]:
    """Record three calls and give the cassette and the URL."""
    path = tmp_path / "c.json"
    with Loopback(lambda received: json_answer({"number": received.number})) as server:
        requests = [httpx.Request("POST", server.url, json={"n": n}) for n in range(3)]
        send("sync", path, "once", requests)
    return path, server.url


@pytest.mark.parametrize("face", FACES)
def test_replay_opens_no_socket(three: tuple[Path, str], face: str) -> None:
    """A replay under the closed guard is answered with no attempt at all."""
    path, url = three
    before = guard.attempts()
    with guard.closed():
        requests = [httpx.Request("POST", url, json={"n": n}) for n in range(3)]
        replayed = send(face, path, "none", requests)
    assert [response.json()["number"] for response in replayed] == [0, 1, 2]
    assert guard.attempts() == before


def test_replay_of_a_full_loop_of_clients(three: tuple[Path, str]) -> None:
    """Many clients of both faces over cassettes at once open no socket either."""
    path, url = three
    copied = path.with_name("copied.json")
    copied.write_bytes(path.read_bytes())

    async def talk() -> list[int]:
        async with async_client(path) as first, async_client(copied) as second:
            pairs = await asyncio.gather(
                *(live.post(url, json={"n": n}) for live in (first, second) for n in range(3))
            )
        with client(path) as third:
            pairs.append(third.post(url, json={"n": 0}))
        return [response.json()["number"] for response in pairs]

    with guard.closed():
        assert asyncio.run(talk()) == [0, 1, 2, 0, 1, 2, 0]


def without_network() -> list[str]:
    """Give the command that starts another without a network; skip where there is none."""
    program = shutil.which("unshare")
    for options in (["-n"], ["-r", "-n"]):
        command = [program or "false", *options]
        if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    pytest.skip("needs unshare, and the right to use it")


def test_replay_without_a_network(three: tuple[Path, str]) -> None:
    """A replay runs in a process that has no network interface at all."""
    path, url = three
    unshare = without_network()
    look = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    alone = subprocess.run([*unshare, sys.executable, "-c", look], capture_output=True, text=True)
    assert "Network is unreachable" in alone.stderr
    assert run(*unshare, sys.executable, "-c", REPLAY, str(path), url) == "[0, 1, 2]\n"
