"""Ask for a JSON object of given fields: read leniently, ask once more, or say what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.asking.replies import Fields, Verdict, read_reply
from harness.asking.wire import Answer, Message, Model, with_text

ASKS = 2
REJECTED = "rejected"
Heard = Callable[[str, str], None]  # hears of each reply in a form: the model, and its state


def ignored(model: str, state: str) -> None:
    """Take no notice of a reply."""


class Form(NamedTuple):
    """What is asked for: fields, their JSON schema, how to ask again, the role's parameters.

    again: the words of the second request; {problem} is what was wrong with the first reply.
    version: the protocol version by whose rules replies are read.
    """

    fields: Fields
    schema: Mapping[str, Any]
    again: str
    params: Mapping[str, Any]
    version: int


class Filled(NamedTuple):
    """What came back: the verdict on the last reply, its words, and every answer on the way."""

    verdict: Verdict
    words: str
    answers: list[Answer]


def ask_form(model: Model, call: str, messages: Sequence[Message], form: Form) -> Filled:
    """Ask, and once more with what was wrong with the first reply."""
    said, answers = list(messages), list[Answer]()
    while True:
        name = call if not answers else f"{call}/ask-{len(answers) + 1}"
        answer = model.ask(name, said, params=form.params, schema=form.schema)
        answers.append(answer)
        verdict = _verdict(answer, form)
        settled = verdict.state in ("ok", REJECTED)  # a rejected request is rejected again
        if settled or len(answers) == ASKS:
            return Filled(verdict, answer.text, answers)
        again = form.again.replace("{problem}", verdict.problem)
        said += [
            with_text({"role": "assistant", "content": answer.text}),
            {"role": "user", "content": again},
        ]


def _verdict(answer: Answer, form: Form) -> Verdict:
    if answer.state == REJECTED:
        return Verdict(REJECTED, {}, (), "The request was rejected.")
    # Declined in a field made for it, a reply ends like any other.
    finish = "refusal" if answer.state == "filtered" else answer.finish_reason
    return read_reply(answer.text, finish, form.fields, form.version)
