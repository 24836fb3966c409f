"""How sure a cell's mean EVD is, and how much two targets differ, from their runs' own errors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from harness.protocols.depthcharge.analysis.grid import Grid, Run, mean
from harness.protocols.depthcharge.analysis.schema import Difference
from harness.protocols.depthcharge.metrics import uncertainty
from harness.protocols.depthcharge.metrics.uncertainty import Estimate, Spread, undefined
from harness.results import Value


def cell_spread(runs: Sequence[Run]) -> Spread:
    """Give the error and interval of the mean EVD of a cell's runs; those of one run are its own.

    Runs are independent, each by its own clustered error; null where one of them has none.
    """
    evds = [run.found.evd for run in runs if run.found.evd.value.value is not None]
    if len(evds) == 1:
        return Spread(evds[0].clustered_se, evds[0].clustered)
    found = estimate(runs)
    if isinstance(found, str):
        return undefined(len(evds), found)
    return Spread(Value(found.se, len(evds)), uncertainty.t_interval(found))


def estimate(runs: Sequence[Run]) -> Estimate | str:
    """Give the mean EVD of runs with the variance of its error, or why there is none."""
    found = []
    for evd in (run.found.evd for run in runs):
        value, se = evd.value.value, evd.clustered_se
        if value is not None and se.value is None:
            return str(se.reason)
        if value is not None and se.value is not None:
            found.append(Estimate(value, se.value**2, se.n - 1))
    return uncertainty.mean_of(found) if found else str(runs[0].found.evd.value.reason)


def differences(grid: Grid) -> list[Difference]:
    """Compare every two targets of a domain; they share no question, so nothing is paired."""
    found = []
    for domain in sorted({domain for _, domain in grid}):
        targets = sorted(target for target, at in grid if at == domain)
        for first, second in itertools.combinations(targets, 2):
            parts = grid[first, domain], grid[second, domain]
            found.append(Difference(domain, first, second, _less(*parts), *_spread(*parts)))
    return found


def _less(first: Sequence[Run], second: Sequence[Run]) -> Value:
    means = [mean([run.found.evd.value for run in runs]) for runs in (first, second)]
    n = sum(part.n for part in means)
    if means[0].value is None or means[1].value is None:
        return Value(None, n, means[0].reason or means[1].reason)
    return Value(means[0].value - means[1].value, n)


def _spread(first: Sequence[Run], second: Sequence[Run]) -> Spread:
    n, parts = len(first) + len(second), (estimate(first), estimate(second))
    if isinstance(parts[0], str) or isinstance(parts[1], str):
        return undefined(n, next(part for part in parts if isinstance(part, str)))
    whole = uncertainty.difference(parts[0], parts[1])
    return Spread(Value(whole.se, n), uncertainty.t_interval(whole))
