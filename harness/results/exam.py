"""What judges and evaluators made of a gold set."""

from __future__ import annotations

import msgspec

from harness.results.gold import GoldKey
from harness.results.score import Score
from harness.results.shared import Usage


class GoldResult(msgspec.Struct):
    """What judges and evaluators made of a gold set.

    scores: each judge's, in the order of the answers. verdicts: each evaluator's, in the order of
    the facts and of FACT_ANSWERS: "correct", "wrong", "unsupported", or the state of a verdict
    that is missing.
    """

    cell: GoldKey
    scores: dict[str, list[Score]]
    verdicts: dict[str, list[str]]
    served: dict[str, list[str]]
    usage: dict[str, Usage]


class GoldTranscript(msgspec.Struct):
    """What judges and evaluators said about a gold set, in the order of its answers."""

    cell: GoldKey
    replies: dict[str, list[str]]
