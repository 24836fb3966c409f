"""The extractor: aspects of a domain, directions from an answer, a question on a fact."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.asking.models.model import Message, Model
from harness.asking.models.prompts import Prompts
from harness.asking.replies.parser import Fields, Flag, ParsedReply, Text, Texts
from harness.asking.replies.structured_output import Filled, Form, ask_form
from harness.protocols.depthcharge.drill.paths import Path, folded, fresh, stands_in
from harness.protocols.depthcharge.drill.questions import (
    NOT_ABOUT,
    UNANSWERED,
    UNUSABLE,
    Made,
    Question,
    Shown,
    claim_of,
    fault_of,
    span_of,
    unsound,
)
from harness.protocols.depthcharge.drill.support import keyless
from harness.results import Passage

ROUNDS = 2  # of asking for more topics, where there are too few
LONGEST_LIST = 30  # items asked for at once: a longer list meets the token limit
LONGEST_DIRECTION = 8  # words
QUESTION_FIELDS: Fields = {"about": Flag(), "question": Text(), "answer": Text(), "quote": Text()}
ANSWERED_FIELDS: Fields = {"answered": Flag(), "quote": Text()}
EXAMPLES = "question_example"


class Extractor:
    """One model in the extractor's role; `filled` hears of every form, and what else is wrong."""

    def __init__(
        self,
        model: Model,
        prompts: Prompts,
        domain: str,
        params: Mapping[str, Any],
        filled: Callable[[Filled, str], None],
        answerable_check: bool = False,
    ) -> None:
        self._model, self._prompts, self._domain = model, prompts, domain
        self._params, self._filled = params, filled
        self._answerable_check = answerable_check

    def aspects(self, count: int) -> list[str]:
        """Name distinct aspects of the domain, the domain itself first; `count` at most."""
        aspects = self._more("aspects", "aspects", count - 1, [folded(self._domain)])
        return [self._domain, *aspects][:count]

    def concepts(self, call: str, path: Path, count: int, excluded: Sequence[str]) -> list[str]:
        """Take directions from the path's last answer, in the answer's own words."""
        question, answer = path.history[-1]
        listed = self._items(call, "concepts", count, excluded, question=question, answer=answer)
        return fresh([item for item in listed if stands_in(item, answer)], excluded)

    def subtopics(self, call: str, topic: str, count: int, excluded: Sequence[str]) -> list[str]:
        """Name subtopics of a topic that are not known yet."""
        return self._more(call, "subtopics", count, excluded, topic=topic)

    def _more(
        self, call: str, prompt: str, count: int, excluded: Sequence[str], **values: str
    ) -> list[str]:
        """Ask until there are `count`, in two rounds at most."""
        directions: list[str] = []
        for number in range(1, ROUNDS + 1):
            if len(directions) >= count:
                break
            name = call if number == 1 else f"{call}/more-{number}"
            so_far = [*excluded, *map(folded, directions)]
            listed = self._items(name, prompt, count - len(directions), so_far, **values)
            directions += fresh(listed, so_far)
        return directions[:count]

    def _items(
        self, call: str, prompt: str, count: int, excluded: Sequence[str], **values: str
    ) -> list[str]:
        task = self._prompts.filled(
            prompt,
            domain=self._domain,
            count=str(min(count, LONGEST_LIST)),
            had="; ".join(excluded) or "(none)",
            **values,
        )
        form = self._form("items_schema", {"items": Texts()})
        filled = ask_form(self._model, call, self._messages(task, f"{prompt}_example"), form)
        self._filled(filled, "")
        items = filled.verdict.values.get("items", ())
        listed = items if isinstance(items, tuple) else ()
        return [item for item in listed if len(item.split()) <= LONGEST_DIRECTION]

    def questions(self, call: str, topic: str, level: str, passage: Passage) -> Iterator[Made]:
        """Return one question that the passage answers, or why there is none."""
        attempt = self._question(f"{call}/question", topic, level, passage)
        if attempt.question is not None and self._answerable_check:
            attempt = self._answered(f"{call}/answerable", attempt.question, passage)
        yield attempt

    def _question(self, call: str, topic: str, level: str, passage: Passage) -> Made:
        """Make a question; one that cannot be asked is asked for once more and then given up."""
        task = self._prompts.filled(
            "question",
            topic=topic,
            level=level,
            title=passage.title,
            passage=passage.text,
            domain=self._domain,
        )
        messages = self._messages(task, EXAMPLES)
        form = self._form("question_schema", QUESTION_FIELDS)
        filled = ask_form(self._model, call, messages, form)
        attempt, fault = self._made(filled.verdict, passage, topic)
        if fault:
            again = [*messages, *self._again(filled, fault)]
            second = ask_form(self._model, f"{call}/mended", again, form)
            attempt, fault = self._made(second.verdict, passage, topic)
            filled = second._replace(answers=[*filled.answers, *second.answers])
        self._filled(filled, UNUSABLE if fault else "")
        return Made(None, UNUSABLE) if fault else attempt

    def _made(self, verdict: ParsedReply, passage: Passage, topic: str) -> tuple[Made, str]:
        """Return the question that a reply holds, and what is wrong with it, "" where nothing."""
        state, values = verdict.state, verdict.values
        if state != "ok" or values["about"] is not True:
            return Made(None, NOT_ABOUT if state == "ok" else state), ""
        text, answer, quote = (
            str(values[name]).strip() for name in ("question", "answer", "quote")
        )
        quote = span_of(answer, quote)
        fault = fault_of(text, answer, quote, passage.text)
        if not fault and self._prompts.version > 1:
            fault = unsound(text, passage, self._shown(topic)) or keyless(quote, text)
        claim = claim_of(quote, passage.text, self._prompts.version)
        return Made(Question(text, answer, quote, claim)), fault

    def _shown(self, topic: str) -> Shown:
        """Return the words of the worked examples, and those that a task has beside its passage."""
        examples = " ".join(turn["content"] for turn in self._prompts.examples(EXAMPLES))
        return Shown(examples, f"{self._prompts['question']} {topic} {self._domain}")

    def _answered(self, call: str, question: Question, passage: Passage) -> Made:
        """Return a question where the passage answers it with its quote, by the same model."""
        task = self._prompts.filled(
            "answerable", title=passage.title, passage=passage.text, question=question.text
        )
        form = self._form("answerable_schema", ANSWERED_FIELDS)
        filled = ask_form(self._model, call, self._messages(task, "answerable_example"), form)
        self._filled(filled, "")
        values = filled.verdict.values
        if filled.verdict.state != "ok":
            return Made(None, filled.verdict.state)
        quote = str(values["quote"])
        same = stands_in(question.quote, quote) or stands_in(quote, question.quote)
        return Made(question) if values["answered"] is True and same else Made(None, UNANSWERED)

    def _again(self, filled: Filled, fault: str) -> list[Message]:
        return [
            {"role": "assistant", "content": filled.words},
            {"role": "user", "content": self._prompts.filled("again", problem=fault)},
        ]

    def _messages(self, task: str, example: str) -> list[Message]:
        system = self._prompts.filled("extractor_system", domain=self._domain)
        examples = self._prompts.examples(example)
        return [
            {"role": "system", "content": system},
            *examples,
            {"role": "user", "content": task},
        ]

    def _form(self, schema: str, fields: Fields) -> Form:
        return Form(
            fields,
            json.loads(self._prompts[schema]),
            self._prompts["again"],
            self._params,
            self._prompts.version,
        )
