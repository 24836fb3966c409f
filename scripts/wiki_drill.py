"""A whole drill over 10,033 real Wikipedia summaries, with made-up people and real look-ups.

    python scripts/wiki_corpus.py summaries.jsonl
    python scripts/wiki_drill.py summaries.jsonl

`harness corpus serve` serves the summaries; target, extractor and evaluator are played here, from
the same file: aspects are titles, an answer mentions names that stand in the article it is about,
and a question is on a name or a number of the passage. The real `harness record` drills, 30
questions at each of three depths, all of them COMMON. Printed: how many questions had a fact at
the first deal, and what a look-up took, as recorded.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deep_drill import study_text
from paper_size import provider, run
from simulated_drill import CONCEPTS, QUESTION, SUBTOPICS, verdict
from simulated_provider import response, serve

NAME = re.compile(r"\b[A-Z][a-z]{3,}(?: [A-Z][a-z]{2,}){0,2}\b")
ON = re.compile(r"On (.+?): which name or number")
TRUE_SHARE = 0.9


class Library:
    """The summaries, and everybody who has read them."""

    def __init__(self, path: Path, seed: int) -> None:
        self._seed = seed
        lines = path.read_text("utf-8").splitlines()
        self._texts = {entry["title"]: entry["text"] for entry in map(json.loads, lines)}
        self._titles = sorted(title for title in self._texts if NAME.fullmatch(title))

    def chance(self, label: str) -> random.Random:
        """Give a generator of its own for a label."""
        text = f"{self._seed}/{label}".encode()
        return random.Random(hashlib.md5(text, usedforsecurity=False).digest())

    def speak(self, model: str, task: str) -> str:
        """Reply in the role of the model."""
        if model == "evaluator":
            return verdict(task)
        if model == "extractor":
            return self.extracted(task)
        return self.answered(task)

    def extracted(self, task: str) -> str:
        """Name topics, or make a question."""
        if said := CONCEPTS.search(task):
            return json.dumps({"items": list(dict.fromkeys(NAME.findall(said[1])))})
        if found := QUESTION.search(task):
            return self.question(*found.groups())
        asked = SUBTOPICS.search(task)
        label = asked[1] if asked else "aspects"
        return json.dumps({"items": self.chance(label).sample(self._titles, 40)})

    def question(self, topic: str, title: str, passage: str) -> str:
        """Ask for the last name or number of the passage that the title does not hold."""
        facts: list[str] = re.findall(r"\b\d{2,4}\b|" + NAME.pattern, passage)
        other = [fact for fact in facts if fact.casefold() not in f"{topic} {title}".casefold()]
        if not other:
            return json.dumps({"about": False, "question": "", "answer": "", "quote": ""})
        quote = other[-1]
        asked = f"On {title}: which name or number is told last?"
        return json.dumps({"about": True, "question": asked, "answer": quote, "quote": quote})

    def answered(self, task: str) -> str:
        """Tell the article's last facts, or those of another one; mention its names."""
        asked = ON.search(task)
        title = asked[1] if asked and asked[1] in self._texts else self._titles[0]
        known = self.chance(f"knows {title}").random() < TRUE_SHARE
        text = self._texts[title] if known else "I am not sure."
        names = self.chance(title).sample(self._titles, 6)
        return f"{text} This hangs together with {', '.join(names)}."


class Speaking:
    """Give the whole HTTP response to a chat completion's request."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def __call__(self, head: bytes, body: bytes) -> bytes:  # noqa: ARG002  # one address only
        """Answer in the role of the model that is asked."""
        asked = json.loads(body)
        text = self._library.speak(asked["model"], asked["messages"][-1]["content"])
        choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
        said = {"model": asked["model"], "choices": [choice]}
        return response(b"200 OK", json.dumps(said).encode())


@contextmanager
def corpus(path: Path) -> Iterator[str]:
    """Serve the summaries as a process, and give their address."""
    command = [sys.executable, "-m", "harness", "corpus", "serve", str(path), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        line = process.stdout.readline()
        yield line[line.index("http") :].split(" ")[0].strip()
    finally:
        process.terminate()
        process.wait()


def look_ups(cassette: Path) -> dict[str, float]:
    """Sum the seconds of each look-up's calls, by the place it was made at."""
    taken: dict[str, float] = {}
    for kept in json.loads(cassette.read_bytes())["interactions"]:
        call = kept["response"]["call"]
        if "/pages/" in call and "/question" not in call.partition("/pages/")[2]:
            place = call.partition("/pages/")[0]
            taken[place] = taken.get(place, 0.0) + kept["response"].get("elapsed", 0.0)
    return taken


def show(folder: Path) -> None:
    """Print what was asked, what was grounded, and how long look-ups took."""
    results = json.loads((folder / "results.json").read_bytes())
    probes = results["cells"][0]["probes"]
    first = [probe for probe in probes if probe["deal"] == 1]
    grounded = [probe for probe in first if probe["state"] == "asked"]
    one = sum(probe["walked"] == 1 for probe in grounded)
    depths = results["runs"][0]["depths"]
    asked, planned = (sum(depth[name] for depth in depths) for name in ("asked", "planned"))
    print(
        f"asked at each depth: {[depth['asked'] for depth in depths]}; grounded: {asked} of "
        f"{planned} questions ({asked / planned:.1%}), {len(grounded)} at the first deal, {one} of "
        "these with their first direction"
    )
    reasons = Counter(probe["reason"] for probe in probes if probe["reason"])
    print(f"why a deal led to no question: {dict(reasons)}")
    [cassette] = folder.glob("*--*.json")
    taken = sorted(1000 * seconds for seconds in look_ups(cassette).values())
    high = taken[int(0.95 * (len(taken) - 1))]
    print(
        f"{len(taken)} look-ups: median {statistics.median(taken):.1f} ms, 95% within {high:.1f} ms"
    )


def drill(path: Path) -> None:
    """Record and show a drill over the summaries in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="wiki-drill-") as root:
        folder = Path(root) / "cassettes" / "wiki-drill"
        folder.mkdir(parents=True)
        with corpus(path) as pages, provider(Path(root), "wiki_drill.py", str(path)) as url:
            (folder / "study.toml").write_text(study_text(url, pages, 30, 3))
            print(run("-m", "harness", "record", str(folder)).said.splitlines()[-1])
        show(folder)


def main() -> None:
    """Read the arguments; with --port-file: play the models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("summaries", type=Path)
    parser.add_argument("--port-file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.port_file:
        asyncio.run(serve(options.port_file, Speaking(Library(options.summaries, 1))))
    else:
        drill(options.summaries)


if __name__ == "__main__":
    main()
