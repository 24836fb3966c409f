"""The percentile bootstrap over paired rows (Efron and Tibshirani 1993, chapter 13).

The resamples are drawn first and handed on, so that several statistics can share them. They name
rows by position: the order of the rows is part of the seed, so sort them before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import UsageError
from harness.results import Interval, Value
from harness.stats import ranks
from harness.stats.columns import FloatArray, IntArray, Numbers, pair, squares

RESAMPLES = 10_000
CHUNK = 2**20
MOST_UNDEFINED = 0.05  # of the resamples: with more, those that are left are no fair sample

Statistic = Callable[..., FloatArray]


@dataclass(frozen=True)
class Bootstrap:
    """A percentile interval, the standard error (ddof 1), and how many resamples were undefined."""

    interval: Interval
    se: Value
    resamples: int
    dropped: int


def draw(n: int, generator: np.random.Generator, resamples: int = RESAMPLES) -> IntArray:
    """Draw which of n rows each resample takes, shape (resamples, n), in one call.

    With Generator(PCG64(seed)) these are the resamples of scipy.stats.bootstrap(paired=True,
    rng=...). Raises UsageError where there are no rows.
    """
    if n < 1:
        raise UsageError("there are no rows to resample; expected at least one.")
    return generator.integers(0, n, size=(resamples, n))


def draw_legacy(n: int, seed: int, resamples: int = RESAMPLES) -> IntArray:
    """Draw what numpy.random.seed(seed) and a loop of numpy.random.choice(n, n) draw.

    For recomputing published intervals only; the generator is the function's own.
    """
    state = np.random.RandomState(seed)
    return np.asarray(state.randint(0, n, size=(resamples, n)), dtype=np.int64)


def bootstrap(
    statistic: Statistic,
    columns: Sequence[npt.NDArray[Any]],
    indices: IntArray,
    level: float = 0.95,
    most_undefined: float = MOST_UNDEFINED,
) -> Bootstrap:
    """Return the percentile interval and standard error of a statistic over resampled rows.

    The statistic takes the resampled columns, each of shape (resamples, n, ...), and gives one
    number a resample, NaN where it is undefined. Those are dropped and counted. Percentiles are
    interpolated linearly (Hyndman and Fan's type 7, numpy's default). Undefined where more than
    the share `most_undefined` of the resamples are, and where fewer than two give a number.
    """
    values = replicates(statistic, columns, indices)
    kept = values[~np.isnan(values)]
    dropped = len(values) - len(kept)
    reason = None
    if dropped > most_undefined * len(values):
        reason = f"only {len(kept):,} of {len(values):,} resamples give a number"
    elif len(kept) < 2:
        reason = f"{len(kept)} of {len(values)} resamples give a number"
    if reason:
        interval, se = Interval(None, None, level, reason), Value(None, len(kept), reason)
    else:
        low, high = np.percentile(kept, [50 - 50 * level, 50 + 50 * level])
        interval = Interval(float(low), float(high), level)
        se = Value(math.sqrt(squares(kept.tolist()) / (len(kept) - 1)), len(kept))
    return Bootstrap(interval, se, len(values), dropped)


def replicates(
    statistic: Statistic, columns: Sequence[npt.NDArray[Any]], indices: IntArray
) -> FloatArray:
    """Return the statistic of each resample, shape (resamples,), NaN where it is undefined.

    Works through the resamples in chunks of about a million numbers. Raises UsageError where the
    columns and the resamples are not of one length.
    """
    n = indices.shape[1]
    for column in columns:
        if len(column) != n:
            raise UsageError(f"a column has {len(column)} rows, the resamples are of {n}.")
    step = max(1, CHUNK // n)
    chunks = [indices[start : start + step] for start in range(0, len(indices), step)]
    return np.concatenate([statistic(*(column[chunk] for column in columns)) for chunk in chunks])


def bootstrap_pearson(
    x: Numbers,
    y: Numbers,
    indices: IntArray,
    level: float = 0.95,
    most_undefined: float = MOST_UNDEFINED,
) -> Bootstrap:
    """Return the percentile interval of Pearson's r over resampled pairs."""
    first, second = pair(x, y)
    columns = [np.asarray(first), np.asarray(second)]
    return bootstrap(pearson_rows, columns, indices, level, most_undefined)


def bootstrap_spearman(
    x: Numbers,
    y: Numbers,
    indices: IntArray,
    level: float = 0.95,
    most_undefined: float = MOST_UNDEFINED,
) -> Bootstrap:
    """Return the percentile interval of Spearman's rho over pairs, ranked anew each time."""
    first, second = pair(x, y)
    columns = [ranks.codes(first), ranks.codes(second)]
    return bootstrap(spearman_rows, columns, indices, level, most_undefined)


def bootstrap_mean(values: FloatArray, indices: IntArray, level: float = 0.95) -> Bootstrap:
    """Return the percentile interval of the mean over resampled rows.

    Rows may themselves be rows of numbers, such as a model's scores: whole models are resampled.
    """
    return bootstrap(mean_rows, [values], indices, level)


def mean_rows(values: FloatArray) -> FloatArray:
    """Return the mean of each resample, shape (resamples, n, ...) in."""
    return np.asarray(values.reshape(len(values), -1).mean(axis=1))


def pearson_rows(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Pearson's r of each row, shape (rows, n) in; NaN where x or y is constant there."""
    first = x - x.mean(axis=1, keepdims=True)
    second = y - y.mean(axis=1, keepdims=True)
    defined = (x != x[:, :1]).any(axis=1) & (y != y[:, :1]).any(axis=1)
    return _cosines(first, second, defined)


def spearman_rows(x: IntArray, y: IntArray) -> FloatArray:
    """Return Spearman's rho of rows of codes (ranks.codes), shape (rows, n) in; NaN as above."""
    first, second = ranks.centred_ranks(x), ranks.centred_ranks(y)
    defined = (first != 0).any(axis=1) & (second != 0).any(axis=1)
    return _cosines(first, second, defined)


def _cosines(
    x: npt.NDArray[Any], y: npt.NDArray[Any], defined: npt.NDArray[np.bool_]
) -> FloatArray:
    products = np.einsum("ij,ij->i", x, y).astype(np.float64)
    squared = [np.einsum("ij,ij->i", part, part).astype(np.float64) for part in (x, y)]
    found = np.full(len(x), np.nan)
    scale = np.sqrt(squared[0] * squared[1])
    np.divide(products, scale, out=found, where=defined & (scale > 0))
    return np.asarray(np.clip(found, -1, 1))
