"""Drills for the tests: a study file, and the simulated world as a loopback server or process."""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loopback import Answer, Answering, Loopback, Received, json_answer
from provider import md5
from simulated_drill import World, completion, look_up

from harness.study.folder import Study

EVEN = (0.9,)
TIERS = ("COMMON", "TEXTBOOK", "PROFESSIONAL", "SPECIALIST", "CUTTING_EDGE")
Twist = Callable[[Received, Answer], Answer]


def world(
    seed: int = 7,
    accuracy: tuple[float, ...] = EVEN,
    absent: float = 0.0,
    ambiguous: float = 0.0,
    distracting: float = 0.0,
) -> World:
    """Give a world of its own for a test."""
    return World(seed, accuracy, 0.0, absent, ambiguous, distracting)


def answering(here: World, twist: Twist = lambda _, answer: answer) -> Answering:
    """Answer as the world does; `twist` may put another answer in the place of one."""

    def answer(received: Received) -> Answer:
        if received.method == "POST":
            return twist(received, json_answer(completion(here, received.json())))
        status, found = look_up(here, f"{received.path}?{received.query}")
        return twist(received, json_answer(found, status))

    return answer


def said(text: str) -> Answer:
    """Give a chat completion with this content."""
    choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
    return json_answer({"model": "made-up", "choices": [choice]})


def role(received: Received) -> str:
    """Name who is asked: a model's name, or "source"."""
    return str(received.json()["model"]) if received.method == "POST" else "source"


def write_drill(
    root: Path,
    url: str,
    *,
    targets: tuple[str, ...] = ("target-1",),
    domains: tuple[str, ...] = ("Medicine",),
    questions: int = 6,
    max_depth: int = 3,
    sources: tuple[str, ...] = ("wiki",),
    record: str = "",
    **settings: Any,
) -> Study:
    """Write a drill for the world at `url`; settings: more lines of [depthcharge]."""
    folder = root / "cassettes" / "drill"
    folder.mkdir(parents=True)
    names = (*targets, "extractor", "evaluator")
    parts = ['title = "a drill"', 'protocol = "depthcharge"', "as_of = 2026-01-31", "seed = 42"]
    for name in names:
        parts += [f"[models.{name}]", f'base_url = "{url}/v1"', f'model = "{name}"']
    for name in sources:
        parts += [f"[sources.{name}]", 'kind = "wikipedia-summary"', f'base_url = "{url}/{name}"']
    parts += ["[sources.engine]", 'kind = "searxng"', f'base_url = "{url}/engine"']
    parts += [
        "[depthcharge]",
        f"targets = {list(targets)}",
        'extractor = "extractor"',
        'evaluator = "evaluator"',
        f"domains = {list(domains)}",
        f"questions = {questions}",
        f"max_depth = {max_depth}",
        *(f"{key} = {value!r}" for key, value in settings.items()),
        "[depthcharge.tiers]",
        *(f"{tier} = {list(sources)}" for tier in TIERS[:4]),
        'CUTTING_EDGE = ["engine"]',
        "[record]",
        record,
    ]
    (folder / "study.toml").write_text("\n".join(parts).replace("'", '"') + "\n")
    return Study(folder)


def running(folder: Path, *options: str) -> Any:
    """Run a world as a process and give its address; its log is folder/world.log."""
    return _running(folder, options)


@contextmanager
def _running(folder: Path, options: tuple[str, ...]) -> Iterator[str]:
    port_file = folder / "world.port"
    files = ["--port-file", str(port_file), "--log", str(folder / "world.log")]
    path = {"PYTHONPATH": str(Path(__file__).parent.parent / "scripts")}
    process = subprocess.Popen([sys.executable, __file__, *files, *options], env=path)
    try:
        while not port_file.exists():
            assert process.poll() is None, f"the world ended with {process.returncode}"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port_file.read_text()}"
    finally:
        process.kill()
        process.wait()


def mark(method: str, address: str, body: bytes) -> str:
    """Give a request's mark in the log: the MD5 of what it asks."""
    return md5(f"{method} {address} ".encode() + body)


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--accuracy", type=float, default=0.97)
    options = parser.parse_args()

    def log(received: Received, answer: Answer) -> None:
        line = mark(received.method, received.path, received.body) + "\n"
        with options.log.open("ab", buffering=0) as file:
            file.write(line.encode() if answer.status < 500 else b"")

    with Loopback(answering(world(accuracy=(options.accuracy,))), log) as server:
        draft = options.port_file.with_suffix(".new")
        draft.write_text(str(server.port))
        draft.replace(options.port_file)
        threading.Event().wait()


if __name__ == "__main__":
    main()
