"""Recording beside not recording: calls a second at 16 and 50 in flight, and a replay, in one run.

Each measurement is a process of its own; the kinds take turns, and figures are medians of the
rounds. The network is a transport that answers after 5 ms without any work, so that what is
measured is ours. --before PATH measures the transport of another checkout too, in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROUNDS, CALLS = 5, 1000
URL = "http://model.test/v1/chat/completions"


def body(number: int) -> bytes:
    return json.dumps({"n": number, "prompt": f"{number:06d} " + "word " * 400}).encode()


def network() -> Any:
    import httpx

    class Network(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:  # noqa: ARG002
            await asyncio.sleep(0.005)
            return httpx.Response(200, json={"text": "reply " * 300})

    return Network()


async def rate(client: Any, at_once: int, url: str) -> float:
    """Return the calls a second of a client."""
    waiting = iter(range(CALLS))

    async def work() -> None:
        for number in waiting:
            headers = {"content-type": "application/json"}
            response = await client.post(url, content=body(number), headers=headers)
            assert response.status_code == 200

    async with client:
        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(at_once)))
        return CALLS / (time.perf_counter() - began)


def slow_disk(seconds: float) -> None:
    """Let every fsync of this process take so much longer, as on a slower disk."""
    fsync = os.fsync

    def slow(descriptor: Any) -> None:
        time.sleep(seconds)
        fsync(descriptor)

    os.fsync = slow  # type: ignore[assignment]


def measure_here(kind: str, at_once: int, seconds: float) -> None:
    """Print one measurement, made in this process."""
    import httpx

    from harness.recording.transport import RecordingTransport

    slow_disk(seconds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.json"

        def client(mode: Any) -> httpx.AsyncClient:
            if mode is None:
                return httpx.AsyncClient(transport=network())
            inner = network() if mode == "once" else None
            transport = RecordingTransport(path, mode=mode, inner=inner)
            return httpx.AsyncClient(transport=transport)

        if kind == "replayed":
            asyncio.run(rate(client("once"), at_once, URL))
        modes = {"bare": None, "recorded": "once", "replayed": "none"}
        print(asyncio.run(rate(client(modes[kind]), at_once, URL)))


def measured(kind: str, at_once: int, checkout: str, seconds: float) -> float:
    """Return one measurement, made in a process of its own with the code of a checkout."""
    command = [sys.executable, __file__, "--one", kind, str(at_once), str(seconds)]
    environment = {**os.environ, "PYTHONPATH": checkout}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout)


def fsync_seconds() -> float:
    """Return the median time of an fsync after a line of 4 KB."""
    times = []
    with tempfile.NamedTemporaryFile() as file:
        for _ in range(100):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return statistics.median(times)


def table(before: str, seconds: float) -> None:
    """Measure everything in turns, and print medians and ratios."""
    here = str(Path(__file__).parent.parent)
    print(
        f"{os.cpu_count()} cores, an fsync takes {fsync_seconds() * 1e3:.2f} ms, made slower by "
        f"{seconds * 1e3:.1f} ms"
    )
    for at_once in (16, 50):
        rounds: dict[tuple[str, str], list[float]] = {
            (kind, here): [] for kind in ("bare", "recorded", "replayed")
        }
        if before:
            rounds["recorded", before] = []
        for _ in range(ROUNDS):
            for (kind, checkout), rates in rounds.items():
                rates.append(measured(kind, at_once, checkout, seconds))
        medians = {key: statistics.median(rates) for key, rates in rounds.items()}
        recorded = medians["recorded", here]
        print(
            f"{at_once} in flight, calls a second: bare {medians['bare', here]:.0f}, recorded "
            f"{recorded:.0f}, replayed {medians['replayed', here]:.0f}"
        )
        if before:
            times = statistics.median(
                now / then
                for now, then in zip(
                    rounds["recorded", here], rounds["recorded", before], strict=True
                )
            )
            rate_before = medians["recorded", before]
            print(f"  recorded before: {rate_before:.0f}; now {times:.1f} times that")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=3, metavar=("KIND", "AT_ONCE", "SECONDS"))
    parser.add_argument("--before", default="", metavar="PATH", help="another checkout to measure")
    parser.add_argument(
        "--slow-disk", type=float, default=0.0, metavar="MS", help="let an fsync take longer"
    )
    arguments = parser.parse_args()
    if arguments.one:
        kind, at_once, seconds = arguments.one
        measure_here(kind, int(at_once), float(seconds))
    else:
        table(arguments.before, arguments.slow_disk / 1e3)


if __name__ == "__main__":
    main()
