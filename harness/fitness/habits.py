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
    own = [one for one in utterances if one.judge == judge]
    copied = sum(any(_repeats(one, example) for example in examples) for one in own)
    return Habits(
        judgements=len(own),
        distinct=len({one.scores for one in own}),
        copied=_share(copied, len(own), bool(examples)),
    )


def _share(copied: int, judgements: int, has_examples: bool) -> Value:
    if not has_examples:
        return Value(None, judgements, "the prompt has no example with a score")
    return Value(copied / judgements, judgements) if judgements else Value(None, 0, "no judgement")


def _repeats(one: Utterance, example: Utterance) -> bool:
    reasons = {_plain(reason) for reason in one.reasons} - {""}
    return one.scores == example.scores and bool(reasons & set(map(_plain, example.reasons)))


def _plain(reason: str) -> str:
    return " ".join(reason.casefold().split()).rstrip(".")
