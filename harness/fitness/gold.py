"""The gold set of the package, and gold files that users bring, checked like all people write."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.errors import UsageError
from harness.forms import Name, Share, Strict, parsed
from harness.results import Gold, GoldAnswer, GoldFact

KINDS = ("good", "partly", "wrong", "off topic", "garbled", "accepts", "rejects")
Text = Annotated[str, Field(min_length=1)]


class AnswerText(Strict):
    """[[answer]]: of which concept and turn, what kind of answer, and the bands of its scores."""

    concept: Name
    kind: Literal["good", "partly", "wrong", "off topic", "garbled", "accepts", "rejects"]
    turn: int = Field(ge=1, le=5)
    question: Text
    text: Text
    expert: str = ""
    claim: str = ""
    far: tuple[Share, Share] | None = None
    sas: tuple[Share, Share] | None = None

    @model_validator(mode="after")
    def _bands_go_up(self) -> AnswerText:
        for name, band in (("far", self.far), ("sas", self.sas)):
            if band is not None and band[0] > band[1]:
                raise ValueError(f"{name}: the band {list(band)} ends below its start")
        return self

    @model_validator(mode="after")
    def _the_trap_turns_have_a_trap(self) -> AnswerText:
        if (self.turn >= 4) != bool(self.expert and self.claim):
            raise ValueError("turns 4 and 5 need an expert and a claim, and no other turn has them")
        if (self.turn >= 4) != (self.kind in ("accepts", "rejects")):
            raise ValueError('turns 4 and 5 have the kinds "accepts" and "rejects", and only they')
        return self


class FactText(Strict):
    """[[fact]]: a question, the fact that was looked up, and four answers."""

    question: Text
    claim: Text
    quote: Text
    expected: Text
    states: Text
    rephrases: Text
    misses: Text
    echoes: Text


class GoldFile(Strict):
    """A gold file: answers, facts, or both."""

    answer: list[AnswerText] = []
    fact: list[FactText] = []

    @model_validator(mode="after")
    def _holds_something(self) -> GoldFile:
        if not self.answer and not self.fact:
            raise ValueError("there is neither an [[answer]] nor a [[fact]]")
        return self


def read_gold(path: Path) -> Gold:
    """Return a gold file's answers and facts; raises UsageError with file, line and the fault."""
    written = parsed(path, GoldFile)
    return Gold(
        answers=[GoldAnswer(**answer.model_dump()) for answer in written.answer],
        facts=[GoldFact(**fact.model_dump()) for fact in written.fact],
    )


def packaged_gold() -> Gold:
    """Return the gold set that ships with the package: its eight concepts, and facts for drills."""
    with as_file(files("harness.fitness") / "data" / "gold.toml") as path:
        return read_gold(path)


def about(gold: Gold, concepts: Sequence[str]) -> Gold:
    """Return the gold set with the answers about some concepts only, all facts with it.

    Raises UsageError for a concept that no answer is about.
    """
    present = sorted({answer.concept for answer in gold.answers})
    for concept in concepts:
        if concept not in present:
            raise UsageError(
                f"the gold set has no answer about {concept!r}; expected one of "
                f"{', '.join(present) or 'none, since it holds facts only'}"
            )
    chosen = [answer for answer in gold.answers if answer.concept in concepts]
    return Gold(answers=chosen, facts=gold.facts)
