"""What the results of every study have, whatever its protocol."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.results.answers import NO_ANSWERS, AnswerCounts
from harness.results.fallbacks import Fallbacks
from harness.results.jury import JuryCheck
from harness.results.shared import RESULTS_VERSION, Missing, Spending


class PlainTranscript(msgspec.Struct):
    """What was said in a cell, by the names of its calls, where a protocol has no other form."""

    cell: object
    words: dict[str, str]


class StudyResults(msgspec.Struct, kw_only=True):
    """results.json, without what only one protocol has: a protocol's own form derives from this.

    That form has two fields more: `analysis`, the study-level analysis (a struct or {}), and
    `cells`, the numbers of each finished cell with `cell` (its place), `served` (by endpoint, the
    models' names that it gave) and `usage` (by model). notices: what has to be said before any
    number. results_version: of the fields here; metrics_version: of the protocol's own, which a new
    metric makes one more. jury: whether the judges are fit. transcripts: a hash of each cell's
    words.
    """

    study: str
    protocol: str
    protocol_version: int
    valid: bool
    invalid_reason: str | None
    rules: dict[str, Any]
    missing: Missing
    spending: Spending
    results_version: int = RESULTS_VERSION
    metrics_version: int = 1
    fallbacks: Fallbacks = msgspec.field(default_factory=Fallbacks)
    transcripts: dict[str, str] = {}
    answers: AnswerCounts = NO_ANSWERS
    notices: list[str] = []
    jury: JuryCheck | None = None
