"""The extractor: aspects of a domain, directions from an answer, a question on a fact."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.asking.forms import Filled, Form, ask_form
from harness.asking.prompts import Prompts
from harness.asking.replies import Fields, Flag, Text, Texts
from harness.asking.wire import Message, Model
from harness.depthcharge.paths import Path, folded, fresh, stands_in
from harness.results import Passage

ROUNDS = 2  # of asking for more topics, where there are too few


class Question(NamedTuple):
    """A question on a fact: what is expected, and the span of the passage that it quotes."""

    text: str
    expected: str
    quote: str


class Extractor:
    """One model in the extractor's role; `filled` hears of every form that came back."""

    def __init__(
        self,
        model: Model,
        prompts: Prompts,
        domain: str,
        params: Mapping[str, Any],
        filled: Callable[[Filled], None],
    ) -> None:
        self._model, self._prompts, self._domain = model, prompts, domain
        self._params, self._filled = params, filled

    def aspects(self, count: int) -> list[str]:
        """Name distinct aspects of the domain, the domain itself first; `count` at most."""
        found = [self._domain]
        self._more("aspects", "aspects", found, count, [])
        return found[:count]

    def concepts(self, call: str, path: Path, count: int, had: Sequence[str]) -> list[str]:
        """Take directions from the path's last answer, in the answer's own words."""
        listed = self._items(
            call, "concepts", count, had, question=path.question, answer=path.answer
        )
        return fresh((item for item in listed if stands_in(item, path.answer)), had)[:count]

    def subtopics(
        self, call: str, topic: str, found: list[str], count: int, had: Sequence[str]
    ) -> None:
        """Add subtopics to the directions that were found, until there are `count`."""
        self._more(call, "subtopics", found, count, had, topic=topic)

    def _more(
        self,
        call: str,
        prompt: str,
        found: list[str],
        count: int,
        had: Sequence[str],
        **values: str,
    ) -> None:
        for round_ in range(1, ROUNDS + 1):
            if len(found) >= count:
                return
            name = call if round_ == 1 else f"{call}/more-{round_}"
            known = [*had, *map(folded, found)]
            listed = self._items(name, prompt, count - len(found), known, **values)
            found += fresh(listed, known)[: count - len(found)]

    def _items(
        self, call: str, prompt: str, count: int, had: Sequence[str], **values: str
    ) -> Sequence[str]:
        listed = "; ".join(sorted(had)) or "(none)"
        task = self._prompts.filled(
            prompt, domain=self._domain, count=str(count), had=listed, **values
        )
        form = self._form("items_schema", {"items": Texts()})
        items = self._ask(call, self._messages(task), form).verdict.values.get("items", ())
        return items if isinstance(items, tuple) else ()

    def question(self, call: str, topic: str, level: str, passage: Passage) -> Question | None:
        """Make a question that the passage answers; None where it is about something else.

        A question whose quote does not stand in the passage, or whose answer does not hold the
        quote, is asked for once more and then given up.
        """
        messages = self._messages(
            self._prompts.filled(
                "question",
                topic=topic,
                level=self._prompts[f"level_{level}"],
                title=passage.title,
                passage=passage.text,
                domain=self._domain,
            ),
            example="question_example",
        )
        form = self._form(
            "question_schema",
            {"about": Flag(), "question": Text(), "answer": Text(), "quote": Text()},
        )
        filled = self._ask(call, messages, form)
        made, fault = _made(filled, passage)
        if not fault:
            return made
        filled = self._ask(f"{call}/mended", [*messages, *self._again(filled, fault)], form)
        made, fault = _made(filled, passage)
        return None if fault else made

    def _again(self, filled: Filled, fault: str) -> list[Message]:
        return [
            {"role": "assistant", "content": filled.words},
            {"role": "user", "content": self._prompts.filled("again", problem=fault)},
        ]

    def _messages(self, task: str, example: str = "") -> list[Message]:
        messages = [
            {
                "role": "system",
                "content": self._prompts.filled("extractor_system", domain=self._domain),
            }
        ]
        if example:
            messages += [
                {"role": "user", "content": self._prompts[example]},
                {"role": "assistant", "content": self._prompts[f"{example}_reply"]},
            ]
        return [*messages, {"role": "user", "content": task}]

    def _form(self, schema: str, fields: Fields) -> Form:
        return Form(fields, json.loads(self._prompts[schema]), self._prompts["again"], self._params)

    def _ask(self, call: str, messages: Sequence[Message], form: Form) -> Filled:
        filled = ask_form(self._model, call, messages, form)
        self._filled(filled)
        return filled


def _made(filled: Filled, passage: Passage) -> tuple[Question | None, str]:
    """Give the question, if any, and what is wrong with it; "" where nothing is to be mended."""
    values = filled.verdict.values
    if filled.verdict.state != "ok" or values["about"] is not True:
        return None, ""
    text, answer, quote = (str(values[name]).strip() for name in ("question", "answer", "quote"))
    fault = fault_of(text, answer, quote, passage.text)
    return Question(text, answer, quote), fault


def fault_of(question: str, answer: str, quote: str, passage: str) -> str:
    """Say what is wrong with a question on a passage; "" where it can be asked."""
    if "?" not in question:
        return "The question asks nothing; a question mark is missing."
    if not stands_in(quote, passage):
        return f'The quote "{quote}" does not stand in the passage; copy it letter by letter.'
    if not stands_in(quote, answer):
        return f'The answer does not hold the quote "{quote}".'
    if stands_in(quote, question):
        return f'The question gives its answer away: it holds "{quote}".'
    return ""
