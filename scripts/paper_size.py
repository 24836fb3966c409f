"""A study of the paper's size, simulated: recorded, replayed, and measured beside its floor.

9 subjects, 8 concepts and 5 levels make 360 cells of 25 calls: 9,000, and some more where a judge
is asked again. A provider of its own plays all models; the real commands record and replay in a
temporary folder. The floor is 9,000 `httpx.Client.post` over `httpx.MockTransport`, in processes of
its own that take turns with the replays. Everything is wall time, so the machine should be idle.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

SCRIPTS = Path(__file__).parent
CONCEPTS = (
    "derivative",
    "harm-principle",
    "impressionism",
    "modus-ponens",
    "natural-selection",
    "newtons-second-law",
    "phoneme",
    "recursion",
)
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
JUDGES = ("judge-a", "judge-b", "judge-c")
PARAMETERS = (8, 14, 14, 17, 25, 45, 120, 175, 314)  # made up, like the facts below
CALLS_A_CELL = 25
BODY_BYTES = 2_000
ROUNDS = 3
SLOWEST, MOST_MEMORY, LEAST_BOOTSTRAP = 2.0, 300.0, 50.0
REPLAY_IMPORTS = (
    "import pickle, subprocess, threading, "
    "harness.cli, harness.protocols.ddft.analysis.analyze, harness.run.verdict"
)


class Size(NamedTuple):
    """How many there are of each."""

    subjects: int = 9
    concepts: int = 8
    levels: int = 5

    @property
    def cells(self) -> int:
        """Give the number of cells."""
        return self.subjects * self.concepts * self.levels

    @property
    def calls(self) -> int:
        """Give the number of calls where nobody is asked twice."""
        return self.cells * CALLS_A_CELL


class Run(NamedTuple):
    """A command that has ended: seconds, and the peak of its largest process in MB."""

    wall: float
    cpu: float
    megabytes: float
    said: str


def run(*command: str) -> Run:
    """Run Python with some arguments and measure it, its own children included."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([sys.executable, *command], stdout=out, stderr=out)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - began
        out.seek(0)
        said = out.read().decode().strip()
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{said}")
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said)


def study_text(url: str, size: Size) -> str:
    """Give a study.toml for the simulated provider."""
    subjects = [f"subject-{number}" for number in range(size.subjects)]
    models = "".join(
        f'[models.{name}]\nbase_url = "{url}/v1"\nmodel = "{name}"\nfamily = "{name}"\n\n'
        for name in (*subjects, "interviewer", *JUDGES)
    )
    facts = "".join(
        f"\n[facts.{name}]\nparameters_b = {PARAMETERS[number]}\n"
        f"reasoning = {'false' if number % 3 else 'true'}\n"
        f"outside = {{ mmlu = {80 + number * 7 % 11} }}\n"
        for number, name in enumerate(subjects)
    )
    return (
        'title = "A simulation of the paper\'s size"\nprotocol = "ddft"\nas_of = 2026-01-31\n'
        f'seed = 42\n\n{models}[ddft]\nsubjects = {subjects}\ninterviewer = "interviewer"\n'
        f"jury = {list(JUDGES)}\nconcepts = {list(CONCEPTS[: size.concepts])}\n"
        f"levels = {list(LEVELS[: size.levels])}\n\n[record]\nworkers = 8\n{facts}"
    )


@contextmanager
def provider(folder: Path, program: str, *options: str) -> Iterator[str]:
    """Run a simulated provider as a process, and give its address."""
    port_file = folder / "port"
    command = [sys.executable, str(SCRIPTS / program), "--port-file", str(port_file), *options]
    process = subprocess.Popen(command)
    try:
        while not port_file.exists():
            if process.poll() is not None:
                raise RuntimeError(f"the provider ended with {process.returncode}")
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port_file.read_text()}"
    finally:
        process.kill()
        process.wait()


def recorded(root: Path, size: Size) -> Path:
    """Record the study, say how long that took, and give its folder."""
    folder = root / "cassettes" / "paper-size"
    folder.mkdir(parents=True)
    with provider(root, "simulated_provider.py") as url:
        (folder / "study.toml").write_text(study_text(url, size))
        done = run("-m", "harness", "record", str(folder))
    results = json.loads((folder / "results.json").read_bytes())
    calls = sum(model["calls"] for model in results["spending"]["models"])
    assert len(results["cells"]) == size.cells
    assert calls >= size.calls
    size_mb = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    print(
        f"record: {size.cells} cells, {calls} calls ({calls - size.calls} of them asked again), "
        f"{done.wall:.1f} s, {calls / done.wall:.0f} calls/s, {done.megabytes:.0f} MB peak, "
        f"{size_mb:.1f} MB on disk"
    )
    print(f"  {done.said.splitlines()[-1]}")
    show_results(results)
    return folder


def show_results(results: dict[str, Any]) -> None:
    """Print what the study found: that it is alive, not what it means."""
    missing, cells = results["missing"], results["cells"]
    states = [turn["answer_state"] for cell in cells for turn in cell["turns"]]
    indices = [subject["ci_raw"]["value"] for subject in results["subjects"]]
    shown = " ".join("null" if ci is None else f"{ci:.2f}" for ci in indices)
    print(
        f"  {missing['missing']} of {missing['judgements']} judgements missing "
        f"({missing['share']:.2%}), {states.count('empty')} of {len(states)} answers empty, "
        f"valid: {results['valid']}; raw CI: {shown}"
    )


def floor(count: int) -> None:
    """Post to httpx's own MockTransport and read each answer; print the seconds."""
    import httpx

    body, answer = (json.dumps({"text": fill * BODY_BYTES}).encode() for fill in "ra")
    headers = {"content-type": "application/json"}

    def handler(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=headers, content=answer)

    began = time.perf_counter()
    with httpx.Client(transport=httpx.MockTransport(handler)) as client:
        for _ in range(count):
            assert client.post("http://model.test/v1", content=body, headers=headers).content
    print(time.perf_counter() - began)


def bootstraps(resamples: int) -> None:
    """Compare our Spearman bootstrap at n = 9 with a loop over scipy's; print both seconds."""
    import numpy as np
    from scipy.stats import spearmanr

    from harness.stats import resampling

    generator = np.random.Generator(np.random.PCG64(1))
    x, y = generator.normal(size=(2, 9))
    times = []
    for _ in range(5):
        began = time.perf_counter()
        resampling.bootstrap_spearman(x, y, resampling.draw(9, generator, resamples))
        times.append(time.perf_counter() - began)
    indices = resampling.draw(9, generator, resamples)
    began = time.perf_counter()
    for rows in indices:
        spearmanr(x[rows], y[rows])
    print(statistics.median(times), time.perf_counter() - began)


def wanted(met: bool, what: str) -> str:
    """Say what is wanted and whether it is so."""
    return f"wanted: {what}: {'met' if met else 'MISSED'}"


class Round(NamedTuple):
    """A replay beside an interpreter's start with its imports, and the bare posts; wall seconds."""

    start: float
    replay: Run
    bare: float

    @property
    def rest(self) -> float:
        """Give the replay's seconds without start and imports."""
        return self.replay.wall - self.start

    @property
    def ratio(self) -> float:
        """Give how many times as long as the bare posts that takes."""
        return self.rest / self.bare


def one_round(folder: Path, calls: int, imports: str) -> Round:
    """Measure each once."""
    start = run("-c", imports).wall
    replay = run("-m", "harness", "replay", "--verify-checksums", str(folder))
    return Round(start, replay, float(run(__file__, "--one", "floor", str(calls)).said))


def show_replays(folder: Path, calls: int, imports: str = REPLAY_IMPORTS) -> None:
    """Replay and post in turns, and print the round of the median ratio."""
    measured = (one_round(folder, calls, imports) for _ in range(ROUNDS))
    rounds = sorted(measured, key=lambda one: one.ratio)
    middle = rounds[ROUNDS // 2]
    memory = max(one.replay.megabytes for one in rounds)
    print(
        f"replay --verify-checksums: {middle.replay.wall:.2f} s wall, {middle.replay.cpu:.2f} s "
        f"CPU in all its processes; interpreter start and imports: {middle.start:.2f} s, "
        f"the rest: {middle.rest:.2f} s"
    )
    print(f"  {middle.replay.said}")
    print(f"floor, {calls} httpx.Client.post over MockTransport: {middle.bare:.2f} s")
    print(
        f"ratio {middle.ratio:.2f}, of {ROUNDS} rounds {rounds[0].ratio:.2f} to "
        f"{rounds[-1].ratio:.2f} ({wanted(middle.ratio <= SLOWEST, f'at most {SLOWEST:g}')})"
    )
    print(
        f"largest process: {memory:.0f} MB "
        f"({wanted(memory < MOST_MEMORY, f'under {MOST_MEMORY:g}')})"
    )


def show_bootstraps() -> None:
    """Print how much faster 10,000 Spearman resamples are than a loop."""
    ours, loop = map(float, run(__file__, "--one", "bootstraps", "10000").said.split())
    times = loop / ours
    print(
        f"10,000 Spearman resamples at n = 9: {ours * 1000:.1f} ms, a loop over scipy's "
        f"{loop:.1f} s, {times:.0f} times "
        f"({wanted(times >= LEAST_BOOTSTRAP, f'at least {LEAST_BOOTSTRAP:g}')})"
    )


def table(size: Size, keep: Path | None) -> None:
    """Build, measure and print."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    root = keep or Path(tempfile.mkdtemp(prefix="paper-size-"))
    try:
        show_replays(recorded(root, size), size.calls)
    finally:
        if keep is None:
            shutil.rmtree(root)
    show_bootstraps()


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, metavar=("KIND", "COUNT"))
    parser.add_argument("--small", action="store_true", help="36 cells in place of 360")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="build it here, and keep it")
    arguments = parser.parse_args()
    if arguments.one:
        kind, count = arguments.one
        (floor if kind == "floor" else bootstraps)(int(count))
    else:
        table(Size(4, 3, 3) if arguments.small else Size(), arguments.keep)


if __name__ == "__main__":
    main()
