"""A bootstrap interval, drawn again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from numpy.random import PCG64, Generator
from pydantic import Field

from harness.audit.claim import Claim
from harness.audit.dataset import Dataset
from harness.audit.fields import ColumnField, FromData, Pair
from harness.audit.printed import Span, point
from harness.audit.selection import (
    Numbers,
    Statistic,
    correlated,
    extreme,
    needs_data,
    plain,
    selected,
)
from harness.audit.verdicts import CheckOutcome, ClaimVerdict, Reading, doubtful, joined, unchecked
from harness.stats.columns import IntArray
from harness.stats.resampling import bootstrap_pearson, bootstrap_spearman, draw, draw_legacy

MODERN, LEGACY = "PCG64", "the legacy generator"
SEED = 42
LEGACY_SEEDS = 2**32  # it takes no larger seed
STANDARD_ERRORS = 4  # an honest interval is off by more once in ten thousand audits

Ends = tuple[float, float]


class IntervalResampledClaim(Claim, FromData):
    """A bootstrap interval of a correlation, drawn again as a percentile interval.

    seed: only where the source states it. kind: "percentile" where the source says so; without it
    an interval that does not fit may be of another kind, and is not checkable.
    """

    check: Literal["interval_resampled"]
    published: Pair
    method: Literal["pearson", "spearman"]
    columns: list[ColumnField] = Field(min_length=2, max_length=2)
    level: float = Field(default=0.95, gt=0, lt=1)
    resamples: int = Field(default=10_000, ge=100, le=1_000_000, strict=True)
    seed: int | None = Field(default=None, ge=0, strict=True)
    kind: Literal["percentile"] | None = None


def interval_resampled(claim: IntervalResampledClaim, dataset: Dataset | None) -> CheckOutcome:
    """Draw a percentile bootstrap interval again (Efron and Tibshirani 1993, chapter 13).

    With a stated seed the printed digits can come out, by PCG64 or by numpy's legacy generator.
    Without it all that can be asked is whether printed and drawn interval differ by no more than
    two draws do, and by the rounding of the data: `reproduced*`.
    """
    if dataset is None:
        return needs_data(claim)
    cells = selected(dataset, claim)
    columns, n = plain(cells), len(cells[0])
    if claim.n not in (None, n):
        return CheckOutcome("contradicted", f"n = {n}", f"n is {n} and not {claim.n}")
    draws = _draws(claim, n)
    drawn = {name: _ends(claim, columns, rows, claim.level) for name, rows in draws.items()}
    if any(math.isnan(end) for ends in drawn.values() for end in ends):
        return unchecked("the interval is undefined for these data")
    corners = [columns, *(extreme(_statistic(claim), cells, sign) for sign in (-1, 1))]
    outcome = _compared(claim, drawn, _within_error(claim, corners, draws[MODERN]))
    if claim.kind is not None:
        return outcome
    return doubtful(outcome, "another kind of bootstrap interval could be it (say kind)")


def _draws(claim: IntervalResampledClaim, n: int) -> dict[str, IntArray]:
    seed = SEED if claim.seed is None else claim.seed
    draws = {MODERN: draw(n, Generator(PCG64(seed)), claim.resamples)}
    if seed < LEGACY_SEEDS:
        draws[LEGACY] = draw_legacy(n, seed, claim.resamples)
    return draws


def _ends(claim: IntervalResampledClaim, columns: Numbers, rows: IntArray, level: float) -> Ends:
    """Draw the interval; NaN where it is undefined."""
    resampled = bootstrap_pearson if claim.method == "pearson" else bootstrap_spearman
    interval = resampled(columns[0], columns[1], rows, level).interval
    if interval.low is None or interval.high is None:
        return math.nan, math.nan
    return interval.low, interval.high


def _statistic(claim: IntervalResampledClaim) -> Statistic:
    return lambda columns: correlated(columns, claim.method).coefficient.value


def _within_error(
    claim: IntervalResampledClaim, corners: Sequence[Numbers], rows: IntArray
) -> list[Span]:
    """Return where each end may lie: four standard errors of the difference of two draws.

    The share of resamples below a percentile q is binomial, with standard error
    sqrt(q (1 - q) / resamples), whatever the statistic's distribution; corners: the data as they
    stand, and moved within their rounding.
    """
    q = (1 - claim.level) / 2
    error = STANDARD_ERRORS * math.sqrt(2 * q * (1 - q) / claim.resamples)
    levels = 1 - 2 * max(0.0, q - error), 1 - 2 * min(0.5, q + error)
    drawn = [_ends(claim, columns, rows, level) for columns in corners for level in levels]
    return [Span(min(side), max(side)) for side in zip(*drawn, strict=True)]


def _compared(
    claim: IntervalResampledClaim, drawn: Mapping[str, Ends], near: Sequence[Span]
) -> CheckOutcome:
    ends = zip(*drawn.values(), strict=True)
    fitting = [
        [reading for reading in _readings(claim, end, span) if printed.allows(reading.span)]
        for printed, end, span in zip(claim.published, ends, near, strict=True)
    ]
    conventions = sorted({reading[0].convention for reading in fitting if reading} - {""})
    verdict: ClaimVerdict = "reproduced*" if conventions else "reproduced"
    places = claim.published[0].places + 1
    words = {name: f"[{low:.{places}f}, {high:.{places}f}]" for name, (low, high) in drawn.items()}
    only = f"only with {' and '.join(conventions)}" if conventions and all(fitting) else ""
    legacy = f"{words[LEGACY]} with {LEGACY}" if LEGACY in words else ""
    reason = joined(only, legacy, _how(claim))
    return CheckOutcome(verdict if all(fitting) else "contradicted", words[MODERN], reason)


def _readings(claim: IntervalResampledClaim, ends: Sequence[float], near: Span) -> list[Reading]:
    """Return what one end may be: as drawn by either generator, or within error."""
    seed = "" if claim.seed is not None else f"seed {SEED}, which is not stated"
    return [
        Reading(point(ends[0]), seed),
        *(Reading(point(end), " and ".join(filter(None, (LEGACY, seed)))) for end in ends[1:]),
        Reading(near, "an allowance for Monte Carlo error"),
    ]


def _how(claim: IntervalResampledClaim) -> str:
    seed = SEED if claim.seed is None else claim.seed
    return f"percentile bootstrap, {claim.resamples} resamples, seed {seed}"
