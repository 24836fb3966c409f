"""A study's models that answer by content: a judge scores what an answer says, not always 0.5."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from loopback import Answer, Answering, Received, json_answer
from provider import Provider, draw

from harness.files import write_atomic
from harness.results import canonical
from harness.run.wiring import foreseen
from harness.study.folder import Study

Change = Callable[[str], Answer | str | None]


def chat(content: str | None, finish: str = "stop", **message: Any) -> Answer:
    """Return a chat completion."""
    choice = {"index": 0, "finish_reason": finish, "message": {"content": content, **message}}
    return json_answer({"model": "served-name", "choices": [choice]})


def judged(received: Received) -> dict[str, float | str]:
    """Return the scores that a judge's task gets: by the answer's words, the same from everyone."""
    task = next(
        message["content"]
        for message in reversed(received.json()["messages"])
        if "Answer to score: " in message["content"]
    )
    answer = task.rpartition("Answer to score: ")[2]
    far, sas = (draw(answer, scale) % 21 / 20 for scale in ("far", "sas"))
    return {"far": far, "far_reason": f"{len(answer)} letters.", "sas": sas, "sas_reason": "Read."}


def by_content(**changes: Change) -> Answering:
    """Answer as the provider does, judges by content; a model named in `changes` as that says.

    A change gets the JSON of a judge's scores, or "" from others, and returns an answer, the text
    of one, or None for the usual answer. In names "_" stands for "-".
    """
    provider = Provider()

    def answer(received: Received) -> Answer:
        model = received.json()["model"]
        scores = json.dumps(judged(received)) if model.startswith("judge") else ""
        change = changes.get(model.replace("-", "_"))
        changed = change(scores) if change else None
        if isinstance(changed, Answer):
            return changed
        if changed is None and not scores:
            return provider(received)
        return chat(scores if changed is None else changed)

    return answer


def freeze_as_version_1(study: Study) -> None:
    """Give a study the materials of protocol version 1, before anything is recorded."""
    materials = msgspec.structs.replace(foreseen(study), protocol_version=1)
    write_atomic(Path(study.materials), canonical(materials))
