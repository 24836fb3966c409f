"""The resamples of one analysis: seeded by a label, drawn once, shared by whoever needs them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.results import Interval, Value
from harness.stats import resampling
from harness.stats.columns import FloatArray, IntArray
from harness.stats.fewest import too_few
from harness.stats.resampling import MOST_UNDEFINED, RESAMPLES, Bootstrap
from harness.stats.seeds import seeded


class Resamples:
    """Draws of n of something, from a generator of its own for each label and n.

    most_undefined: the share of resamples without a coefficient that a correlation may have.
    """

    def __init__(
        self, seed: int, resamples: int = RESAMPLES, most_undefined: float = MOST_UNDEFINED
    ) -> None:
        self._seed, self.resamples, self.most_undefined = seed, resamples, most_undefined
        self._drawn: dict[tuple[str, int], IntArray] = {}

    def of(self, what: str, n: int) -> IntArray:
        """Return the resamples of n rows, shape (resamples, n): the same at every call."""
        key = what, n
        if key not in self._drawn:
            generator = seeded(self._seed, f"analysis|{what}|{n}")
            self._drawn[key] = resampling.draw(n, generator, self.resamples)
        return self._drawn[key]

    def mean(self, rows: Sequence[float] | Sequence[Sequence[float]], what: str) -> Bootstrap:
        """Return the interval of the mean over whole rows; undefined below four rows."""
        if reason := too_few(len(rows), what):
            return no_bootstrap(len(rows), reason)
        values = np.asarray(rows, dtype=np.float64)
        return resampling.bootstrap_mean(values, self.of(what, len(rows)))


def no_bootstrap(n: int, reason: str) -> Bootstrap:
    """Return a bootstrap that was not made, with the reason."""
    return Bootstrap(Interval(None, None, reason=reason), Value(None, n, reason), 0, 0)


def of_replicates(values: FloatArray) -> Bootstrap:
    """Return the percentile interval of replicates that are computed already, NaN left out.

    The library wants to draw: it is handed one row, drawn once for each replicate, in one chunk.
    """
    row, draws = np.zeros(1), np.zeros((len(values), 1), dtype=np.int64)
    return resampling.bootstrap(lambda _: values, [row], draws)
