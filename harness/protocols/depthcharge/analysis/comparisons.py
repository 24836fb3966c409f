"""How sure a cell's mean EVD is, and how much two targets differ, from their runs' own errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from msgspec import UNSET, UnsetType

from harness.protocols.depthcharge.analysis.grid import Grid, Run, mean
from harness.protocols.depthcharge.analysis.schema import Difference
from harness.protocols.depthcharge.metrics import uncertainty
from harness.protocols.depthcharge.metrics.uncertainty import ErrorAndInterval, Estimate, undefined
from harness.results import EVD, Value

Errors = Callable[[EVD], ErrorAndInterval]


def two_way(evd: EVD) -> ErrorAndInterval:
    """Return the error of a run's EVD by branch and fact."""
    return ErrorAndInterval(evd.two_way_se, evd.two_way)


def by_branch(evd: EVD) -> ErrorAndInterval:
    """Return the error by branch alone, which results of version 1 recorded."""
    if isinstance(evd.clustered, UnsetType) or isinstance(evd.clustered_se, UnsetType):
        return two_way(evd)
    return ErrorAndInterval(evd.clustered_se, evd.clustered)


def cell_spread(runs: Sequence[Run], errors: Errors = two_way) -> ErrorAndInterval:
    """Return the error and interval of the mean EVD of a cell's runs; those of one run are its own.

    Runs are independent, each by its own clustered error; null where one of them has none.
    """
    evds = [run.found.evd for run in runs if run.found.evd.value.value is not None]
    if len(evds) == 1:
        return errors(evds[0])
    average = estimate(runs, errors)
    if isinstance(average, str):
        return undefined(len(evds), average)
    return ErrorAndInterval(Value(average.se, len(evds)), uncertainty.t_interval(average))


def estimate(runs: Sequence[Run], errors: Errors = two_way) -> Estimate | str:
    """Return the mean EVD of runs with the variance of its error, or why there is none."""
    estimates = []
    for evd in (run.found.evd for run in runs):
        value, se = evd.value.value, errors(evd).se
        if value is not None and se.value is None:
            return str(se.reason)
        if value is not None and se.value is not None:
            estimates.append(Estimate(value, se.value**2, se.n - 1))
    return uncertainty.mean_of(estimates) if estimates else str(runs[0].found.evd.value.reason)


def differences(grid: Grid, version: int) -> list[Difference]:
    """Compare every two targets of a domain; they share no question, so nothing is paired.

    version: of the protocol; results of version 1 recorded the error by branch alone too.
    """
    compared = []
    for domain in sorted({domain for _, domain in grid}):
        targets = sorted(target for target, at in grid if at == domain)
        for first, second in itertools.combinations(targets, 2):
            both = grid[first, domain], grid[second, domain]
            error, recorded = _spread(*both, two_way), _spread(*both, by_branch)
            compared.append(
                Difference(
                    domain=domain,
                    first=first,
                    second=second,
                    difference=_less(*both),
                    two_way_se=error.se,
                    two_way=error.interval,
                    se=recorded.se if version == 1 else UNSET,
                    interval=recorded.interval if version == 1 else UNSET,
                )
            )
    return compared


def _less(first: Sequence[Run], second: Sequence[Run]) -> Value:
    means = [mean([run.found.evd.value for run in runs]) for runs in (first, second)]
    n = sum(average.n for average in means)
    if means[0].value is None or means[1].value is None:
        return Value(None, n, means[0].reason or means[1].reason)
    return Value(means[0].value - means[1].value, n)


def _spread(first: Sequence[Run], second: Sequence[Run], errors: Errors) -> ErrorAndInterval:
    n, estimates = len(first) + len(second), (estimate(first, errors), estimate(second, errors))
    if isinstance(estimates[0], str) or isinstance(estimates[1], str):
        return undefined(n, next(one for one in estimates if isinstance(one, str)))
    difference = uncertainty.difference(estimates[0], estimates[1])
    return ErrorAndInterval(Value(difference.se, n), uncertainty.t_interval(difference))
