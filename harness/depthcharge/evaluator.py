"""The evaluator: does an answer entail the fact that was looked up?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.asking.forms import Filled, Form, ask_form
from harness.asking.prompts import Prompts
from harness.asking.replies import Fields, Flag, Text
from harness.asking.replies import Score as ScoreField
from harness.asking.wire import Message, Model
from harness.depthcharge.questions import Question

ERROR_TYPES = ("omission", "outdated", "conflation", "fabrication", "refusal", "other")
UNNAMED = "unnamed"  # a wrong answer of which the evaluator names no kind of error
FIELDS: Fields = {
    "correct": Flag(),
    "confidence": ScoreField(),
    "reason": Text(remark=True),
    "error_type": Text(),  # read leniently: a right answer has none, in whatever words
}


def evaluate(
    model: Model,
    call: str,
    question: Question,
    answer: str,
    prompts: Prompts,
    params: Mapping[str, Any],
) -> Filled:
    """Have one answer checked; the verdict's values are those of FIELDS, where it is usable."""
    task = prompts.filled(
        "evaluator_task",
        question=question.text,
        claim=question.claim,
        quote=question.quote,
        expected=question.expected,
        answer=answer or "(no answer)",
    )
    messages = [*_opening(prompts), {"role": "user", "content": task}]
    schema = json.loads(prompts["evaluator_schema"])
    form = Form(FIELDS, schema, prompts["again"], params, prompts.version)
    return ask_form(model, call, messages, form)


def error_type(said: object) -> str:
    """Give the kind of error of a wrong answer, as the evaluator named it."""
    kind = str(said).strip().casefold()
    return kind if kind in ERROR_TYPES else UNNAMED


def _opening(prompts: Prompts) -> list[Message]:
    system: Message = {"role": "system", "content": prompts["evaluator_system"]}
    return [system, *prompts.examples("evaluator_example")]
