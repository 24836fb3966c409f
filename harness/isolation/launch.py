"""Run a command in a network of its own: started as a script, by isolated.py, with nothing loaded.

Argument: the descriptor of a socket pair's end, over which one JSON line goes each way at a time.
First comes what to run; back goes how far it is isolated, with a listening socket that stands in
the new network; then the command's environment; back goes how it ended. Linux only
(https://man7.org/linux/man-pages/man7/namespaces.7.html).
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from typing import Any

NEW_USER, NEW_NET, NEW_MOUNTS = 0x10000000, 0x40000000, 0x00020000
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
MOUNT_SETATTR, HERE, ALL_BELOW, READ_ONLY = 442, -100, 0x8000, 1
SET_FLAGS, UP, RUNNING = 0x8914, 0x1, 0x40  # of an interface
WHEN_PARENT_DIES = 1
PROBE = "probe"  # in the place of the descriptor: only tell by the exit code whether it can be done
FAILED = ("Ip.OutNoRoutes", "Ip6OutNoRoutes", "Tcp.AttemptFails", "Udp.NoPorts", "Udp6NoPorts")
libc = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user")]


def main() -> None:
    """Run one command."""
    if sys.argv[1] == PROBE:
        _enter_network()
        return
    libc.prctl(WHEN_PARENT_DIES, signal.SIGTERM)
    control = socket.socket(fileno=int(sys.argv[1]))
    lines = control.makefile("r", encoding="utf-8")
    order = json.loads(lines.readline())
    try:
        _enter_network()
    except OSError as error:
        _tell(control, {"isolated": False, "why": str(error)})
        return
    files = _close_files(order["writable"])
    listener, tripwire = _listener(), _listener()
    refused: list[int] = []
    threading.Thread(target=_refuse_all, args=(tripwire, refused), daemon=True).start()
    answer = {
        "isolated": True,
        "files": files,
        "port": listener.getsockname()[1],
        "tripwire": tripwire.getsockname()[1],
    }
    socket.send_fds(control, [json.dumps(answer).encode() + b"\n"], [listener.fileno()])
    listener.close()
    environment = json.loads(lines.readline())
    before = _failed_attempts()
    code = _run(order["command"], order["folder"], environment)
    attempts = _failed_attempts() - before + len(refused)
    _tell(control, {"code": code, "attempts": attempts})


def _tell(control: socket.socket, content: dict[str, Any]) -> None:
    control.sendall(json.dumps(content).encode() + b"\n")


def _check(code: int, what: str) -> None:
    if code != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _enter_network() -> None:
    """Go into new namespaces, in which there is a loopback device and nothing else."""
    user, group = os.getuid(), os.getgid()
    _check(libc.unshare(NEW_USER | NEW_NET | NEW_MOUNTS), "unshare")
    with contextlib.suppress(OSError):
        _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sH14x", b"lo", UP | RUNNING))


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _close_files(writable: str) -> bool:
    """Make all files but those of a folder read-only, and hide /run; tell whether that went."""
    folder = writable.encode()
    try:
        _check(libc.mount(b"none", b"/", None, ctypes.c_ulong(PRIVATE | RECURSIVE), None), "mount")
        _check(libc.mount(folder, folder, None, ctypes.c_ulong(BIND), None), "bind")
        _set_attributes(b"/", _MountAttributes(READ_ONLY, 0, 0, 0))
        _set_attributes(folder, _MountAttributes(0, READ_ONLY, 0, 0))
        _check(libc.mount(b"tmpfs", b"/run", b"tmpfs", ctypes.c_ulong(0), None), "tmpfs")
    except OSError:
        return False
    return True


def _set_attributes(path: bytes, attributes: _MountAttributes) -> None:
    size = ctypes.sizeof(attributes)
    code = libc.syscall(MOUNT_SETATTR, HERE, path, ALL_BELOW, ctypes.byref(attributes), size)
    _check(code, "mount_setattr")


def _listener() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    return listener


def _refuse_all(tripwire: socket.socket, refused: list[int]) -> None:
    """Refuse whatever comes to the proxy that HTTP_PROXY and HTTPS_PROXY name, and count it."""
    while True:
        connection, _ = tripwire.accept()
        refused.append(1)
        with connection, contextlib.suppress(OSError):
            connection.settimeout(1)
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 403 not recorded\r\ncontent-length: 0\r\n\r\n")


def _failed_attempts() -> int:
    """Return how often a connection had no way to go or nobody to take it, as the kernel counts."""
    counts: dict[str, int] = {}
    with open("/proc/self/net/snmp") as file:
        rows = file.read().splitlines()
    for names, values in zip(rows[::2], rows[1::2], strict=True):
        kind, _, names = names.partition(":")
        values = values.partition(":")[2]
        for name, value in zip(names.split(), values.split(), strict=True):
            counts[f"{kind}.{name}"] = int(value)
    with contextlib.suppress(OSError), open("/proc/self/net/snmp6") as file:
        counts.update((line.split()[0], int(line.split()[1])) for line in file)
    return sum(counts.get(name, 0) for name in FAILED)


def _run(command: list[str], folder: str, environment: dict[str, str]) -> int:
    """Run the command in a process group of its own, which ends with it or on SIGTERM."""
    try:
        process = subprocess.Popen(command, cwd=folder, env=environment, process_group=0)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127

    def stop(*_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    signal.signal(signal.SIGTERM, stop)
    code = process.wait()
    stop()
    return code


main()
