"""A metric of a model, in the same words for every protocol: what `diff` and `export` show."""

from __future__ import annotations

from typing import NamedTuple

from harness.results.shared import Interval, Value


class Metric(NamedTuple):
    """What a number means: unit, which way is better, and its range (high None: unbounded)."""

    id: str
    name: str
    description: str
    unit: str
    lower_is_better: bool = False
    low: float = 0.0
    high: float | None = 1.0


class Spread(NamedTuple):
    """How sure a number is: interval, standard error, how they came about; draws: resamples."""

    interval: Interval
    se: Value
    method: str
    draws: int | None = None


class Scored(NamedTuple):
    """One metric of one model (the study's name of it) at one place: an arm, a domain's run."""

    model: str
    place: str
    metric: Metric
    value: Value
    spread: Spread | None = None
