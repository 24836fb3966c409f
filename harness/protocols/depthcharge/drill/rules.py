"""What a drill is held by, and with whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.asking.executor import Each
from harness.asking.models.model import Model
from harness.asking.replies.structured_output import Heard, ignored
from harness.asking.sources.fact_source import Source
from harness.asking.sources.inquiry import Window

BY_CODE = "cloze"  # in the place of an extractor: questions are made by code
ALL_RESULTS = 2  # the protocol's version from which a walk goes on to the next result


class DrillRules(NamedTuple):
    """What the study file says of a drill.

    version: of the protocol. extractor: who makes questions, a model or BY_CODE; directions: who
    names aspects and topics. branches: how many aspects a run begins with. tiers: the tier of each
    depth, from depth 1 on. sources: by tier, in the order they are tried. recent: the dates between
    which the newest tier searches. answerable_check: whether the extractor must answer a question
    from its passage before it is put.
    """

    version: int
    seed: int
    extractor: str
    directions: str
    evaluator: str
    questions: int
    branches: int
    theta: float
    tiers: Sequence[str]
    sources: Mapping[str, Sequence[str]]
    recent: Window
    redeals: int
    history: str
    answerable_check: bool
    params: Mapping[str, Mapping[str, Any]]
    evaluator_form: str = "object"


class People(NamedTuple):
    """Whom a drill asks, who hears of each reply in a form, and how questions run at once."""

    models: Mapping[str, Model]
    sources: Mapping[str, Source]
    each: Each
    heard: Heard = ignored
