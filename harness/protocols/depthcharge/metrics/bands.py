"""How sure a run's survival is at each depth: whole branches resampled, as its EVD's interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.protocols.depthcharge.metrics.scoring import by_branch
from harness.protocols.depthcharge.metrics.uncertainty import FEWEST, NO_SPREAD, RESAMPLES, widened
from harness.results import RunMetrics, RunResult
from harness.stats import resampling
from harness.stats.columns import FloatArray, IntArray
from harness.stats.seeds import seeded


class Band(NamedTuple):
    """A pointwise 95% band of S(1), S(2), ..., or the reason why there is none."""

    lows: Sequence[float]
    highs: Sequence[float]
    reason: str | None = None


def survival_band(result: RunResult, found: RunMetrics, seed: int) -> Band:
    """Resample whole branches and give the percentiles of S(d) at every administered depth.

    Widened for few branches as EVD's interval is (uncertainty.py); undefined below four, and where
    no two of them differ. Pointwise: it holds for one depth, not for the whole curve at once.
    """
    depths = sum(depth.survival.value is not None for depth in found.depths)
    counts = by_branch(result.probes, depths)
    n = len(counts.asked)
    if n < FEWEST:
        return Band((), (), f"fewer than {FEWEST} branches")
    drawn = resampling.draw(n, seeded(seed, f"band|{result.cell.name}"), RESAMPLES)
    curves = resampling.replicates(_curves, [*counts], drawn)
    if (curves.min(axis=0) == curves.max(axis=0)).all():
        return Band((), (), NO_SPREAD)
    level = widened(n)
    lows, highs = np.percentile(curves, [50 - 50 * level, 50 + 50 * level], axis=0)
    return Band(lows.tolist(), highs.tolist())


def _curves(asked: IntArray, correct: IntArray) -> FloatArray:
    """Return S(d) of resamples, shape (resamples, branches, depths) in; 0 of 0 ends like 0."""
    total, right = asked.sum(axis=1), correct.sum(axis=1)
    return np.asarray(np.cumprod(right / np.maximum(total, 1), axis=1))
