"""A made-up model provider for large simulations: chat completions on a loopback port, quickly.

It imports nothing but the standard library, and every answer follows from the request's body and
the seed. The model's name says its part: subject, interviewer or judge. A subject's answer is made
of sound, false and garbled sentences, in shares that depend on its number, on how much of the text
it was shown, and on the turn; a judge counts those sentences, with an error of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

EMPTY_ANSWERS = 0.01  # shares: of a subject's answers,
UNCLEAN = 0.04  # of a judge's replies that only need mending,
UNUSABLE = 0.01  # of its first replies that are of no use,
UNUSABLE_AGAIN = 0.3  # of its second ones,
TOO_MANY = 0.02  # and of all requests that are first answered with 429
SENTENCES = 8
TEXT_CHARS = 1_200  # about what a whole reference text has
SOUND, FALSE, GARBLED = "It is known that", "It is said that", "that known it is"
VOCABULARY = (
    "light colour form motion idea change pattern measure rule method theory example source limit "
    "balance structure signal moment surface memory distance effect cause detail shape origin"
)
WORDS = VOCABULARY.split()
VIEW = re.compile(r"^Expert's view: (.+)$", re.MULTILINE)
EXAMPLE = re.compile(r"^Candidate's example: (.+)$", re.MULTILINE)
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
SCORED = "Answer to score:"
Messages = list[dict[str, str]]


class Reply(NamedTuple):
    """What a model says; `cut` where it met a token limit."""

    text: str
    cut: bool = False


def speak(model: str, messages: Messages, chance: random.Random) -> Reply:
    """Reply in the role of the model."""
    if model.startswith("interviewer"):
        return Reply(question(messages, chance))
    if model.startswith("judge"):
        return verdict(model, messages, chance)
    return answer(model, messages, chance)


def words(chance: random.Random, count: int) -> str:
    """Give some words."""
    return " ".join(WORDS[int(chance.random() * len(WORDS))] for _ in range(count))


def question(messages: Messages, chance: random.Random) -> str:
    """Ask something; where the prompt gives an expert's view, that and words of the example."""
    view, example = (form.findall(messages[-1]["content"]) for form in (VIEW, EXAMPLE))
    if view:
        named = " ".join(example[-1].split()[:7]) if example else words(chance, 1)
        return f"{view[-1]} Does it hold for {named}?"
    return f"How do you judge {words(chance, 4)}, for the {words(chance, 1)} named above?"


def answer(model: str, messages: Messages, chance: random.Random) -> Reply:
    """Say some sentences, sound or false or garbled as befits the subject, the text, the turn."""
    if chance.random() < EMPTY_ANSWERS:
        return Reply("")
    number = int(model.rpartition("-")[2])
    lack = 1 - min(1.0, max(0, len(messages[0]["content"]) - 150) / TEXT_CHARS)
    sound = 0.98 - 0.01 * number - (0.02 + 0.06 * number) * lack
    if len(messages) >= 7:  # turns 4 and 5, about the trap
        sound *= 1 - 0.05 * (number * 4 % 9)
    garbled = 0.6 if chance.random() < 0.03 + 0.01 * number + 0.08 * lack else 0.04
    return Reply(" ".join(sentence(sound, garbled, chance) for _ in range(SENTENCES)))


def sentence(sound: float, garbled: float, chance: random.Random) -> str:
    """Give one sentence."""
    said = words(chance, 5)
    if chance.random() < garbled:
        return f"{said.capitalize()} {GARBLED}."
    return f"{SOUND if chance.random() < sound else FALSE} {said}."


def verdict(model: str, messages: Messages, chance: random.Random) -> Reply:
    """Score the answer in the last message, now and then in a form that is hard to use."""
    first = SCORED in messages[-1]["content"]
    if chance.random() < (UNUSABLE if first else UNUSABLE_AGAIN):
        return unusable(chance)
    task = next(said["content"] for said in reversed(messages) if SCORED in said["content"])
    said = task.rpartition(SCORED)[2]
    sound, false, garbled = (said.count(mark) for mark in (SOUND, FALSE, GARBLED))
    far = sound / (sound + false) if sound + false else 0.0
    sas = 1 - garbled / (sound + false + garbled) if sound + false + garbled else 0.0
    bias = 0.02 * (ord(model[-1]) % 3 - 1)
    scores = {
        "far": score(far + bias, chance),
        "far_reason": f"The {words(chance, 2)} is decisive.",
        "sas": score(sas + bias, chance),
        "sas_reason": f"Mind the {words(chance, 2)}.",
    }
    return unclean(json.dumps(scores), chance)


def score(truth: float, chance: random.Random) -> float:
    """Give a score near the truth, in steps of 0.05."""
    return round(min(1.0, max(0.0, truth + 0.16 * (chance.random() - 0.5))) * 20) / 20


def unclean(text: str, chance: random.Random) -> Reply:
    """Wrap a few verdicts in what a lenient reader takes off."""
    if chance.random() >= UNCLEAN:
        return Reply(text)
    if chance.random() < 0.5:
        return Reply(f"```json\n{text}\n```")
    return Reply(f"Here is my assessment.\n\n{text}\n\nI hope this helps.")


def unusable(chance: random.Random) -> Reply:
    """Give a reply that holds no score."""
    refusal = Reply("I'm sorry, but I can't help with rating this.")
    half = Reply('{"far": 0.8, "far_reason": "The', cut=True)
    fraction = Reply('{"far": "8/10", "far_reason": "", "sas": 0.9, "sas_reason": ""}')
    return (refusal, half, fraction, Reply(""))[int(chance.random() * 4)]


def completion(body: dict[str, Any], chance: random.Random, mark: str) -> dict[str, Any]:
    """Make a chat completion."""
    reply = speak(body["model"], body["messages"], chance)
    asked = sum(len(said["content"].split()) for said in body["messages"])
    said = len(reply.text.split())
    message = {"role": "assistant", "content": reply.text}
    finish = "length" if reply.cut else "stop"
    return {
        "id": f"chatcmpl-{mark}",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
    }


class Provider:
    """Answer requests; what was turned away once is let in the next time."""

    def __init__(self, seed: int) -> None:
        self._seed = f"{seed}/".encode()
        self._turned_away: set[str] = set()

    def __call__(self, head: bytes, body: bytes) -> bytes:  # noqa: ARG002  # one address only
        """Give the whole HTTP response to a request."""
        mark = hashlib.md5(self._seed + body, usedforsecurity=False).hexdigest()
        chance = random.Random(int(mark, 16))
        if chance.random() < TOO_MANY and mark not in self._turned_away:
            self._turned_away.add(mark)
            refusal = b'{"error": {"message": "slow down"}}'
            return response(b"429 Too Many Requests\r\nRetry-After: 0", refusal)
        return response(b"200 OK", json.dumps(completion(json.loads(body), chance, mark)).encode())


def response(head: bytes, body: bytes) -> bytes:
    """Frame a response; head: status, reason and further headers."""
    kind = b"Content-Type: application/json\r\nContent-Length: "
    return b"HTTP/1.1 %b\r\n%b%d\r\n\r\n%b" % (head, kind, len(body), body)


class Connection(asyncio.Protocol):
    """One client: its requests, one after the other, each with a Content-Length."""

    def __init__(self, answer: Callable[[bytes, bytes], bytes]) -> None:
        self._answer, self._waiting = answer, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep where answers go."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer as soon as a request is there whole."""
        self._waiting += data
        head, end, rest = self._waiting.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        size = int(length[1]) if length else 0
        if end and len(rest) >= size:
            self._waiting = rest[size:]
            self._transport.write(self._answer(head, rest[:size]))


async def serve(port_file: Path, answer: Callable[[bytes, bytes], bytes]) -> None:
    """Serve until killed; the port stands in the file once it is open.

    answer: gives the whole response to a request's head and body.
    """
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(answer), "127.0.0.1", 0)
    draft = port_file.with_suffix(".new")
    draft.write_text(str(server.sockets[0].getsockname()[1]))
    draft.replace(port_file)
    await server.serve_forever()


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    asyncio.run(serve(options.port_file, Provider(options.seed)))


if __name__ == "__main__":
    main()
