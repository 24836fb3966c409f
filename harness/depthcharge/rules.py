"""What a drill is held by, and with whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.asking.forms import Heard, ignored
from harness.asking.inquiry import Window
from harness.asking.sources import Source
from harness.asking.turns import Each
from harness.asking.wire import Model

BY_CODE = "cloze"  # in the place of an extractor: questions are made by code
ALL_RESULTS = 2  # the protocol's version from which a walk goes on to the next result


class Rules(NamedTuple):
    """What the study file says of a drill.

    version: of the protocol. tiers: the tier of each depth, from depth 1 on. sources: by tier, in
    the order they are tried. recent: the dates between which the newest tier searches.
    """

    version: int
    seed: int
    extractor: str
    evaluator: str
    questions: int
    theta: float
    tiers: Sequence[str]
    sources: Mapping[str, Sequence[str]]
    recent: Window
    redeals: int
    history: str
    params: Mapping[str, Mapping[str, Any]]


class People(NamedTuple):
    """Whom a drill asks, who hears of each reply in a form, and how questions run at once."""

    models: Mapping[str, Model]
    sources: Mapping[str, Source]
    each: Each
    heard: Heard = ignored
