"""What a study would have found with fewer questions, or with another theta, by its own recording.

A larger Q or more questions need a recording of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.protocols.depthcharge.analysis.grid import Grid, Run, mean_of_all, rank
from harness.protocols.depthcharge.analysis.schema import (
    OtherTheta,
    RankedTarget,
    SmallerN,
    SmallerQ,
    Subsampled,
)
from harness.protocols.depthcharge.metrics import formulas as metrics
from harness.protocols.depthcharge.metrics.scoring import BY_THETA, DrillMetricRules
from harness.protocols.depthcharge.metrics.uncertainty import spread
from harness.results import RunMetrics, Value
from harness.results.depthcharge import ASKED, DEFAULT_PASSES
from harness.stats import survival
from harness.stats.columns import FloatArray
from harness.stats.seeds import seeded

SIZES = (5, 10, 15, 20)
THETAS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
DRAWS = 1_000


def smaller_n(grid: Grid, rules: DrillMetricRules) -> list[SmallerN]:
    """Return each cell's EVD over seeded subsamples of its questions, for every smaller N.

    A depth with fewer answers than that keeps them all. The paths stay those of the whole run: what
    a smaller run would have asked deeper down cannot be known.
    """
    sizes = [size for size in SIZES if size < rules.questions]
    drawn = {
        names: [_subsamples(run, sizes, rules) for run in runs] for names, runs in grid.items()
    }
    return [
        SmallerN(
            size,
            DRAWS,
            [
                _subsampled(
                    names,
                    [of_run[place] for of_run in runs if of_run],
                    grid[names][0].found.evd.value.reason,
                )
                for names, runs in drawn.items()
            ],
        )
        for place, size in enumerate(sizes)
    ]


class _Draws(NamedTuple):
    """The EVD of each subsample of a run, and the share that the run's end cuts off."""

    evds: FloatArray
    unfinished: float


def _subsamples(run: Run, sizes: Sequence[int], rules: DrillMetricRules) -> list[_Draws]:
    """Return a run's subsamples by size; they are nested, the first 5 are among the first 10."""
    generator = seeded(rules.seed, f"subsamples|{run.found.cell.name}")
    running = [_running(flags, generator) for flags in _answers(run)]
    found = []
    for size in sizes if running else ():
        columns = [_share(right, size) for right in running]
        found.append(_draws(np.column_stack(columns), run.found.stop, rules.theta))
    return found


def _answers(run: Run) -> list[list[bool]]:
    """Return the answers of each depth where something was asked, in the order of the questions."""
    probes = sorted(run.result.probes, key=lambda probe: (probe.depth, probe.question, probe.deal))
    asked = [probe for probe in probes if probe.state == ASKED]
    last = len(metrics.known(run.found.depths))
    return [
        [probe.correct is True for probe in asked if probe.depth == depth]
        for depth in range(1, last + 1)
    ]


def _running(flags: Sequence[bool], generator: np.random.Generator) -> FloatArray:
    """Put the answers into DRAWS random orders, and count the right ones along each."""
    orders = np.argsort(generator.random((DRAWS, len(flags))), axis=1, kind="stable")
    return np.asarray(np.cumsum(np.asarray(flags, dtype=np.float64)[orders], axis=1))


def _share(right: FloatArray, size: int) -> FloatArray:
    taken = min(size, right.shape[1])
    return np.asarray(right[:, taken - 1] / taken)


def _draws(shares: FloatArray, stop: str, theta: float) -> _Draws:
    final = np.round(shares.prod(axis=1), survival.PLACES)
    cut = final >= round(theta, survival.PLACES) if stop == BY_THETA else np.zeros(len(final))
    return _Draws(survival.sums(shares, theta), float(np.mean(cut)))


def _subsampled(names: tuple[str, str], runs: Sequence[_Draws], lacking: str | None) -> Subsampled:
    if not runs:
        nothing = Value(None, 0, lacking)
        return Subsampled(*names, nothing, nothing, nothing)
    n = DRAWS * len(runs)
    sds = [spread(run.evds, DRAWS).se.value or 0.0 for run in runs]
    return Subsampled(
        *names,
        Value(math.fsum(math.fsum(run.evds) for run in runs) / n, n),
        Value(math.sqrt(math.fsum(sd**2 for sd in sds) / len(sds)), n),
        Value(math.fsum(run.unfinished for run in runs) / len(runs), n),
    )


def other_thetas(grid: Grid, rules: DrillMetricRules) -> list[OtherTheta]:
    """Return each cell's EVD and rank under other thetas; null where a run would have gone on."""
    found = []
    for theta in (theta for theta in THETAS if theta != rules.theta):
        cells = []
        for names, runs in grid.items():
            evds = [evd_at(run.found, theta, rules.theta) for run in runs]
            short = sum(bool(run.found.short) for run in runs)
            cells.append(RankedTarget(*names, mean_of_all(evds), None, short))
        for domain in {cell.domain for cell in cells}:
            rank([cell for cell in cells if cell.domain == domain])
        found.append(OtherTheta(theta, cells))
    return found


def smaller_q(grid: Grid, rules: DrillMetricRules) -> list[SmallerQ]:
    """Return each cell's EVD and rank with fewer depths a tier, from its recorded answers.

    Kept are the first q depths of each tier, as they were answered; the run stops by the study's
    theta. Null where a run ended by theta and would then have gone on. What was asked deeper hangs
    on paths that a smaller Q would not have had, so this is an approximation.
    """
    sizes = rules.passes.values() if isinstance(rules.passes, Mapping) else [rules.passes]
    ablations = []
    for passes in range(1, max(sizes, default=DEFAULT_PASSES)):
        cells = []
        for names, runs in grid.items():
            evds = [evd_with_passes(run.found, passes, rules) for run in runs]
            short = sum(bool(run.found.short) for run in runs)
            cells.append(RankedTarget(*names, mean_of_all(evds), None, short))
        for domain in {cell.domain for cell in cells}:
            rank([cell for cell in cells if cell.domain == domain])
        ablations.append(SmallerQ(passes, cells))
    return ablations


def evd_with_passes(run: RunMetrics, passes: int, rules: DrillMetricRules) -> Value:
    """Return a run's EVD over the first depths of each tier only."""
    depths = [d for d in run.depths if d.tier_pass <= passes and d.accuracy.value is not None]
    if not depths:
        return run.evd.value
    curve = survival.products([depth.accuracy.value for depth in depths])
    values = [value for value in curve if value is not None]
    stop = metrics.administered(values, rules.theta)
    if stop is None and run.stop == BY_THETA:
        reason = f"with {passes} a tier S is {values[-1]:.3f} at the last depth; would have gone on"
        return Value(None, 0, reason)
    return Value(math.fsum(values[:stop]), sum(depth.asked for depth in depths[:stop]))


def evd_at(run: RunMetrics, theta: float, recorded: float) -> Value:
    """Return a run's EVD under another theta.

    A higher one stops it earlier. A lower one is answered where the run ended for another reason,
    or where its last S(d) is below that one too; else the run would have gone on.
    """
    values = metrics.known(run.depths)
    stop = metrics.administered(values, theta)
    if stop is None and run.stop == BY_THETA:
        reason = f"stopped at depth {len(values)} by theta {recorded:g}; would have gone on"
        return Value(None, 0, reason)
    return metrics.evd(run.depths[:stop])
