"""How scores and metrics changed from one recording to another, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.diff.schema import MetricPair, Paired
from harness.protocols.registry import protocol_of
from harness.results import Interval, Value
from harness.results.scored import Scored
from harness.stats import resampling
from harness.stats.columns import mean
from harness.stats.seeds import seeded
from harness.study.folder import Study

FEWEST = 4
ALL = "all"
Scores = Mapping[str, Mapping[str, float | None]]


def paired_scores(before: Scores, after: Scores, study: Study) -> list[Paired]:
    """Return each score's change over the cells of all models, and of each.

    The interval of the mean change is a percentile bootstrap over cells, undefined below four.
    """
    models = {cell.name: cell.examined for cell in study.file.plan.cells()}
    groups = [ALL, *study.file.plan.examined]
    names = list(next(iter(before.values()), {}))
    changes = []
    for name in names:
        for group in groups:
            cells = [cell for cell in before if group in (ALL, models[cell])]
            pairs = [(before[cell][name], after[cell][name]) for cell in cells]
            scored = [(old, new) for old, new in pairs if old is not None and new is not None]
            if cells:
                changes.append(_paired(name, group, scored, study.file.seed))
    return changes


def _paired(name: str, model: str, pairs: Sequence[tuple[float, float]], seed: int) -> Paired:
    changes = [new - old for old, new in pairs]
    return Paired(
        name,
        model,
        _mean([old for old, _ in pairs]),
        _mean([new for _, new in pairs]),
        _mean(changes),
        _interval(changes, f"diff|{name}|{model}", seed),
        sum(change > 0 for change in changes),
        sum(change < 0 for change in changes),
    )


def _mean(numbers: Sequence[float]) -> Value:
    if not numbers:
        return Value(None, 0, "no cell is scored in both")
    return Value(mean(numbers), len(numbers))


def _interval(changes: Sequence[float], label: str, seed: int) -> Interval:
    n = len(changes)
    if n < FEWEST:
        return Interval(None, None, reason=f"{n} cells, at least {FEWEST} are needed")
    drawn = resampling.draw(n, seeded(seed, label))
    return resampling.bootstrap_mean(np.asarray(changes), drawn).interval


def metric_changes(before: Study, old: object, after: Study, new: object) -> list[MetricPair]:
    """Return the change of every metric that both recordings have, each by its study's rules."""
    intervals, otherwise = protocol_of(before).changes(before, old, after, new)
    nothing = Interval(None, None, reason=otherwise)
    new_values = {_key(scored): scored.value for scored in protocol_of(after).scoreboard(new)}
    return [
        _pair(scored, new_values[_key(scored)], intervals.get(_key(scored), nothing))
        for scored in protocol_of(before).scoreboard(old)
        if _key(scored) in new_values
    ]


def _key(scored: Scored) -> tuple[str, str, str]:
    return scored.model, scored.place, scored.metric.id


def _pair(scored: Scored, after: Value, interval: Interval) -> MetricPair:
    before, name = scored.value, scored.metric.name
    change = Value(None, 0, "undefined in one of the two")
    if before.value is None or after.value is None:
        interval = Interval(None, None, reason="undefined in one of the two")
    else:
        change = Value(after.value - before.value, min(before.n, after.n))
    return MetricPair(scored.model, scored.place, name, before, after, change, interval)
