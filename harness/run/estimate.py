"""What a recording will ask and about what it will cost, before a call is made.

Every dialogue is held with a stand-in that answers as long as its token limit allows, so that the
lengths are those of the real prompts; a token is taken for four characters. Second tries are not
foreseen.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.asking.limits import CHARACTERS_A_TOKEN
from harness.asking.wire import Answer, Message
from harness.ddft.spending import spending
from harness.results import Materials, Spending
from harness.run.wiring import dialogue
from harness.study import Study

UNLIMITED = 400
LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")


def estimate(study: Study, materials: Materials) -> Spending:
    """Give calls, tokens and cost by model for all of a study's cells, recorded or not."""
    stand_ins = {name: _StandIn(model.params) for name, model in study.file.models.items()}
    cells = [dialogue(study, cell, materials, stand_ins).run() for cell in study.cells()]
    return spending(cells, materials.prices)


def token_limit(params: Mapping[str, Any]) -> int | None:
    """Give the most tokens that a reply may have by these parameters; None where nothing says."""
    limits = [params[name] for name in LIMITS if isinstance(params.get(name), int)]
    return max(limits) if limits else None


def tokens_in(messages: Sequence[Message]) -> int:
    """Give about how many tokens a prompt has."""
    characters = sum(len(message["content"]) for message in messages)
    return math.ceil(characters / CHARACTERS_A_TOKEN)


class _StandIn:
    """A model that says nothing at the greatest length."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params

    def ask(
        self,
        call: str,
        messages: Sequence[Message],
        *,
        params: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Give a reply that the protocol can use, and the tokens of its longest."""
        limit = token_limit({**(params or {}), **self._params}) or UNLIMITED
        text = _question(messages) if "interviewer" in call else "word " * (limit * 4 // 5)
        if schema is not None:
            text = json.dumps({"far": 0.5, "sas": 0.5})
        return Answer(text, "ok", "stop", "", (tokens_in(messages), limit))


def _question(messages: Sequence[Message]) -> str:
    quoted = re.search(r'"([^"]+)"', messages[-1]["content"])
    return f"What of {quoted[1] if quoted else 'that'}?"
