"""A dialogue's models that answer by content: a jury that scores what it reads, and odd subjects.

A judge gives an answer the scores that stand in it, and UNSEEN to whatever has none, as a jury does
to "(no answer)". So a number tells whether a judge was shown something that it should not be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from loopback import Answer, Received, json_answer

Odd = Callable[[Received], Answer | None]
SCORES = re.compile(r"\[far ([0-9.]+), sas ([0-9.]+)\]")
NOW = [("Retry-After", "0")]
UNSEEN = (0.0625, 0.125)  # what this jury gives an answer that is none


def chat(content: Any, finish: str = "stop", **message: Any) -> Answer:
    """Return a chat completion."""
    choice = {"index": 0, "finish_reason": finish, "message": {"content": content, **message}}
    return json_answer({"model": "m", "choices": [choice]})


def raw(body: bytes, kind: str = "application/json") -> Answer:
    """Return an answer of status 200 with a body of any kind."""
    return Answer(200, headers=[("Content-Type", kind), *NOW], body=body)


AZURE_FILTER = json_answer(
    {
        "error": {
            "message": "The prompt was filtered.",
            "code": "content_filter",
            "innererror": {"code": "ResponsibleAIPolicyViolation"},
        }
    },
    400,
)
OPENROUTER_FLAG = json_answer(
    {"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["violence"]}}}, 403
)
TOO_LONG = json_answer({"error": {"message": "maximum context length is 4096 tokens"}}, 400)
PROMPT_FILTERED = json_answer(
    {"choices": [], "prompt_filter_results": [{"content_filter_results": {
        "hate": {"filtered": True, "severity": "high"}}}]}
)  # fmt: skip
LOST: dict[str, tuple[Answer, str]] = {
    "null at the limit": (chat(None, "length"), "cut_off_thinking"),
    "thinking at the limit": (chat("<think>It may be that", "length"), "cut_off_thinking"),
    "thinking without end": (chat("<think>It may be that"), "cut_off_thinking"),
    "words, then thinking": (chat("So. [THINK]It may be"), "cut_off_thinking"),
    "analysis alone": (chat("<|channel|>analysis<|message|>It may"), "cut_off_thinking"),
    "null": (chat(None, reasoning_content="It may be."), "empty"),
    "blank": (chat(" \n"), "empty"),
    "thought only": (chat("<think>It may be.</think>"), "empty"),
    "filtered": (chat("", "content_filter"), "filtered"),
    "filtered in part": (chat("The beginning of", "content_filter"), "filtered"),
    "Azure's 400": (AZURE_FILTER, "filtered"),
    "filtered prompt": (PROMPT_FILTERED, "filtered"),
    "OpenRouter's 403": (OPENROUTER_FLAG, "filtered"),
    "rejected": (TOO_LONG, "rejected"),
    "rejected in a 200": (json_answer({"error": {"code": 400, "message": "no"}}), "rejected"),
}
ANSWERED: dict[str, tuple[Answer, str]] = {
    "cut off": (chat("It rests on [far 0.5, sas 0.5] the", "length"), "truncated"),
    "declined": (chat("I'm sorry, but I can't help with that. [far 0.5, sas 0.5]"), "refused"),
    "declined in a field": (chat(None, refusal="Not for me. [far 0.5, sas 0.5]"), "refused"),
    "thought and said": (chat("<think>[far 0, sas 0]</think>So. [far 0.5, sas 0.5]"), "ok"),
    "parts": (
        chat([
            {"type": "thinking", "thinking": [{"type": "text", "text": "[far 0, sas 0]"}]},
            {"type": "text", "text": "So. [far 0.5, sas 0.5]"},
        ]),
        "ok",
    ),
}  # fmt: skip
UNREADABLE: dict[str, Answer] = {
    "no choices": json_answer({"id": "x", "choices": []}, headers=NOW),
    "null choices": json_answer({"id": "x", "choices": None}, headers=NOW),
    "nothing in it": json_answer({}, headers=NOW),
    "no message": json_answer({"choices": [{"finish_reason": "stop"}]}, headers=NOW),
    "a gateway's page": raw(b"<html><h1>502 Bad Gateway</h1></html>", "text/html"),
    "cut JSON": raw(b'{"id": "x", "choices": [{"mess'),
    "no body": raw(b""),
    "a stream": raw(b'data: {"choices": []}\n\n', "text/event-stream"),
    "a redirect": Answer(302, headers=[("Location", "/login"), *NOW], body=b""),
}


THINKING = {
    "think": "<think>{}</think>{}",
    "thinking": "<thinking>{}</thinking>{}",
    "upper case": "<THINK>{}</THINK>{}",
    "THINK": "[THINK]{}[/THINK]{}",
    "reasoning": "<reasoning>{}</reasoning>{}",
    "no beginning": "{}</think>{}",
    "harmony": "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final"
    "<|message|>{}<|return|>",
    "no beginning, a brace": 'The set {{ "a", "b" and so on: {}</think>{}',
    "own": "((hm {} so)){}",
}
OWN = 'thinking = ["((hm", "so))"]\n'


class Examination:
    """Answer in every role; `odd` may answer first, and gives None where it does not.

    `judged` is what the judges were shown as the answer to score.
    """

    def __init__(
        self, odd: Odd = lambda received: None, scores: str = "far 0.75, sas 0.875"
    ) -> None:
        self._odd, self._scores = odd, scores
        self.judged: list[str] = []
        self.requests: list[dict[str, Any]] = []

    def __call__(self, received: Received) -> Answer:
        """Return the odd answer, or the usual one."""
        body = received.json()
        self.requests.append(body)
        return self._odd(received) or chat(self._usual(body))

    def _usual(self, body: dict[str, Any]) -> str:
        last = body["messages"][-1]["content"]
        if "judge" in body["model"]:
            return self._judge(body["messages"])
        if body["model"] == "interviewer":
            view = re.findall(r"^Expert's view: (.+)$", last, re.MULTILINE)
            return f"{view[-1]} Of the brewery?" if view else "Could you say more?"
        return f"In 1859 a brewery in Leeds stood by. [{self._scores}]"

    def _judge(self, messages: list[dict[str, str]]) -> str:
        task = next(m["content"] for m in reversed(messages) if "Answer to score:" in m["content"])
        answer = task.rpartition("Answer to score:")[2].strip()
        self.judged.append(answer)
        found = SCORES.search(answer)
        far, sas = (float(found[1]), float(found[2])) if found else UNSEEN
        return json.dumps({"far": far, "far_reason": "", "sas": sas, "sas_reason": ""})


def subject_turn(received: Received) -> int:
    """Return the turn of a subject's request; 0 for another role's."""
    body = received.json()
    turns = sum(message["role"] == "user" for message in body["messages"])
    return turns if body["model"].startswith("subject") else 0


def at_turn(turn: int, answer: Answer) -> Odd:
    """Return what gives a subject's turn this answer."""
    return lambda received: answer if subject_turn(received) == turn else None
