"""A made-up world for drills: target, extractor, evaluator and an encyclopedia on a loopback port.

It imports nothing of the harness. Topics are made-up words; every topic has a code, which is the
fact that a page states, and an answer mentions topics one step deeper. A target knows a
topic's code with a chance that depends on the topic's depth alone, or also on the branch it hangs
on (`spread`), drawn from the seed, the target and the topic: so its true accuracy is known.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from simulated_provider import response, serve

MENTIONS = 9
TOPIC = r"[A-Z][a-z]+[0-9]+(?:[sx][0-9]+)*"
ASPECTS = re.compile(r"Split the field (.+?) into (\d+) aspects")
CONCEPTS = re.compile(r"<answer>\n(.*?)\n</answer>\nWhich things", re.DOTALL)
SUBTOPICS = re.compile(r"The subject is (.+?), in the field .*? Name (\d+) narrower", re.DOTALL)
QUESTION = re.compile(
    r'^Topic: (.+?)\nLevel: .*?\nPassage, from "(.*?)":\n<passage>\n(.*?)\n</passage>', re.DOTALL
)
CODE = re.compile(r"has the code (\w+)")
ASKED = re.compile(r"What is the code of (.+?)\?")
CLAIM = re.compile(r"Key part of it: (.+)")
ANSWER = re.compile(r"<answer>\n(.*?)\n</answer>\nDoes the candidate", re.DOTALL)


class World(NamedTuple):
    """What is true: the chance that a target knows a topic, by depth, and what is amiss.

    spread: how far the chance of one branch may lie from the others', up and down. absent,
    ambiguous, distracting: the shares of topics without a page, with a page that only lists
    meanings, and with a page about something else.
    """

    seed: int
    accuracy: Sequence[float]
    spread: float = 0.0
    absent: float = 0.0
    ambiguous: float = 0.0
    distracting: float = 0.0

    def chance(self, *label: object) -> float:
        """Give a number between 0 and 1 that depends on seed and label only."""
        text = "/".join(map(str, (self.seed, *label)))
        return random.Random(hashlib.md5(text.encode(), usedforsecurity=False).digest()).random()

    def code(self, topic: str) -> str:
        """Give a topic's code."""
        return hashlib.md5(topic.encode(), usedforsecurity=False).hexdigest()[:8]

    def knows(self, target: str, topic: str) -> bool:
        """Tell whether a target knows a topic's code."""
        depth = min(1 + topic.count("x"), len(self.accuracy))
        lift = self.spread * (1 if self.chance("branch", target, branch(topic)) < 0.5 else -1)
        return self.chance("knows", target, topic) < self.accuracy[depth - 1] + lift

    def page(self, topic: str) -> tuple[str, str]:
        """Give a topic's page: its kind and its text; "" where there is none."""
        luck = self.chance("page", topic)
        if luck < self.absent or not re.fullmatch(TOPIC, topic):
            return "", ""
        if luck < self.absent + self.ambiguous:
            return "disambiguation", f"{topic} may refer to several things."
        if luck < self.absent + self.ambiguous + self.distracting:
            return "standard", "Lighthouses stand on capes; the oldest of them has the code 1234."
        return "standard", f"{topic} is one of the things of this world. {topic} has the code " + (
            f"{self.code(topic)}, which is what one asks about."
        )


def branch(topic: str) -> str:
    """Give the branch that a topic hangs on: all before its first step."""
    return re.split(r"[sx]", topic, maxsplit=1)[0]


def root(domain: str) -> str:
    """Give a domain as a made-up word."""
    return re.sub(r"[^A-Za-z]", "", domain.split()[0]).capitalize() or "Field"


def speak(world: World, model: str, messages: Sequence[dict[str, str]]) -> str:
    """Reply in the role of the model."""
    task = messages[-1]["content"]
    if model == "evaluator":
        return verdict(task)
    if model == "extractor":
        return extracted(task)
    return answered(world, model, task)


def extracted(task: str) -> str:
    """Name topics, or make a question."""
    if asked := ASPECTS.search(task):
        word = root(asked[1])
        return json.dumps({"items": [f"{word}{n}" for n in range(1, int(asked[2]) + 1)]})
    if said := CONCEPTS.search(task):
        return json.dumps({"items": re.findall(rf"{TOPIC}(?=[,.])", said[1])})
    if asked := SUBTOPICS.search(task):
        topic = asked[1] if re.fullmatch(TOPIC, asked[1]) else f"{root(asked[1])}0"
        return json.dumps({"items": [f"{topic}s{n}" for n in range(1, 4 * int(asked[2]) + 9)]})
    return question(task)


def question(task: str) -> str:
    """Make a question on the passage's code, where the passage is about the topic."""
    found = QUESTION.search(task)
    code = CODE.search(found[3]) if found else None
    if found is None or code is None or found[1] not in found[3]:
        return json.dumps({"about": False, "question": "", "answer": "", "quote": ""})
    made = f"What is the code of {found[1]}?"
    return json.dumps(
        {"about": True, "question": made, "answer": f"It is {code[1]}.", "quote": code[1]}
    )


def answered(world: World, target: str, task: str) -> str:
    """Say a code, the right one where it is known, and mention topics one step deeper."""
    asked = ASKED.search(task)
    if asked is None:
        return "I do not know."
    topic = asked[1]
    known = world.knows(target, topic)
    code = world.code(topic) if known else world.code(f"{topic} {target}")
    mentions = ", ".join(f"{topic}x{n}" for n in range(1, MENTIONS + 1))
    return f"The code is {code}. It hangs together with {mentions}."


def verdict(task: str) -> str:
    """Tell whether the answer names the fact."""
    claim, said = CLAIM.search(task), ANSWER.search(task)
    right = bool(claim and said and claim[1] in said[1])
    error = None if right else "fabrication"
    return json.dumps(
        {"correct": right, "confidence": 0.9, "reason": "By its code.", "error_type": error}
    )


def completion(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """Make a chat completion."""
    text = speak(world, body["model"], body["messages"])
    asked = sum(len(said["content"].split()) for said in body["messages"])
    said = len(text.split())
    return {
        "id": "chatcmpl-drill",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
    }


def look_up(world: World, address: str) -> tuple[int, dict[str, Any]]:
    """Answer as Wikipedia's summaries and its search do: a status and an object."""
    parts = urlsplit(address)
    if parts.path.endswith("/w/api.php"):
        return 200, {"batchcomplete": True, "query": {"search": []}}
    if parts.path.endswith("/search"):
        return 200, {"results": found_by(world, parse_qs(parts.query)["q"][0])}
    title = unquote(parts.path.rpartition("/")[2]).replace("_", " ")
    kind, text = world.page(title)
    if not kind:
        return 404, {"type": "Internal error", "title": "Not found.", "detail": "No such page."}
    page = {"desktop": {"page": f"http://simulated.invalid/wiki/{title}"}}
    return 200, {
        "type": kind,
        "title": title,
        "extract": text,
        "content_urls": page,
        "revision": "1",
        "timestamp": "2026-01-01T00:00:00Z",
    }


def found_by(world: World, query: str) -> list[dict[str, str]]:
    """Answer as a search engine does: the topic's page, of the beginning of 2026."""
    kind, text = world.page(query)
    page = {
        "url": f"http://simulated.invalid/wiki/{query}",
        "title": query,
        "content": text,
        "publishedDate": "2026-01-01T00:00:00",
    }
    return [page] if kind else []


class Answering:
    """Give the whole HTTP response to a request's head and body."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __call__(self, head: bytes, body: bytes) -> bytes:
        """Answer a chat completion or a look-up."""
        method, address, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
        if method == "POST":
            return response(
                b"200 OK", json.dumps(completion(self._world, json.loads(body))).encode()
            )
        status, found = look_up(self._world, address)
        line = b"200 OK" if status == 200 else b"404 Not Found"
        return response(line, json.dumps(found).encode())


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--accuracy", default="0.95", help="by depth, with commas between")
    parser.add_argument("--spread", type=float, default=0.0)
    options = parser.parse_args()
    accuracy = [float(part) for part in options.accuracy.split(",")]
    world = World(options.seed, accuracy, options.spread)
    asyncio.run(serve(options.port_file, Answering(world)))


if __name__ == "__main__":
    main()
