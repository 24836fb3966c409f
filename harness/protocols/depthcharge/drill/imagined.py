"""Replies of a usual length that a drill can use, for an estimate before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Sequence

from harness.asking.models.model import Message
from harness.asking.replies.one_word import imagined_word
from harness.protocols.seam import NAME, YEAR

QUOTE = "fact fact fact"  # that an imagined reply quotes of an imagined passage


def imagined(call: str, messages: Sequence[Message], limit: int) -> str:
    """Return a reply of about `limit` tokens that the protocol can use: every answer is right."""
    if call.endswith("/target"):
        return f"{NAME} {YEAR} " + "fact " * (limit * 4 // 5)
    if word := imagined_word(messages):
        return word
    if call.endswith(("/evaluator", "/unsupported")):
        return json.dumps({"correct": True, "confidence": 0.5, "reason": "fact " * 10})
    if call.endswith("/answerable"):
        return json.dumps({"answered": True, "quote": QUOTE})
    if call.endswith("/question"):
        topic = messages[-1]["content"].partition("Topic: ")[2].partition("\n")[0]
        question = f"Which one holds of {topic}?"
        return json.dumps({"about": True, "question": question, "answer": QUOTE, "quote": QUOTE})
    return json.dumps({"items": [f"{call} topic {number}" for number in range(100)]})
