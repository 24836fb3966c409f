"""Replies of a usual length that a dialogue can use, for an estimate before anything is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from harness.asking.models.model import Message
from harness.asking.replies.one_word import imagined_word
from harness.protocols.ddft.analysis.evaluations import SCALES
from harness.protocols.ddft.dialogue.verdicts import MOST_SENTENCES

SCORES = {"far": 0.5, "far_reason": "So.", "sas": 0.5, "sas_reason": "So."}


def imagined(call: str, messages: Sequence[Message], limit: int) -> str:
    """Return a reply of about `limit` tokens that the protocol can use."""
    if word := imagined_word(messages):
        return word
    if "/judge/" in call:
        one_word = call.split("/judge/")[1].partition("/")[2] not in ("", *SCALES)
        return "yes" if one_word else json.dumps(SCORES)
    if "interviewer" not in call:
        return _imagined_answer(limit)
    task = messages[-1]["content"]
    view = re.search(r"^Expert's view: (.+)$", task, re.MULTILINE)
    if not call.startswith("turn-4/"):
        return "What is that?"  # no word of it is in the answers
    return f"{view[1] if view else 'Professor Ada Imagined says so.'} What of that word?"


def _imagined_answer(limit: int) -> str:
    """Return an answer of about `limit` tokens, in as many sentences as a verdict judge reads."""
    words = max(1, limit * 4 // 5 // MOST_SENTENCES - 1)
    numbers = range(1, MOST_SENTENCES + 1)
    return " ".join(f"Statement{number}{' word' * words}." for number in numbers)
