"""The extractor: aspects of a domain, directions from an answer, a question on a fact."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.asking.forms import Filled, Form, ask_form
from harness.asking.prompts import Prompts
from harness.asking.relevance import EMPTY
from harness.asking.replies import Fields, Flag, Text, Texts, Verdict
from harness.asking.wire import Message, Model
from harness.depthcharge.paths import Path, folded, fresh, stands_in
from harness.results import Passage

ROUNDS = 2  # of asking for more topics, where there are too few
LONGEST_LIST = 30  # items asked for at once: a longer list meets the token limit
LONGEST_DIRECTION = 8  # words
UNUSABLE = "unusable question"
QUESTION_FIELDS: Fields = {"about": Flag(), "question": Text(), "answer": Text(), "quote": Text()}
QUESTION_MARKS = ("?", "？", "؟", "\u037e")  # the last is the Greek one, which looks like ;
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")


class Question(NamedTuple):
    """A question on a fact: what is expected, the quote it rests on, and the sentence of that."""

    text: str
    expected: str
    quote: str
    claim: str


class Made(NamedTuple):
    """A question, or why there is none: "not about it", "unusable question" or a reply's state."""

    question: Question | None
    reason: str = ""


class Extractor:
    """One model in the extractor's role; `filled` hears of every form, and what else is wrong."""

    def __init__(
        self,
        model: Model,
        prompts: Prompts,
        domain: str,
        params: Mapping[str, Any],
        filled: Callable[[Filled, str], None],
    ) -> None:
        self._model, self._prompts, self._domain = model, prompts, domain
        self._params, self._filled = params, filled

    def aspects(self, count: int) -> list[str]:
        """Name distinct aspects of the domain, the domain itself first; `count` at most."""
        more = self._more("aspects", "aspects", count - 1, [folded(self._domain)])
        return [self._domain, *more][:count]

    def concepts(self, call: str, path: Path, count: int, known: Sequence[str]) -> list[str]:
        """Take directions from the path's last answer, in the answer's own words."""
        question, answer = path.history[-1]
        listed = self._items(call, "concepts", count, known, question=question, answer=answer)
        return fresh([item for item in listed if stands_in(item, answer)], known)

    def subtopics(self, call: str, topic: str, count: int, known: Sequence[str]) -> list[str]:
        """Name subtopics of a topic that are not known yet."""
        return self._more(call, "subtopics", count, known, topic=topic)

    def _more(
        self, call: str, prompt: str, count: int, known: Sequence[str], **values: str
    ) -> list[str]:
        """Ask until there are `count`, in two rounds at most."""
        found: list[str] = []
        for number in range(1, ROUNDS + 1):
            if len(found) >= count:
                break
            name = call if number == 1 else f"{call}/more-{number}"
            so_far = [*known, *map(folded, found)]
            listed = self._items(name, prompt, count - len(found), so_far, **values)
            found += fresh(listed, so_far)
        return found[:count]

    def _items(
        self, call: str, prompt: str, count: int, known: Sequence[str], **values: str
    ) -> list[str]:
        task = self._prompts.filled(
            prompt,
            domain=self._domain,
            count=str(min(count, LONGEST_LIST)),
            had="; ".join(known) or "(none)",
            **values,
        )
        form = self._form("items_schema", {"items": Texts()})
        filled = ask_form(self._model, call, self._messages(task, f"{prompt}_example"), form)
        self._filled(filled, "")
        items = filled.verdict.values.get("items", ())
        listed = items if isinstance(items, tuple) else ()
        return [item for item in listed if len(item.split()) <= LONGEST_DIRECTION]

    def question(self, call: str, topic: str, level: str, passage: Passage) -> Made:
        """Make a question that the passage answers.

        One whose quote does not stand in the passage, or whose answer does not hold the quote, is
        asked for once more and then given up.
        """
        task = self._prompts.filled(
            "question",
            topic=topic,
            level=level,
            title=passage.title,
            passage=passage.text,
            domain=self._domain,
        )
        messages = self._messages(task, "question_example")
        form = self._form("question_schema", QUESTION_FIELDS)
        filled = ask_form(self._model, call, messages, form)
        made, fault = _made(filled.verdict, passage)
        if fault:
            again = [*messages, *self._again(filled, fault)]
            second = ask_form(self._model, f"{call}/mended", again, form)
            made, fault = _made(second.verdict, passage)
            filled = second._replace(answers=[*filled.answers, *second.answers])
        self._filled(filled, UNUSABLE if fault else "")
        return Made(None, UNUSABLE) if fault else made

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


def _made(verdict: Verdict, passage: Passage) -> tuple[Made, str]:
    """Return the question that a reply holds, and what is wrong with it, "" where nothing is."""
    state, values = verdict.state, verdict.values
    if state != "ok" or values["about"] is not True:
        return Made(None, "not about it" if state == "ok" else state), ""
    text, answer, quote = (str(values[name]).strip() for name in ("question", "answer", "quote"))
    quote = span_of(answer, quote)
    fault = fault_of(text, answer, quote, passage.text)
    return Made(Question(text, answer, quote, claim_of(quote, passage.text))), fault


def span_of(answer: str, quote: str) -> str:
    """Give the span that an answer quotes: the answer itself, where it is part of the quote."""
    short = answer.rstrip(" .")
    return short if short and not stands_in(quote, answer) and stands_in(short, quote) else quote


def fault_of(question: str, answer: str, quote: str, passage: str) -> str:
    """Say what is wrong with a question on a passage; "" where it can be asked."""
    if not any(mark in question for mark in QUESTION_MARKS):
        return "The question asks nothing; a question mark is missing."
    if any(stands_in(word, question) for word in ("passage", "this text", "the text")):
        return "The question speaks of the passage, which nobody who answers it has seen."
    if not stands_in(quote, passage):
        return f'The quote "{quote}" does not stand in the passage; copy it letter by letter.'
    if not tells(quote):
        return f'The quote "{quote}" tells no fact; copy the name, the number or the cause.'
    if not stands_in(quote, answer):
        return f'The answer does not hold the quote "{quote}".'
    if stands_in(quote, question):
        return f'The question gives its answer away: it holds "{quote}".'
    return ""


def tells(quote: str) -> bool:
    """Tell whether a quote has a digit, or a word that is more than grammar."""
    words = [word for word in folded(quote).split() if word not in EMPTY]
    return any(character.isdigit() for character in quote) or any(
        len(word) >= (3 if word.isascii() else 1) for word in words
    )


def claim_of(quote: str, passage: str) -> str:
    """Give the passage's sentence that holds the quote; all of the passage where none does."""
    sentences = SENTENCE.split(passage)
    return next((one for one in sentences if stands_in(quote, one)), passage).strip()
