"""Replay beside its floor and beside plain vcrpy, all in one run; every figure is a ratio.

The floor is the same requests through httpx.Client over httpx.MockTransport. Each measurement runs
in a process of its own, in pairs that take turns, and the ratio is the median of the pairs' ratios
of CPU time; a replay's time includes reading the cassette.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

URL = "http://model.test/v1/chat/completions"
PAIRS = 5


def body(number: int) -> bytes:
    """Give a request's body: 2 KB of JSON, different for each number."""
    return json.dumps({"n": number, "prompt": f"{number:06d} " + "word " * 400}).encode()


def answer(number: int) -> bytes:
    """Give an answer's body of 2 KB."""
    return json.dumps({"n": number, "text": f"{number:06d} " + "reply" * 400}).encode()


def write_cassette(path: Path, count: int) -> None:
    """Write a cassette of `count` different POSTs to one URL."""
    from harness.recording import cassette
    from harness.recording.exchange import PlainRequest, stored_request
    from harness.recording.interaction import Interaction, RecordedResponse, Status

    headers = [(b"content-type", b"application/json")]
    kept = cassette.Cassette()
    for number in range(count):
        exchange = PlainRequest("POST", URL, headers, body(number))
        response = RecordedResponse(
            Status(200, "OK"),
            {"content-type": ["application/json"]},
            {"string": answer(number).decode()},
        )
        kept.add(Interaction(stored_request(exchange), response))
    kept.save(path)


def post_all(client: Any, count: int) -> None:
    """Send all requests and look at each answer."""
    headers = {"content-type": "application/json"}
    for number in range(count):
        response = client.post(URL, content=body(number), headers=headers)
        assert response.content == answer(number)


def run_floor(_: Path, count: int) -> None:
    """Answer from memory through httpx's own MockTransport."""
    import httpx

    def handler(request: httpx.Request) -> httpx.Response:
        number = int(request.content[6 : request.content.index(b",")])
        return httpx.Response(
            200, headers={"content-type": "application/json"}, content=answer(number)
        )

    with httpx.Client(transport=httpx.MockTransport(handler)) as client:
        post_all(client, count)


def run_replay(path: Path, count: int) -> None:
    """Answer from the cassette through our transport."""
    import httpx

    from harness import RecordingTransport

    with httpx.Client(transport=RecordingTransport(path)) as client:
        post_all(client, count)


def run_vcrpy(path: Path, count: int) -> None:
    """Answer from the same cassette through plain vcrpy."""
    import httpx
    import vcr

    match = ["method", "uri", "raw_body"]
    recorder = vcr.VCR(serializer="json", record_mode="none", match_on=match)
    with recorder.use_cassette(str(path)), httpx.Client() as client:
        post_all(client, count)


RUNS = {"floor": run_floor, "replay": run_replay, "vcrpy": run_vcrpy}


def measure(kind: str, path: Path, count: int) -> tuple[float, float]:
    """Run one measurement in a process of its own; give CPU seconds and peak memory in MB."""
    command = [sys.executable, __file__, "--one", kind, str(path), str(count)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, megabytes = out.split()
    return float(seconds), float(megabytes)


def one(kind: str, path: Path, count: int) -> None:
    """Measure in this process, imports left out."""
    import httpx  # noqa: F401
    import msgspec  # noqa: F401

    import harness.api  # noqa: F401

    began = time.process_time()
    RUNS[kind](path, count)
    seconds = time.process_time() - began
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def help_seconds() -> float:
    """Give the median wall time of `harness --help`, as a user waits for it."""
    command = [str(Path(sys.executable).with_name("harness")), "--help"]
    times = []
    for _ in range(7):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def table(vcrpy: bool) -> None:
    """Measure everything and print it."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as folder:
        replay_times = {}
        for count in (1_000, 9_000):
            path = Path(folder) / f"{count}.json"
            write_cassette(path, count)
            pairs = [
                (measure("floor", path, count), measure("replay", path, count))
                for _ in range(PAIRS)
            ]
            floor = statistics.median(pair[0][0] for pair in pairs)
            replay = replay_times[count] = statistics.median(pair[1][0] for pair in pairs)
            ratio = statistics.median(pair[1][0] / pair[0][0] for pair in pairs)
            memory = max(pair[1][1] for pair in pairs)
            print(
                f"{count} POSTs: floor {floor:.2f} s, replay {replay:.2f} s, "
                f"ratio {ratio:.2f} (wanted: at most 1.3), peak memory {memory:.0f} MB"
            )
        growth = replay_times[9_000] / replay_times[1_000]
        print(f"growth from 1000 to 9000: {growth:.1f} times (wanted: at most 10)")
        if vcrpy:
            seconds, _ = measure("vcrpy", Path(folder) / "1000.json", 1_000)
            times = seconds / replay_times[1_000]
            print(f"plain vcrpy, 1000 POSTs: {seconds:.1f} s, {times:.0f} times the replay")
    print(f"harness --help: {help_seconds():.2f} s (wanted: under 0.25)")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=3, metavar=("KIND", "PATH", "COUNT"))
    parser.add_argument("--no-vcrpy", action="store_true", help="leave out plain vcrpy (a minute)")
    arguments = parser.parse_args()
    if arguments.one:
        kind, path, count = arguments.one
        one(kind, Path(path), int(count))
    else:
        table(not arguments.no_vcrpy)


if __name__ == "__main__":
    main()
