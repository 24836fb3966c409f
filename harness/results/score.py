"""What a judge made of an answer."""

from __future__ import annotations

import msgspec

NO_ANSWER = "no_answer"  # state of the scores of a turn whose answer is missing


class Score(msgspec.Struct):
    """One judge's scores of one answer; far and sas are null unless state is "ok".

    state NO_ANSWER, asks 0: there was no answer to judge.
    """

    far: float | None
    sas: float | None
    state: str
    asks: int
    repaired: list[str] = []
