"""Gold answers: texts whose right score is known, for finding out whether a judge is fit."""

from __future__ import annotations

import msgspec

FACT_ANSWERS = ("states", "rephrases", "misses", "echoes")


class GoldAnswer(msgspec.Struct, omit_defaults=True):
    """An answer about a concept, and the bands that a fair reader would score it in.

    kind: one of jury.gold.KINDS. turn: the turn of a dialogue that the question belongs to. expert
    and claim: the invented ones of turns 4 and 5. far, sas: lowest and highest score, None where
    the scale says nothing of such an answer.
    """

    concept: str
    kind: str
    turn: int
    question: str
    text: str
    expert: str = ""
    claim: str = ""
    far: tuple[float, float] | None = None
    sas: tuple[float, float] | None = None


class GoldFact(msgspec.Struct):
    """A question of a drill, the fact behind it, and four answers.

    states gives the fact in the key's words and rephrases in other words or forms; misses gives
    another fact, and echoes only repeats the question.
    """

    question: str
    claim: str
    quote: str
    expected: str
    states: str
    rephrases: str
    misses: str
    echoes: str


class Gold(msgspec.Struct, omit_defaults=True):
    """A gold set: answers for the judges of dialogues, facts for the evaluators of drills."""

    answers: list[GoldAnswer] = []
    facts: list[GoldFact] = []


class GoldKey(msgspec.Struct, frozen=True, order=True):
    """The place of the gold set in a recording: one cell beside the grid."""

    name: str = "jury-check"

    @property
    def examined(self) -> str:
        """Return that no model is under test here."""
        return ""
