"""What a recording shows of a judge without gold: copies of its examples, and sameness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.results import Habits, Value


class Utterance(NamedTuple):
    """What a judge gave: its scores (or its verdict), and the reasons that it wrote."""

    judge: str
    scores: tuple[object, ...]
    reasons: tuple[str, ...]


def habits(judge: str, utterances: Sequence[Utterance], examples: Sequence[Utterance]) -> Habits:
    """Return a judge's habits over its usable judgements.

    examples: the worked examples of its prompt. A judgement repeats one where all of its scores,
    and one of its reasons word for word, are those of one example.
    """
    judged = [utterance for utterance in utterances if utterance.judge == judge]
    copied = sum(any(_repeats(utterance, example) for example in examples) for utterance in judged)
    return Habits(
        judgements=len(judged),
        distinct=len({utterance.scores for utterance in judged}),
        copied=_share(copied, len(judged), bool(examples)),
    )


def _share(copied: int, judgements: int, has_examples: bool) -> Value:
    if not has_examples:
        return Value(None, judgements, "the prompt has no example with a score")
    return Value(copied / judgements, judgements) if judgements else Value(None, 0, "no judgement")


def _repeats(utterance: Utterance, example: Utterance) -> bool:
    reasons = {_plain(reason) for reason in utterance.reasons} - {""}
    return utterance.scores == example.scores and bool(reasons & set(map(_plain, example.reasons)))


def _plain(reason: str) -> str:
    return " ".join(reason.casefold().split()).rstrip(".")
