"""A study's runs by target and domain; means over them, and ranks among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

from harness.protocols.depthcharge.metrics.formulas import rounded
from harness.results import Depth, DrillResults, RunMetrics, RunResult, Value


class Run(NamedTuple):
    """A run, and what was found of it."""

    found: RunMetrics
    result: RunResult


Grid = dict[tuple[str, str], list[Run]]


def grid(results: DrillResults) -> Grid:
    """Return the runs of each target in each domain, everything sorted."""
    pairs = (Run(*both) for both in zip(results.runs, results.cells, strict=True))
    places: Grid = {}
    for run in sorted(pairs, key=lambda run: run.found.cell):
        places.setdefault((run.found.cell.target, run.found.cell.domain), []).append(run)
    return places


def depths_of(runs: Sequence[Run]) -> list[Depth]:
    """Return all depths of some runs, to be pooled."""
    return [depth for run in runs for depth in run.found.depths]


def mean(values: Sequence[Value]) -> Value:
    """Average the values that are there; without one, the reason is the first one's."""
    defined = [value.value for value in values if value.value is not None]
    if not defined:
        return Value(None, 0, values[0].reason if values else "no run")
    return Value(math.fsum(defined) / len(defined), len(defined))


def mean_of_all(values: Sequence[Value]) -> Value:
    """Average values of which none may be missing; else the reason is the first missing one's."""
    missing = [value for value in values if value.value is None]
    return Value(None, 0, missing[0].reason) if missing else mean(values)


AnyRanked = TypeVar("AnyRanked", bound="Rankable")


class Rankable(Protocol):
    """Whatever has an EVD and gets a rank by it; short: how many of its runs lacked facts."""

    evd: Value
    rank: int | None
    short: int


def to_rank(group: Sequence[AnyRanked]) -> list[AnyRanked]:
    """Return those that may be ranked: EVD is defined, and no run is short of facts."""
    return [entry for entry in group if entry.evd.value is not None and not entry.short]


def rank(group: Sequence[Rankable]) -> None:
    """Rank from 1, the largest EVD first; equal ones share the better rank.

    Neither null nor what rests on a run that is short of facts has a rank, or counts in another's.
    """
    ranked = to_rank(group)
    values = [rounded(entry.evd.value or 0.0) for entry in ranked]
    for entry, value in zip(ranked, values, strict=True):
        entry.rank = 1 + sum(higher > value for higher in values)
