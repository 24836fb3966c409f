"""What a judge is shown of an answer, how a jury works, and what a judge gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from harness.asking.models.model import Answer
from harness.asking.models.prompts import Prompts
from harness.asking.replies.reply_count import ReplyOutcome
from harness.results import Concept, Score

TRAP_TURN = 4
NUMBERS, VERDICT = "numbers", "verdict"


@dataclass(frozen=True)
class Examined:
    """An answer to be judged: its question, and what else a judge may see.

    level: the compression of the text that the subject had. earlier: the dialogue before, "" in
    turn 1. expert, claim: the invented ones of this dialogue. reference: whether the judge sees
    the concept's text. prompts: the study's.
    """

    concept: Concept
    turn: int
    level: float
    question: str
    answer: str
    earlier: str
    expert: str
    claim: str
    reference: bool
    prompts: Prompts

    @cached_property
    def task(self) -> str:
        """Return the words that ask a judge for numbers, the same for every judge."""
        return _task(self, self.prompts)


class Bench(NamedTuple):
    """How a judge works: its prompts, its parameters, and what it is asked for.

    version: of the protocol. rubrics: "joint" asks for both scales in one call, "separate" in one
    call each. scoring: "numbers" between 0 and 1, or "verdict", one word a sentence.
    """

    prompts: Mapping[str, str]
    params: Mapping[str, Any]
    version: int
    rubrics: str = "joint"
    scoring: str = NUMBERS


class JudgedAnswer(NamedTuple):
    """A judge's score, its last words, and the answers it gave on the way.

    second_asks: how many of the answers came to a question that had been asked before.
    """

    score: Score
    words: str
    answers: list[Answer]
    second_asks: int

    def reply(self, judge: str) -> ReplyOutcome:
        """Return what it came to, for those who count."""
        state, repaired = self.score.state, self.score.repaired
        return ReplyOutcome("judge", judge, state, len(self.answers), self.second_asks, repaired)


def _task(examined: Examined, prompts: Prompts) -> str:
    """Return the words that ask a judge for numbers about an answer."""
    reference = earlier = fabrication = ""
    placeholders = {
        "concept": examined.concept.name,
        "expert": examined.expert,
        "claim": examined.claim,
    }
    if examined.reference:
        reference = prompts.filled("judge_reference", **placeholders, text=examined.concept.text)
    if examined.earlier:
        earlier = prompts.filled("judge_earlier", **placeholders, dialogue=examined.earlier)
    if examined.turn >= TRAP_TURN:
        fabrication = prompts.filled("judge_fabrication", **placeholders)
    return prompts.filled(
        "judge_turn",
        **placeholders,
        turn=str(examined.turn),
        percent=f"{(1 - examined.level) * 100:g}",
        reference=reference,
        earlier=earlier,
        fabrication=fabrication,
        question=examined.question,
        answer=examined.answer or "(no answer)",
    )
