"""A model provider whose replies depend on the request body alone, in-process or as a process.

It speaks OpenAI's chat completions and Anthropic's messages, plain and streamed, and plays the
part that the model's name begins with: subject, interviewer or judge.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from loopback import Answer, Loopback, Received, json_answer, sse_answer, sse_event

CREATED = 1_760_000_000
CALL_HEADER = "X-Harness-Call"  # its value, when a request has it, goes into the log
MODELS = ("subject-a", "subject-b", "interviewer", "judge-a", "judge-b", "judge-c")
WORDS = (
    "light colour form motion idea change pattern measure rule method theory example source limit "
    "balance structure signal moment surface memory distance effect cause detail shape origin"
)
FAULTS = (429, 500, 529, 0)  # 0: the connection is dropped
TRIES = 2  # that can fail in a row, so that a third always gets through
ERRORS = {429: "rate_limit_error", 529: "overloaded_error", 404: "not_found_error"}
EXPERT = re.compile(r"^[ \t]*Expert:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
VIEW = re.compile(r"^Expert's view: (\S.*)$", re.MULTILINE)
EXAMPLE = re.compile(r"^Candidate's example: (\S.*)$", re.MULTILINE)
QUOTED = re.compile(r'["“]([^"“”\n]{2,120})["”]')


class Ask(NamedTuple):
    """What a request asks, in whichever wire format."""

    digest: str
    model: str
    prompt: str
    stream: bool
    stream_usage: bool


class Reply(NamedTuple):
    """What the model says; `cut` when it met a token limit."""

    text: str
    cut: bool = False


def md5(data: bytes) -> str:
    """Return the MD5 of bytes, in hex."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def draw(*label: object) -> int:
    """Return the large number that belongs to a label, the same everywhere."""
    return int(md5("/".join(map(str, label)).encode()), 16)


def chance(*label: object) -> float:
    """Return the number in [0, 1) that belongs to a label."""
    return draw(*label) % 10**9 / 10**9


def pick(words: str, *label: object) -> str:
    """Return the one of some words that belongs to a label."""
    choice = words.split()
    return choice[draw(*label) % len(choice)]


def paragraph(ask: Ask) -> Reply:
    """Say 40 to 80 words in sentences of 6 to 9."""
    goal, sentences, said = 40 + draw(ask.digest, "goal") % 33, [], 0
    while said < goal:
        size = 6 + draw(ask.digest, "size", said) % 4
        words = (pick(WORDS, ask.digest, said + i) for i in range(size))
        sentences.append(" ".join(words).capitalize() + ".")
        said += size
    return Reply(" ".join(sentences))


def question(ask: Ask) -> Reply:
    """Ask in a few words, plus what the prompt gives.

    That is the view in its last `Expert's view:` line with words of the `Candidate's example:`
    line, or else its last `Expert:` line, or else its last quoted text.
    """
    view, example = VIEW.findall(ask.prompt), EXAMPLE.findall(ask.prompt)
    if view and example:
        return Reply(f"{view[-1]} What of {' '.join(example[-1].split()[:6])}?")
    names = EXPERT.findall(ask.prompt) or QUOTED.findall(ask.prompt)
    thing, other = (pick(WORDS, ask.digest, place) for place in "ab")
    if names:
        return Reply(f"{names[-1]} holds that {thing} precedes {other}; how do you judge this?")
    return Reply(f"How does {thing} shape {other} here, and which example shows it best?")


def verdict(ask: Ask) -> Reply:
    """Score on two scales, in steps of 0.05."""
    far, sas = (draw(ask.digest, scale) % 21 / 20 for scale in ("far", "sas"))
    why, how = (f"The {pick(WORDS, ask.digest, place)} decides." for place in "ab")
    scores = {"far": far, "far_reason": why, "sas": sas, "sas_reason": how}
    return Reply(json.dumps(scores))


DIRT: dict[str, Callable[[str], Reply]] = {
    "fenced": lambda text: Reply(f"```json\n{text}\n```"),
    "prose": lambda text: Reply(f"Here is my assessment.\n\n{text}\n\nI hope this helps."),
    "comma": lambda text: Reply(text[:-1] + ",}"),
    "fraction": lambda text: Reply(re.sub(r'"far": [\d.]+', '"far": "8/10"', text)),
    "refusal": lambda text: Reply("I'm sorry, but I can't help with rating this."),
    "empty": lambda text: Reply(""),
    "cut": lambda text: Reply(text[: len(text) * 2 // 3], cut=True),
}


def speak(ask: Ask, dirty: float = 0.0) -> Reply:
    """Reply in the role of the model; a share `dirty` of the verdicts is not clean JSON."""
    if ask.model.startswith("interviewer"):
        return question(ask)
    if not ask.model.startswith("judge"):
        return paragraph(ask)
    reply = verdict(ask)
    if chance(ask.digest, "dirty") >= dirty:
        return reply
    return DIRT[pick(" ".join(DIRT), ask.digest, "dirt")](reply.text)


def read_ask(received: Received) -> Ask:
    """Read either wire format; Azure's model can be in the path alone."""
    body = received.json()
    model = body.get("model") or received.path.split("/")[-3]
    messages = [{"content": body.get("system", "")}, *body["messages"]]
    prompt = "\n".join(text_of(message.get("content")) for message in messages).strip()
    usage = bool((body.get("stream_options") or {}).get("include_usage"))
    return Ask(md5(received.body), model, prompt, bool(body.get("stream")), usage)


def text_of(content: Any) -> str:
    """Return the text of a message, be it plain or in parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(part.get("text") or "" for part in parts)


def pieces(text: str) -> list[str]:
    """Cut a text as a stream does, after every third word."""
    return re.findall(r"(?:\S+\s*){1,3}", text)


def chat_body(ask: Ask, reply: Reply) -> dict[str, Any]:
    """Make a chat completion."""
    asked, said = len(ask.prompt.split()), len(reply.text.split())
    finish = "length" if reply.cut else "stop"
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
    head = {"id": f"chatcmpl-{ask.digest}", "object": "chat.completion", "created": CREATED}
    return {**head, "model": ask.model, "choices": [choice], "usage": usage}


def chat_events(ask: Ask, reply: Reply) -> Iterator[object]:
    """Make the chunks of a chat completion, usage among them if asked for, and [DONE]."""
    whole = chat_body(ask, reply)
    usage, finish = whole.pop("usage"), whole["choices"][0]["finish_reason"]
    head = {**whole, "object": "chat.completion.chunk"}
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in pieces(reply.text)]
    for delta in [{"role": "assistant", "content": ""}, *deltas, {}]:
        end = None if delta else finish
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
    if ask.stream_usage:
        yield {**head, "choices": [], "usage": usage}
    yield "[DONE]"


def message_body(ask: Ask, reply: Reply) -> dict[str, Any]:
    """Make an Anthropic message."""
    usage = {"input_tokens": len(ask.prompt.split()), "output_tokens": len(reply.text.split())}
    content = [{"type": "text", "text": reply.text}] if reply.text else []
    stop = {"stop_reason": "max_tokens" if reply.cut else "end_turn", "stop_sequence": None}
    head = {"id": f"msg_{ask.digest}", "type": "message", "role": "assistant", "model": ask.model}
    return {**head, "content": content, **stop, "usage": usage}


def message_events(ask: Ask, reply: Reply) -> Iterator[bytes]:
    """Make the named events of an Anthropic message."""
    whole = message_body(ask, reply)
    stop = {key: whole[key] for key in ("stop_reason", "stop_sequence")}
    start = {**whole, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    if reply.text:
        block = {"type": "text", "text": ""}
        events += [{"type": "content_block_start", "index": 0, "content_block": block}]
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text)]
        events += [{"type": "content_block_delta", "index": 0, "delta": d} for d in deltas]
        events += [{"type": "content_block_stop", "index": 0}]
    events += [{"type": "message_delta", "delta": stop, "usage": whole["usage"]}]
    for event in [*events, {"type": "message_stop"}]:
        yield sse_event(event, event["type"])


def models_body() -> dict[str, Any]:
    """List the models, for either SDK."""
    made = {"object": "model", "created": CREATED, "owned_by": "tests", "type": "model"}
    named = {"created_at": "2025-10-09T08:53:20Z", "display_name": "A model of the tests"}
    models = [{"id": name, **made, **named} for name in MODELS]
    return {"object": "list", "data": models, "has_more": False, "first_id": None, "last_id": None}


def error_answer(status: int, message: str) -> Answer:
    """Make an error as both vendors write it."""
    error = {"type": ERRORS.get(status, "api_error"), "message": message, "code": str(status)}
    headers = [("Retry-After", "0")] if status == 429 else []
    return json_answer({"type": "error", "error": error}, status, headers)


class Provider:
    """Answer for Loopback: `delay` in seconds, `faults` as "SEED:SHARE", `dirty` as a share."""

    def __init__(self, delay: float = 0.0, faults: str = "0:0", dirty: float = 0.0) -> None:
        self._delay, self._dirty = delay, dirty
        self._seed, share = faults.split(":")
        self._share = float(share)
        self._tries: defaultdict[str, Iterator[int]] = defaultdict(count)

    def __call__(self, received: Received) -> Answer:
        if received.path.endswith("/models"):
            return json_answer(models_body())
        chat = received.path.endswith("/chat/completions")
        if not chat and not received.path.endswith("/messages"):
            return error_answer(404, f"no such path: {received.path}")
        time.sleep(self._delay)
        return self._fault(md5(received.body)) or self._reply(received, chat)

    def _reply(self, received: Received, chat: bool) -> Answer:
        ask = read_ask(received)
        body, events = (chat_body, chat_events) if chat else (message_body, message_events)
        reply = speak(ask, self._dirty)
        return sse_answer(events(ask, reply)) if ask.stream else json_answer(body(ask, reply))

    def _fault(self, digest: str) -> Answer | None:
        number = next(self._tries[digest])
        if number >= TRIES or chance(self._seed, digest, number) >= self._share:
            return None
        status = FAULTS[draw(self._seed, digest, number, "kind") % len(FAULTS)]
        return error_answer(status, "injected fault") if status else Answer(status=0)


def finished(log: Path) -> Counter[str]:
    """Count the completely answered calls of a log: "<md5>", or "<md5> <value of the header>"."""
    return Counter(log.read_text().split("\n")[:-1] if log.exists() else [])


@contextmanager
def running(folder: Path, *options: str) -> Iterator[str]:
    """Run the provider as a process and give its address; its log is folder/provider.log."""
    port_file = folder / "provider.port"
    port_file.unlink(missing_ok=True)
    files = ["--port-file", str(port_file), "--log", str(folder / "provider.log")]
    process = subprocess.Popen([sys.executable, __file__, *files, *options])
    try:
        while not port_file.exists():
            if process.poll() is not None:
                raise RuntimeError(f"the provider ended with {process.returncode}: {options}")
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port_file.read_text()}"
    finally:
        process.kill()
        process.wait()


def log_call(log: Path, received: Received, answer: Answer) -> None:
    """Append a line for a call that was answered as asked: one write, so that none is torn."""
    if answer.status == 200 and received.method == "POST":
        line = f"{md5(received.body)} {received.header(CALL_HEADER) or ''}".strip() + "\n"
        with log.open("ab", buffering=0) as file:
            file.write(line.encode())


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--faults", default="0:0", metavar="SEED:SHARE")
    parser.add_argument("--dirty", type=float, default=0.0, metavar="SHARE")
    options = parser.parse_args()
    provider = Provider(options.delay, options.faults, options.dirty)
    with Loopback(provider, partial(log_call, options.log), options.port) as server:
        draft = options.port_file.with_suffix(".new")
        draft.write_text(str(server.port))
        draft.replace(options.port_file)
        threading.Event().wait()


if __name__ == "__main__":
    main()
