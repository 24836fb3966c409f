"""How sure the change of a metric is: both recordings resampled together, cell by cell.

A resample draws, at each level, as many of the subject's cells as there are, with replacement, and
the same cells in both recordings; then every metric is computed in either, by its own rules, and
subtracted. So a dialogue's five turns stay together, and every level keeps its weight. Where
concepts are averaged first, a drawn cell counts by its mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.protocols.ddft.analysis.phenotypes import cri_rows, hoc_rows
from harness.protocols.ddft.analysis.resamples import of_replicates
from harness.protocols.ddft.metrics import scoreboard as board
from harness.protocols.ddft.metrics.formulas import PLACES
from harness.protocols.ddft.metrics.scoring import MetricRules
from harness.results import CellResult, Interval
from harness.stats import resampling
from harness.stats.columns import FloatArray, IntArray
from harness.stats.fewest import FEWEST

Cells = Sequence[CellResult]


class CellSums(NamedTuple):
    """Sums of scores by cell, and how many there are, shape (cells,)."""

    total: FloatArray
    number: FloatArray


class Scores(NamedTuple):
    """What the metrics of a subject are made of, cell by cell."""

    far: CellSums
    sas: CellSums
    far_prime: CellSums
    sas_prime: CellSums
    danger: CellSums


def intervals(
    before: tuple[Cells, MetricRules], after: tuple[Cells, MetricRules], seed: np.random.Generator
) -> dict[str, Interval]:
    """Return the interval of each metric's change (after less before), by the metric's id.

    One subject in one arm; both have the same cells in the same order. Undefined where a level has
    fewer than four cells. A normalized CI looks at other subjects and has none.
    """
    at = _at(before[0])
    fewest = min((len(rows) for rows in at), default=0)
    if fewest < FEWEST:
        reason = f"{fewest} cells at a level, at least {FEWEST} are needed"
        return dict.fromkeys(_ids(), Interval(None, None, reason=reason))
    drawn = [resampling.draw(len(rows), seed) for rows in at]
    return {
        name: of_replicates(found).interval for name, found in changes(before, after, drawn).items()
    }


def changes(
    before: tuple[Cells, MetricRules], after: tuple[Cells, MetricRules], drawn: Sequence[IntArray]
) -> dict[str, FloatArray]:
    """Return the change of each metric in each resample, NaN where it is undefined in either.

    drawn: for each level, from the lowest, which of its cells each resample takes, shape
    (resamples, cells of the level).
    """
    at, weights = _at(before[0]), [_weights(draws) for draws in drawn]
    levels = np.asarray(sorted({cell.cell.level for cell in before[0]}))
    old, new = (
        _replicates(_scores(cells, rules), at, weights, levels, rules)
        for cells, rules in (before, after)
    )
    return {name: new[name] - old[name] for name in old}


def _at(cells: Cells) -> list[IntArray]:
    """Return the places of each level's cells."""
    places = np.asarray([cell.cell.level for cell in cells])
    return [np.flatnonzero(places == level) for level in np.unique(places)]


def _ids() -> list[str]:
    metrics = (board.FAR, board.SAS, board.HOC, board.CRI, board.FAR_PRIME, board.SAS_PRIME)
    return [metric.id for metric in (*metrics, board.CI_RAW, board.DANGER)]


def _weights(draws: IntArray) -> FloatArray:
    """Return how often each row is drawn, shape (resamples, rows)."""
    number = draws.shape[1]
    places = draws + number * np.arange(len(draws), dtype=np.int64)[:, None]
    counted = np.bincount(places.ravel(), minlength=draws.size).reshape(draws.shape)
    return np.asarray(counted, dtype=np.float64)


def _scores(cells: Cells, rules: MetricRules) -> Scores:
    pairs = [
        [
            (round(turn.far, PLACES), round(turn.sas, PLACES))
            for turn in cell.turns
            if turn.far is not None and turn.sas is not None
        ]
        for cell in cells
    ]
    return Scores(
        _sums([[turn.far for turn in cell.turns if turn.far is not None] for cell in cells]),
        _sums([[turn.sas for turn in cell.turns if turn.sas is not None] for cell in cells]),
        _sums([[far for far, sas in pair if sas < rules.incoherent_below] for pair in pairs]),
        _sums([[sas for far, sas in pair if far > rules.factual_above] for pair in pairs]),
        _sums(
            [
                [float(sas > rules.sas_above and far < rules.far_below) for far, sas in pair]
                for pair in pairs
            ]
        ),
    )


def _sums(scores: Sequence[Sequence[float]]) -> CellSums:
    total = np.asarray([sum(cell) for cell in scores], dtype=np.float64)
    return CellSums(total, np.asarray([len(cell) for cell in scores], dtype=np.float64))


def _replicates(
    scores: Scores,
    at: Sequence[IntArray],
    weights: Sequence[FloatArray],
    levels: FloatArray,
    rules: MetricRules,
) -> dict[str, FloatArray]:
    """Return every metric in every resample, NaN where it is undefined."""
    order, drawn = np.concatenate(at), np.concatenate(weights, axis=1)
    far, sas, far_prime, sas_prime, danger = (
        _ratio(drawn, CellSums(sums.total[order], sums.number[order])) for sums in scores
    )
    if rules.empty_far_prime == "zero":
        far_prime = np.where(np.isnan(far_prime), 0.0, far_prime)
    hoc = hoc_rows(_curve(scores.far, at, weights, rules), levels, rules.theta, rules.hoc_rule)
    cri = cri_rows(_curve(scores.sas, at, weights, rules), levels)
    bottom = far_prime + 1 - sas_prime
    ci = hoc * cri / np.where(np.round(bottom, PLACES) == 0, np.nan, bottom)
    found = (far, sas, hoc, cri, far_prime, sas_prime, ci, danger)
    return dict(zip(_ids(), found, strict=True))


def _curve(
    sums: CellSums,
    at: Sequence[IntArray],
    weights: Sequence[FloatArray],
    rules: MetricRules,
) -> FloatArray:
    """Return each level's mean, shape (resamples, levels)."""
    if rules.aggregation == "by_concept":
        known = sums.number > 0
        mean = np.divide(sums.total, sums.number, out=np.zeros_like(sums.total), where=known)
        sums = CellSums(mean, known.astype(np.float64))
    rows = zip(at, weights, strict=True)
    means = [_ratio(drawn, CellSums(sums.total[row], sums.number[row])) for row, drawn in rows]
    return np.stack(means, axis=-1)


def _ratio(weights: FloatArray, sums: CellSums) -> FloatArray:
    """Return weighted means, shape (resamples,), NaN of nothing."""
    number = weights @ sums.number
    found = np.full(len(weights), np.nan)
    np.divide(weights @ sums.total, number, out=found, where=number > 0)
    return found
