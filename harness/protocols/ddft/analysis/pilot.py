"""What a pilot shows: which concepts tell subjects and levels apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from harness.protocols.ddft.analysis.domains import variance
from harness.protocols.ddft.analysis.evaluations import PAPER, evaluations, grouped, sorted_cells
from harness.protocols.ddft.metrics.formulas import PLACES, mean
from harness.results import CellResult, Value

BAND = (0.15, 0.85)


class PilotPower(NamedTuple):
    """How far one concept tells subjects and levels apart.

    variance, sd: of the mean FAR of each subject at each level (ddof 0); their n counts those
    means. band: from where to where, both ends included, either is said to discriminate.
    """

    concept: str
    variance: Value
    sd: Value
    band: tuple[float, float]

    @property
    def variance_in_band(self) -> bool | None:
        """Tell whether the variance lies in the band; None where it is undefined."""
        return _inside(self.variance, self.band)

    @property
    def sd_in_band(self) -> bool | None:
        """Tell whether the standard deviation lies in the band; None where it is undefined."""
        return _inside(self.sd, self.band)

    @property
    def line(self) -> str:
        """Return the concept's power in one line."""
        statistics = (
            _words("variance", self.variance, self.variance_in_band),
            _words("SD", self.sd, self.sd_in_band),
        )
        low, high = self.band
        return f"{self.concept}: {', '.join(statistics)} (band {low:g} to {high:g}, n {self.sd.n})"


def concept_powers(
    concepts: Sequence[str], cells: Sequence[CellResult], band: tuple[float, float] = BAND
) -> list[PilotPower]:
    """Return each concept's discriminative power, from the finished cells of the arm paper.

    The mean FAR of each subject at each level, over turns and repeats; then the variance (ddof 0)
    and the SD of these means. The default band is section 4.2's "pilot FAR variance 0.15-0.85".
    That can hardly be meant of a variance: numbers in [0, 1] have one of at most 0.25, reached by
    half zeros and half ones, so no concept comes near 0.85 and 0.15 asks for an SD of 0.39. Their
    SD is at most 0.5, and 0.15 is a sensible floor for it; so both are given, each against the
    band. results.json's analysis gives the variance with ddof 1.

    In the order of the concepts; undefined below two means.
    """
    rows = evaluations(sorted_cells(cells, PAPER))
    groups = grouped(((e.concept, e.subject, e.level), e.far) for e in rows)
    means = grouped((key[0], mean(scores)) for key, scores in groups.items())
    return [power_of(name, means.get(name, []), band) for name in concepts]


def power_of(concept: str, means: Sequence[float], band: tuple[float, float] = BAND) -> PilotPower:
    """Return a concept's power from its means; below two of them it is undefined."""
    sample, n = variance(means), len(means)
    if sample.value is None:
        return PilotPower(concept, sample, sample, band)
    population = sample.value * (n - 1) / n
    return PilotPower(concept, Value(population, n), Value(math.sqrt(population), n), band)


def _inside(value: Value, band: tuple[float, float]) -> bool | None:
    if value.value is None:
        return None
    low, high = (round(end, PLACES) for end in band)
    return low <= round(value.value, PLACES) <= high


def _words(name: str, value: Value, inside: bool | None) -> str:
    if value.value is None:
        return f"{name} null ({value.reason})"
    return f"{name} {value.value:.4f} {'in' if inside else 'outside'}"
