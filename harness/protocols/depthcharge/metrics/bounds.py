"""What missing verdicts could change: every one of them a wrong answer, or a right one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from harness.protocols.depthcharge.metrics import formulas as metrics
from harness.results import Depth, RunKey, RunMetrics, Value
from harness.stats import survival


class BoundedRun(NamedTuple):
    """A run's number as found, with all missing verdicts wrong, and with all of them right."""

    cell: RunKey
    measure: str
    found: Value
    low: Value
    high: Value


def bounds(runs: Sequence[RunMetrics], theta: float) -> list[BoundedRun]:
    """Bound EVD and accuracy of every run that has missing verdicts.

    Over the depths that were administered: with wrong answers a run may have stopped earlier, and
    is cut there; with right ones it might have gone on, which no recording can tell.
    """
    lacking = [run for run in runs if any(depth.missing for depth in run.depths)]
    return [bounded for run in lacking for bounded in _of_run(run, theta)]


def _of_run(run: RunMetrics, theta: float) -> list[BoundedRun]:
    wrong, right = (filled(run.depths, each) for each in (False, True))
    stop = metrics.administered(metrics.known(wrong), theta)
    evds = (metrics.evd(wrong[:stop]), metrics.evd(right))
    shares = (metrics.accuracy(wrong), metrics.accuracy(right))
    return [
        BoundedRun(run.cell, "EVD", run.evd.value, *evds),
        BoundedRun(run.cell, "accuracy", run.accuracy, *shares),
    ]


def filled(depths: Sequence[Depth], right: bool) -> list[Depth]:
    """Return the depths with every missing verdict in place, A(d) and S(d) computed anew."""
    counts = [(d.correct + right * d.missing, d.asked + d.missing) for d in depths]
    shares = [metrics.share("", k, n, "nothing was asked").share for k, n in counts]
    products = survival.products([share.value for share in shares])
    return [
        msgspec.structs.replace(
            depth,
            asked=n,
            correct=k,
            missing=0,
            accuracy=share,
            survival=Value(product, n, None if product is not None else "nothing was asked"),
        )
        for depth, (k, n), share, product in zip(depths, counts, shares, products, strict=True)
    ]
