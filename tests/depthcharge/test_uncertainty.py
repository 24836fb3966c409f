"""How sure EVD is: against scipy, and where there is nothing to say."""

from random import Random

import numpy as np
import pytest
import scipy.stats
from depthcharge.finished_runs import counted, probes_of
from depthcharge.simulated_runs import TIERS, drill, uneven

from harness.protocols.depthcharge.metrics import uncertainty
from harness.protocols.depthcharge.metrics.scoring import by_branch
from harness.protocols.depthcharge.metrics.uncertainty import (
    Counts,
    ErrorAndInterval,
    Estimate,
    Stop,
)

STOP = Stop(0.2, 15)


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def counts(seed: int) -> Counts:
    probes = probes_of(drill(uneven(TIERS, 1.0), Random(seed)))
    return by_branch(probes, probes[-1].depth)


def evd_of(table: Counts, rows: list[int], stop: Stop) -> float:
    """Compute one resample's EVD depth by depth, in plain words."""
    total, survival, depth, share = 0.0, 1.0, 0, 0.0
    while depth < stop.max_depth and round(survival, 9) >= stop.theta:
        if depth < table.asked.shape[1]:
            asked = sum(int(table.asked[row, depth]) for row in rows)
            right = sum(int(table.correct[row, depth]) for row in rows)
            share = right / asked if asked else 0.0
        survival *= share
        total += survival
        depth += 1
    return total


@pytest.mark.parametrize("seed", range(3))
def test_branches_are_resampled_as_scipy_does(seed: int) -> None:
    """The error and the widened percentiles are scipy's bootstrap of whole branches."""
    table = counts(seed)
    n = len(table.asked)
    known = scipy.stats.bootstrap(
        (np.arange(n),),
        lambda rows: evd_of(table, [int(row) for row in rows], STOP),
        n_resamples=uncertainty.RESAMPLES,
        vectorized=False,
        method="percentile",
        confidence_level=uncertainty.widened(n),
        rng=generator(seed),
    )
    found = uncertainty.clustered(table, STOP, generator(seed))
    assert found.se.value == pytest.approx(known.standard_error)
    assert found.interval.low == pytest.approx(known.confidence_interval.low)
    assert found.interval.high == pytest.approx(known.confidence_interval.high)
    assert (found.se.n, found.interval.level) == (n, 0.95)


def test_percentiles_are_widened_as_t_intervals_are() -> None:
    """Hesterberg's level for 30 rows is 0.9624; for many rows it is 0.95."""
    reach = (30 / 29) ** 0.5 * scipy.stats.t.ppf(0.975, 29)
    assert uncertainty.widened(30) == pytest.approx(1 - 2 * scipy.stats.norm.cdf(-reach))
    assert uncertainty.widened(30) == pytest.approx(0.9624, abs=1e-4)
    assert uncertainty.widened(100_000) == pytest.approx(0.95, abs=1e-5)


def test_a_resample_stops_by_the_rule_or_goes_on() -> None:
    """After the first S below theta it counts nothing more; above theta it keeps its last A(d)."""
    shares = np.asarray([[0.9, 0.2, 0.9], [0.9, 0.5, 0.5], [1.0, 1.0, 1.0]])
    found = uncertainty.of_run(shares, Stop(0.2, 5))
    assert found == pytest.approx([0.9 + 0.18, 0.9 + 0.45 + 0.225 + 0.1125, 5.0])
    within = uncertainty.of_run(shares, Stop(0.2, 3))
    assert within == pytest.approx([0.9 + 0.18, 0.9 + 0.45 + 0.225, 3.0])


def test_where_no_branch_differs_no_error_is_shown() -> None:
    """All right or all wrong: null with the reason; the binomial gives 0, Jeffreys more."""
    for correct in ([30] * 15, [0]):
        n = [30] * len(correct)
        table = by_branch(counted(correct), len(correct))
        found = uncertainty.clustered(table, Stop(0.2, len(correct)), generator())
        assert found == uncertainty.undefined(30, uncertainty.NO_SPREAD)
        plain = uncertainty.binomial(correct, n, 42)
        assert (plain.se.value, plain.interval.half_width) == (0, 0)
        jeffreys = uncertainty.jeffreys(correct, n, generator())
        assert (jeffreys.se.value or 0) > 0


def test_few_branches_have_no_interval() -> None:
    """Three branches are too few to be resampled."""
    found = uncertainty.clustered(by_branch(counted([2, 1], 3), 2), STOP, generator())
    assert found.se.reason == found.interval.reason == "fewer than 4 branches"


def test_branches_that_hang_together_widen_the_error() -> None:
    """Branches that are right or wrong as a whole have a larger error than mixed ones."""
    asked = np.full((10, 3), 3)
    whole = np.repeat([[3], [2]], 5, axis=0) * np.ones((1, 3), dtype=int)
    mixed = np.asarray([[3, 2, 3], [2, 3, 2]] * 5)
    wide, narrow = (
        uncertainty.clustered(Counts(asked, correct), Stop(0.2, 3), generator()).se.value
        for correct in (whole, mixed)
    )
    assert wide is not None
    assert narrow is not None
    assert wide > 2 * narrow


def test_the_seed_decides() -> None:
    """The same seed gives the same bounds, another one others."""
    table = counts(1)
    first: list[ErrorAndInterval] = [
        uncertainty.clustered(table, STOP, generator(s)) for s in (1, 1, 2)
    ]
    assert first[0] == first[1] != first[2]


def test_jeffreys_draws_hold_the_posterior_mean() -> None:
    """Over one depth the error is that of Beta(k + 1/2, n - k + 1/2)."""
    found = uncertainty.jeffreys([27], [30], generator())
    known = scipy.stats.beta(27.5, 3.5)
    assert found.se.value == pytest.approx(known.std(), rel=0.1)
    assert found.interval.low == pytest.approx(known.ppf(0.025), abs=0.02)
    assert found.interval.high == pytest.approx(known.ppf(0.975), abs=0.02)


def test_a_difference_is_welchs() -> None:
    """Value, degrees of freedom and interval are scipy's for two unequal samples."""
    draws = generator(3)
    x, y = draws.normal(4, 1, size=12), draws.normal(3, 2, size=30)
    parts = [Estimate(float(s.mean()), float(s.var(ddof=1) / len(s)), len(s) - 1) for s in (x, y)]
    found = uncertainty.difference(*parts)
    known = scipy.stats.ttest_ind(x, y, equal_var=False)
    interval = uncertainty.t_interval(found)
    assert found.value == pytest.approx(x.mean() - y.mean())
    assert found.df == pytest.approx(known.df)
    assert (interval.low, interval.high) == pytest.approx(tuple(known.confidence_interval()))


def test_a_mean_of_runs_is_surer_than_one() -> None:
    """Four alike runs halve the error, with four times the degrees of freedom."""
    whole = uncertainty.mean_of([Estimate(3.0, 0.16, 29)] * 4)
    assert (whole.value, whole.se, whole.df) == pytest.approx((3.0, 0.2, 116))
