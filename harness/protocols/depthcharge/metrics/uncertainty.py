"""How sure EVD is: branches resampled, questions resampled, posterior draws, differences.

Several questions hang on one path and the next ones on their answers, so what is independent is the
branch a path began as. The primary interval resamples whole branches and computes every A(d) anew
(the cluster bootstrap: Davison and Hinkley, Bootstrap Methods and their Application, 1997, section
3.8). Two things make it cover the truth:

- A resample ends where the run would have: after the first S(d) below theta. Where the run stopped
  for theta and the resample would not, it goes on, with the accuracy of its last depth, to the
  greatest depth at most. Where a run stops is half of its error: with A(d) = 0.8 everywhere, an
  interval over the administered depths alone covers the truth in 83 of 100 runs.
- The percentiles are widened for a small number of branches (Hesterberg 2015, The American
  Statistician 69, "expanded percentile").

tests/depthcharge/test_coverage.py measures this at N = 30: 91 to 97 of 100 runs, in every world
tried but one where nearly everything is right (A(d) = 0.99 to depth 15), where it is 90, for there
are few errors to resample; with fewer branches it is less. Resampling questions within each depth,
as if nothing hung together, is there to compare with, and so are draws from the Jeffreys posterior,
for depths whose answers are all right or all wrong, where a resample shows no error. They add half
a right and half a wrong answer to each depth, so over many depths near 1 they lie too low: in that
same world they cover the truth in 22 of 100 runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.results import Interval, Value
from harness.stats import proportions, resampling, survival
from harness.stats.columns import FloatArray, IntArray, squares
from harness.stats.distributions import normal_share, t_quantile

LEVEL = 0.95
FEWEST = 4  # branches
RESAMPLES, DRAWS = 2_000, 1_000
NO_SPREAD = "no two branches differ: resampling them shows no error; see jeffreys"


class Spread(NamedTuple):
    """A standard error and an interval."""

    se: Value
    interval: Interval


class Counts(NamedTuple):
    """Questions asked and answered correctly: a row a branch, a column a depth."""

    asked: IntArray
    correct: IntArray


class Stop(NamedTuple):
    """The rule that a resample stops by: its theta, and to which depth it may go on."""

    theta: float
    max_depth: int


class Estimate(NamedTuple):
    """A number, the variance of its error, and that variance's degrees of freedom."""

    value: float
    variance: float
    df: float

    @property
    def se(self) -> float:
        """Give the standard error."""
        return math.sqrt(self.variance)


def clustered(counts: Counts, stop: Stop, generator: np.random.Generator) -> Spread:
    """Resample whole branches; undefined below four, and where no two of them differ."""
    n = len(counts.asked)
    if n < FEWEST:
        return undefined(n, f"fewer than {FEWEST} branches")
    drawn = resampling.draw(n, generator, RESAMPLES)
    times = np.stack([np.bincount(row, minlength=n) for row in drawn])
    asked, correct = times @ counts.asked, times @ counts.correct
    evds = of_run(correct / np.maximum(asked, 1), stop)  # one that asks nothing ends there
    if evds.min() == evds.max():
        return undefined(n, NO_SPREAD)
    return spread(evds, n, widened(n))


def of_run(shares: FloatArray, stop: Stop) -> FloatArray:
    """Give the EVD of runs with these A(d), shape (runs, depths): each stops by the rule."""
    more = stop.max_depth - shares.shape[1]
    return survival.sums(np.hstack([shares, np.repeat(shares[:, -1:], more, axis=1)]), stop.theta)


def binomial_shares(
    correct: Sequence[int], asked: Sequence[int], seed: int, draws: int = DRAWS
) -> FloatArray:
    """Draw each depth's A(d) as binomial with its own n and accuracy, shape (draws, depths).

    Generator(PCG64(seed)).binomial(n, k / n), all in one call.
    """
    n, k = np.asarray(asked), np.asarray(correct)
    generator = np.random.Generator(np.random.PCG64(seed))
    return np.asarray(generator.binomial(n, k / n, size=(draws, len(n))) / n)


def binomial(
    correct: Sequence[int], asked: Sequence[int], seed: int, stop: Stop | None = None
) -> Spread:
    """Resample questions within each depth, as if they were independent.

    Without a stop over the administered depths; with one to its greatest depth, which may be the
    run's own last. 0 wide where every depth is all right or all wrong.
    """
    shares = binomial_shares(correct, asked, seed)
    return spread(survival.sums(shares) if stop is None else of_run(shares, stop), sum(asked))


def jeffreys(
    correct: Sequence[int], asked: Sequence[int], generator: np.random.Generator
) -> Spread:
    """Draw A(d) from the Jeffreys posterior of each administered depth."""
    shares = proportions.jeffreys_draws(correct, asked, generator, DRAWS)
    return spread(survival.sums(shares), sum(asked))


def spread(values: FloatArray, n: int, level: float = LEVEL) -> Spread:
    """Give the standard deviation (ddof 1) and the percentile interval of draws.

    level: what the percentiles are taken at; what they stand for is LEVEL.
    """
    low, high = np.percentile(values, [50 - 50 * level, 50 + 50 * level])
    se = math.sqrt(squares(values.tolist()) / (len(values) - 1))
    return Spread(Value(se, n), Interval(float(low), float(high), LEVEL))


def widened(n: int) -> float:
    """Give the level at which percentiles of n resampled rows cover LEVEL (Hesterberg 2015).

    1 - 2 Phi(-sqrt(n / (n - 1)) t), with t the quantile at n - 1 degrees of freedom: as a t
    interval is wider than a normal one, and as a resample's variance is (n - 1) / n too small.
    """
    reach = math.sqrt(n / (n - 1)) * t_quantile(0.5 + LEVEL / 2, n - 1)
    return 1 - 2 * normal_share(-reach)


def undefined(n: int, reason: str) -> Spread:
    """Give a spread that there is not, with the reason."""
    return Spread(Value(None, n, reason), Interval(None, None, LEVEL, reason))


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """Average independent estimates, each with the same weight."""
    return _weighted(estimates, [1 / len(estimates)] * len(estimates))


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Subtract an independent estimate: nothing pairs the questions of two targets."""
    return _weighted([first, second], [1.0, -1.0])


def _weighted(estimates: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """Sum with weights; degrees of freedom by Welch and Satterthwaite (Satterthwaite 1946)."""
    both = list(zip(weights, estimates, strict=True))
    value = math.fsum(weight * one.value for weight, one in both)
    parts = [weight**2 * one.variance for weight, one in both]
    variance = math.fsum(parts)
    slack = math.fsum(part**2 / one.df for part, one in zip(parts, estimates, strict=True))
    return Estimate(value, variance, variance**2 / slack)


def t_interval(estimate: Estimate) -> Interval:
    """Give the interval of an estimate by Student's t."""
    reach = t_quantile(0.5 + LEVEL / 2, estimate.df) * estimate.se
    return Interval(estimate.value - reach, estimate.value + reach, LEVEL)
