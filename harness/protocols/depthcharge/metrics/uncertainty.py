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
BATCHES = 10  # of RESAMPLES, for the interval by branch and fact
NO_SPREAD = "no two branches differ: resampling them shows no error; see jeffreys"


class ErrorAndInterval(NamedTuple):
    """A standard error and an interval."""

    se: Value
    interval: Interval


class Counts(NamedTuple):
    """Questions asked and answered correctly: a row a branch, a column a depth."""

    asked: IntArray
    correct: IntArray


class Questions(NamedTuple):
    """The questions with a verdict: depth, branch and fact of each, from 0; 1 where it is right."""

    depth: IntArray
    branch: IntArray
    fact: IntArray
    correct: IntArray


class TwoWaySpread(NamedTuple):
    """A standard error, an interval, and how far another seed would move a bound (one SD)."""

    se: Value
    interval: Interval
    seed_spread: Value


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
        """Return the standard error."""
        return math.sqrt(self.variance)


def clustered(counts: Counts, stop: Stop, generator: np.random.Generator) -> ErrorAndInterval:
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


def clustered_by_branch_and_fact(
    questions: Questions, stop: Stop, generator: np.random.Generator
) -> TwoWaySpread:
    """Resample whole branches, and widen by what facts that several questions share add.

    The bootstrap is that of `clustered`, with BATCHES times as many resamples. Its distances from
    the estimate are stretched by the root of the variance clustered both ways over that clustered
    by branch, both from the influence of each question on EVD: by branch plus by fact less by
    question, and no less than either alone (stats.means.crossed_mean has the sources). Where each
    question has a fact of its own nothing is stretched. The percentiles are widened for the number
    of branches, or of the most facts of a depth where they are fewer. Undefined where `clustered`
    is.
    """
    counts = counts_by_branch(questions)
    n = len(counts.asked)
    if n < FEWEST:
        return _two_way_undefined(n, f"fewer than {FEWEST} branches")
    batches = [_resampled(counts, stop, generator) for _ in range(BATCHES)]
    evds = np.concatenate(batches)
    if evds.min() == evds.max():
        return _two_way_undefined(n, NO_SPREAD)
    shares = counts.correct.sum(axis=0) / counts.asked.sum(axis=0)
    evd, stretch = float(survival.sums(shares[None, :])[0]), _stretch(questions, shares)
    level = widened(max(FEWEST, min(n, _most_facts(questions))))
    once = spread(evds, n, level)
    tails = [50 - 50 * level, 50 + 50 * level]
    bounds = np.asarray([np.percentile(batch, tails) for batch in batches])
    moved = stretch * float(bounds.std(axis=0, ddof=1).max()) / math.sqrt(BATCHES)
    low, high = (
        evd + stretch * ((bound or 0.0) - evd) for bound in (once.interval.low, once.interval.high)
    )
    return TwoWaySpread(
        se=Value((once.se.value or 0.0) * stretch, n),
        interval=Interval(max(0.0, low), min(float(stop.max_depth), high), LEVEL),
        seed_spread=Value(moved, BATCHES * RESAMPLES),
    )


def _most_facts(questions: Questions) -> int:
    """Return the largest number of different facts at one depth."""
    pairs = np.unique(np.stack([questions.depth, questions.fact]), axis=1)
    return int(np.bincount(pairs[0]).max())


def counts_by_branch(questions: Questions) -> Counts:
    """Return the questions asked and answered correctly by branch and depth."""
    shape = int(questions.branch.max(initial=-1)) + 1, int(questions.depth.max(initial=-1)) + 1
    asked, correct = (np.zeros(shape, dtype=np.int64) for _ in range(2))
    np.add.at(asked, (questions.branch, questions.depth), 1)
    np.add.at(correct, (questions.branch, questions.depth), questions.correct)
    return Counts(asked, correct)


def _resampled(counts: Counts, stop: Stop, generator: np.random.Generator) -> FloatArray:
    """Return the EVD of RESAMPLES resamples of whole branches."""
    n = len(counts.asked)
    times = generator.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    return of_run((times @ counts.correct) / np.maximum(times @ counts.asked, 1), stop)


def _stretch(questions: Questions, shares: FloatArray) -> float:
    """Return the root of the two-way clustered variance of EVD over that by branch alone."""
    curve = np.cumprod(shares)
    after = np.cumsum(curve[::-1])[::-1]
    slopes = np.divide(after, shares, out=np.zeros_like(after), where=shares > 0)
    asked = np.bincount(questions.depth, minlength=len(shares))
    depth = questions.depth
    influence = slopes[depth] * (questions.correct - shares[depth]) / asked[depth]
    by_branch, by_fact = (_squared(labels, influence) for labels in questions[1:3])
    by_question = _squared(np.arange(len(influence)), influence)
    both = max(by_branch, by_fact, by_branch + by_fact - by_question)
    return math.sqrt(both / by_branch) if by_branch > 0 else 1.0


def _squared(labels: IntArray, influence: FloatArray) -> float:
    """Return G / (G - 1) times the sum of the squared influence of each of G clusters."""
    clusters = np.bincount(labels, weights=influence)
    present = len(np.unique(labels))
    return float(present / max(1, present - 1) * (clusters**2).sum())


def _two_way_undefined(n: int, reason: str) -> TwoWaySpread:
    return TwoWaySpread(*undefined(n, reason), Value(None, n, reason))


def of_run(shares: FloatArray, stop: Stop) -> FloatArray:
    """Return the EVD of runs with these A(d), shape (runs, depths): each stops by the rule."""
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
) -> ErrorAndInterval:
    """Resample questions within each depth, as if they were independent.

    Without a stop over the administered depths; with one to its greatest depth, which may be the
    run's own last. 0 wide where every depth is all right or all wrong.
    """
    shares = binomial_shares(correct, asked, seed)
    return spread(survival.sums(shares) if stop is None else of_run(shares, stop), sum(asked))


def jeffreys(
    correct: Sequence[int], asked: Sequence[int], generator: np.random.Generator
) -> ErrorAndInterval:
    """Draw A(d) from the Jeffreys posterior of each administered depth."""
    shares = proportions.jeffreys_draws(correct, asked, generator, DRAWS)
    return spread(survival.sums(shares), sum(asked))


def spread(values: FloatArray, n: int, level: float = LEVEL) -> ErrorAndInterval:
    """Return the standard deviation (ddof 1) and the percentile interval of draws.

    level: what the percentiles are taken at; what they stand for is LEVEL.
    """
    low, high = np.percentile(values, [50 - 50 * level, 50 + 50 * level])
    se = math.sqrt(squares(values.tolist()) / (len(values) - 1))
    return ErrorAndInterval(Value(se, n), Interval(float(low), float(high), LEVEL))


def widened(n: int) -> float:
    """Return the level at which percentiles of n resampled rows cover LEVEL (Hesterberg 2015).

    1 - 2 Phi(-sqrt(n / (n - 1)) t), with t the quantile at n - 1 degrees of freedom: as a t
    interval is wider than a normal one, and as a resample's variance is (n - 1) / n too small.
    """
    reach = math.sqrt(n / (n - 1)) * t_quantile(0.5 + LEVEL / 2, n - 1)
    return 1 - 2 * normal_share(-reach)


def undefined(n: int, reason: str) -> ErrorAndInterval:
    """Return a spread that there is not, with the reason."""
    return ErrorAndInterval(Value(None, n, reason), Interval(None, None, LEVEL, reason))


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
    """Return the interval of an estimate by Student's t."""
    reach = t_quantile(0.5 + LEVEL / 2, estimate.df) * estimate.se
    return Interval(estimate.value - reach, estimate.value + reach, LEVEL)
