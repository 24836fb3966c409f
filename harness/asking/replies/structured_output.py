"""Ask for a JSON object of given fields: read leniently, ask once more, or say what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from harness.asking.models.model import Answer, Message, Model, with_text
from harness.asking.replies.parser import OK, Fields, ParsedReply, read_reply
from harness.asking.replies.reply_count import ReplyOutcome
from harness.results.answers import CUT_OFF_THINKING, EMPTY, FILTERED, NO_REPLY, REJECTED

ASKS = 2
LASTING = (REJECTED, NO_REPLY)  # another request would fare no better
PROBLEMS = {  # what is wrong with a missing reply, for who is asked again
    CUT_OFF_THINKING: "The reply was cut off before its end; one complete JSON object is needed.",
    EMPTY: "The reply was empty; one complete JSON object is needed.",
    FILTERED: "The reply was withheld by a content filter.",
    NO_REPLY: "There was no reply.",
    REJECTED: "The request was rejected.",
}
Heard = Callable[[ReplyOutcome], None]  # hears of each reply as it comes


def ignored(reply: ReplyOutcome) -> None:
    """Take no notice of a reply."""


class Form(NamedTuple):
    """What is asked for: fields, their JSON schema, how to ask again, the role's parameters.

    again: the words of the second request; {problem} is what was wrong with the first reply.
    version: the protocol version by whose rules replies are read.
    """

    fields: Fields
    schema: Mapping[str, object]
    again: str
    params: Mapping[str, object]
    version: int


class Filled(NamedTuple):
    """What came back: the verdict on the last reply, its words, and every answer on the way."""

    verdict: ParsedReply
    words: str
    answers: list[Answer]

    def reply(self, role: str, model: str, fault: str = "") -> ReplyOutcome:
        """Return what it came to; fault: what else made it unusable, "" where nothing did."""
        state = self.verdict.state
        return ReplyOutcome(
            role,
            model,
            fault if fault and state == OK else state,
            len(self.answers),
            len(self.answers) - 1,
            self.verdict.repaired,
        )


def ask_form(model: Model, call: str, messages: Sequence[Message], form: Form) -> Filled:
    """Ask, and once more with what was wrong with the first reply."""
    turns, answers = list(messages), list[Answer]()
    while True:
        name = call if not answers else f"{call}/ask-{len(answers) + 1}"
        answer = model.ask(name, turns, params=form.params, schema=form.schema)
        answers.append(answer)
        verdict = _verdict(answer, form)
        settled = verdict.state in ("ok", *LASTING)
        if settled or len(answers) == ASKS:
            return Filled(verdict, answer.text, answers)
        again = form.again.replace("{problem}", verdict.problem)
        turns += [
            with_text({"role": "assistant", "content": answer.text}),
            {"role": "user", "content": again},
        ]


def _verdict(answer: Answer, form: Form) -> ParsedReply:
    if answer.lost or answer.state == REJECTED:
        return ParsedReply(answer.state, {}, (), PROBLEMS[answer.state])
    # Declined in a field made for it, a reply ends like any other.
    finish = "refusal" if answer.state == FILTERED else answer.finish_reason
    verdict = read_reply(answer.text, finish, form.fields, form.version)
    if not answer.thought or verdict.state != "ok":
        return verdict
    return verdict._replace(repaired=tuple(dict.fromkeys(("thinking", *verdict.repaired))))
