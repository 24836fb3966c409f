"""The evaluator: does an answer entail the fact that was looked up?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.asking.models.model import Message, Model, with_text
from harness.asking.models.prompts import Prompts
from harness.asking.replies.one_word import Choice, ask_word
from harness.asking.replies.parser import OK, Fields, Flag, ParsedReply, ScoreField, Text
from harness.asking.replies.structured_output import Filled, Form, ask_form
from harness.protocols.depthcharge.drill.questions import Question
from harness.protocols.depthcharge.drill.support import is_supported

ERROR_TYPES = ("omission", "outdated", "conflation", "fabrication", "refusal", "other")
OBJECT, VERDICT = "object", "verdict"  # what an evaluator replies with: JSON, or one word
TASKS = {OBJECT: "evaluator_task", VERDICT: "evaluator_word_task"}
RULE_OF_WORDS = 2  # the protocol's version from which a "correct" needs a word of the key
UNSUPPORTED = "unsupported"
UNNAMED = "unnamed"  # a wrong answer of which the evaluator names no kind of error
FIELDS: Fields = {
    "correct": Flag(),
    "confidence": ScoreField(),
    "reason": Text(remark=True),
    "error_type": Text(),  # read leniently: a right answer has none, in whatever words
}


class EvaluationForm(NamedTuple):
    """How an evaluator works: its prompts, its parameters, and the form of its reply."""

    prompts: Prompts
    params: Mapping[str, Any]
    form: str = OBJECT


def evaluate(
    model: Model,
    call: str,
    question: Question,
    answer: str,
    evaluation: EvaluationForm,
) -> Filled:
    """Have one answer checked; the verdict's values are those of FIELDS, where it is usable.

    From protocol version 2 on, a "correct" of an answer without a word of the quote that the
    question lacks is asked about once more; what is correct then, too, is UNSUPPORTED.
    """
    task = evaluation.prompts.filled(
        TASKS[evaluation.form],
        question=question.text,
        claim=question.claim,
        quote=question.quote,
        expected=question.expected,
        answer=answer or "(no answer)",
    )
    messages = [*_opening(evaluation), {"role": "user", "content": task}]
    filled = _asked(model, call, messages, evaluation)
    if evaluation.prompts.version < RULE_OF_WORDS or not _is_correct(filled):
        return filled
    if is_supported(answer, question.quote, question.text):
        return filled
    doubt = evaluation.prompts.filled("evaluator_unsupported", quote=question.quote)
    reply: Message = with_text({"role": "assistant", "content": filled.words})
    second = _asked(
        model, f"{call}/unsupported", [*messages, reply, {"role": "user", "content": doubt}],
        evaluation,
    )  # fmt: skip
    answers = [*filled.answers, *second.answers]
    if not _is_correct(second):
        return second._replace(answers=answers)
    return Filled(ParsedReply(UNSUPPORTED, {}, (), "no word of the key"), second.words, answers)


def _is_correct(filled: Filled) -> bool:
    return filled.verdict.state == OK and filled.verdict.values["correct"] is True


def _asked(model: Model, call: str, messages: list[Message], evaluation: EvaluationForm) -> Filled:
    prompts = evaluation.prompts
    if evaluation.form == VERDICT:
        return _one_word(model, call, messages, evaluation)
    schema = json.loads(prompts["evaluator_schema"])
    form = Form(FIELDS, schema, prompts["again"], evaluation.params, prompts.version)
    return ask_form(model, call, messages, form)


def _one_word(
    model: Model, call: str, messages: list[Message], evaluation: EvaluationForm
) -> Filled:
    """Ask for Yes or No; how sure the model is of its word is the confidence, where it is known."""
    again = evaluation.prompts["evaluator_word_again"]
    word = ask_word(model, call, messages, Choice("Yes", "No", again, evaluation.params))
    words = word.answers[-1].text
    if word.share is None:
        return Filled(
            ParsedReply(word.state, {}, (), "no verdict in one word"), words, word.answers
        )
    correct = word.share > 0.5
    sure = None if word.by_word else max(word.share, 1 - word.share)
    values: dict[str, Any] = {"correct": correct, "confidence": sure, "error_type": None}
    return Filled(ParsedReply(OK, {**values, "reason": ""}, (), ""), words, word.answers)


def error_type(named: object) -> str:
    """Return the kind of error of a wrong answer, as the evaluator named it."""
    kind = str(named).strip().casefold()
    return kind if kind in ERROR_TYPES else UNNAMED


def _opening(evaluation: EvaluationForm) -> list[Message]:
    prompts, suffix = evaluation.prompts, "_word" if evaluation.form == VERDICT else ""
    system: Message = {"role": "system", "content": prompts[f"evaluator{suffix}_system"]}
    return [system, *prompts.examples(f"evaluator{suffix}_example")]
