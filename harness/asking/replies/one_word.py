"""Ask for one of two words, and read how sure the model is of the first.

The probabilities of the first token, where an endpoint gives them, turn a small model's yes or no
into a graded score: P(first) / (P(first) + P(second)).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.asking.models.model import Answer, Message, Model, with_text
from harness.asking.replies.structured_output import ASKS
from harness.results.answers import FILTERED, OK, REJECTED

LEAST_MASS = 0.1  # of the two words together; below it their ratio is noise
NO_WORD = "no_word"
PARAMS: Mapping[str, object] = {"max_tokens": 1, "logprobs": True, "top_logprobs": 20}


class Choice(NamedTuple):
    """Two words, how to ask for them again, and the role's parameters, which go before PARAMS."""

    first: str
    second: str
    again: str
    params: Mapping[str, object]


class OneWord(NamedTuple):
    """How sure a model is of the first word, 0 to 1; None unless `state` is "ok".

    by_word: there were no probabilities, so it is the word itself, 1 or 0.
    """

    share: float | None
    state: str
    by_word: bool
    answers: list[Answer]


def ask_word(model: Model, call: str, messages: Sequence[Message], choice: Choice) -> OneWord:
    """Ask for one of two words, and once more where neither came."""
    turns, answers = list(messages), list[Answer]()
    while True:
        name = call if not answers else f"{call}/ask-{len(answers) + 1}"
        answer = model.ask(name, turns, params={**PARAMS, **choice.params})
        answers.append(answer)
        share, by_word = _read(answer, choice)
        if share is not None:
            return OneWord(share, OK, by_word=by_word, answers=answers)
        if answer.state == REJECTED or len(answers) == ASKS:
            return OneWord(None, _state(answer), by_word=False, answers=answers)
        turns += [
            with_text({"role": "assistant", "content": answer.text}),
            {"role": "user", "content": choice.again},
        ]


def _read(answer: Answer, choice: Choice) -> tuple[float | None, bool]:
    if answer.lost or answer.state in (REJECTED, FILTERED):
        return None, False
    mass = {choice.first: 0.0, choice.second: 0.0}
    for token, logprob in answer.first:
        if (word := _meant(token, choice)) is not None:
            mass[word] += math.exp(logprob)
    total = sum(mass.values())
    if total >= LEAST_MASS:
        return mass[choice.first] / total, False
    words = re.findall(r"[^\W_]+", answer.text)
    word = next((word for word in words[:1] if _plain(word) in _plain_words(choice)), "")
    return (float(_plain(word) == _plain(choice.first)), True) if word else (None, False)


def _meant(token: str, choice: Choice) -> str | None:
    """Return the word that a token is, or begins (of two letters at least) as no other does."""
    plain = _plain(token)
    for word, contrary in ((choice.first, choice.second), (choice.second, choice.first)):
        begins = len(plain) > 1 and _plain(word).startswith(plain)
        if plain == _plain(word) or (begins and not _plain(contrary).startswith(plain)):
            return word
    return None


def _plain(token: str) -> str:
    return token.strip().strip("\"'.,:;!*`").casefold()


def _plain_words(choice: Choice) -> tuple[str, str]:
    return _plain(choice.first), _plain(choice.second)


def _state(answer: Answer) -> str:
    return answer.state if answer.lost or answer.state == FILTERED else NO_WORD


def imagined_word(messages: Sequence[Message]) -> str:
    """Return the first of the two words that a prompt ends in, for an estimate; "" without."""
    question = re.search(r"Answer (\w+) or \w+\.\s*$", messages[-1]["content"])
    return question[1] if question else ""
