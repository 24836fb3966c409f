"""The bootstrap of a subject's CI and phenotype.

A block is one (concept, turn) with all its levels and repeats: the paper's 8 x 5 are 40 blocks. A
resample draws as many blocks with replacement, the same for every subject, so that the rules that
normalize across subjects can be followed inside it; then levels, HOC, CRI, FAR', SAS', CI and the
phenotype are computed as scoring.py does, over the drawn responses. What varies is which questions
were asked, not which models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.protocols.ddft.analysis.evaluations import Evaluation
from harness.protocols.ddft.analysis.resamples import Resamples, no_bootstrap, of_replicates
from harness.protocols.ddft.metrics.formulas import PLACES
from harness.protocols.ddft.metrics.scoring import MetricRules
from harness.results import Value
from harness.stats.columns import FloatArray, IntArray
from harness.stats.fewest import too_few
from harness.stats.resampling import Bootstrap

PHENOTYPES = ("Robust", "Competent", "Brittle")
UNDEFINED = "undefined"
GRAIN = 2.0**40


class Uncertainty(NamedTuple):
    """A subject's raw CI over resamples, and the probability of each phenotype and of none."""

    ci_raw: Bootstrap
    probabilities: dict[str, Value]


class Sums(NamedTuple):
    """Sums of scores and how many there are; the last axis is the level, or there is none."""

    total: FloatArray
    number: FloatArray


class Blocks(NamedTuple):
    """The responses of every subject in every block, summed.

    far, sas: shape (subjects, concepts, turns, levels); far_prime, sas_prime: without levels.
    """

    subjects: list[str]
    levels: FloatArray
    far: Sums
    sas: Sums
    far_prime: Sums
    sas_prime: Sums


def phenotypes(
    evaluations: Sequence[Evaluation], rules: MetricRules, resamples: Resamples
) -> dict[str, Uncertainty]:
    """Return every complete subject's uncertainty; undefined below four blocks."""
    blocks = blocked(evaluations, rules)
    number = int(np.prod(blocks.far.number.shape[1:3]))
    if reason := too_few(number, "blocks of concept x turn"):
        return {name: undefined(number, reason) for name in blocks.subjects}
    raw = replicates(blocks, rules, resamples.of("concept x turn", number))
    normal = np.round(normalized(raw, rules.normalization), PLACES)
    return {
        name: Uncertainty(of_replicates(raw[:, place]), _probabilities(normal[:, place], rules))
        for place, name in enumerate(blocks.subjects)
    }


def undefined(n: int, reason: str) -> Uncertainty:
    """Return the uncertainty of a subject that was not resampled."""
    names = (*PHENOTYPES, UNDEFINED)
    return Uncertainty(no_bootstrap(n, reason), {name: Value(None, 0, reason) for name in names})


def blocked(evaluations: Sequence[Evaluation], rules: MetricRules) -> Blocks:
    """Sum the responses by subject, concept, turn and level."""
    keys = [(e.subject, e.concept, e.turn, e.level) for e in evaluations]
    axes = [sorted(set(axis)) for axis in zip(*keys, strict=True)] or [[], [], [], []]
    shape = tuple(len(axis) for axis in axes)
    flat = _places(keys, axes)
    far = np.array([np.nan if e.far is None else e.far for e in evaluations], dtype=np.float64)
    sas = np.array([np.nan if e.sas is None else e.sas for e in evaluations], dtype=np.float64)
    incoherent = ~np.isnan(far) & (np.round(sas, PLACES) < rules.incoherent_below)
    factual = ~np.isnan(sas) & (np.round(far, PLACES) > rules.factual_above)
    return Blocks(
        list(axes[0]),
        np.array(axes[3], dtype=np.float64),
        _sums(far, ~np.isnan(far), flat, shape),
        _sums(sas, ~np.isnan(sas), flat, shape),
        _over_levels(_sums(far, incoherent, flat, shape)),
        _over_levels(_sums(sas, factual, flat, shape)),
    )


def replicates(blocks: Blocks, rules: MetricRules, indices: IntArray) -> FloatArray:
    """Return raw CI of each subject in each resample of blocks, shape (resamples, subjects)."""
    number = indices.shape[1]
    places = indices + number * np.arange(len(indices), dtype=np.int64)[:, None]
    drawn = np.bincount(places.ravel(), minlength=indices.size).reshape(indices.shape)
    weights = np.asarray(drawn, dtype=np.float64)
    far = _curve(weights, blocks.far, rules.aggregation)
    sas = _curve(weights, blocks.sas, rules.aggregation)
    far_prime = _pooled(weights, blocks.far_prime)
    if rules.empty_far_prime == "zero":
        far_prime = np.where(np.isnan(far_prime), 0.0, far_prime)
    bottom = far_prime + (1 - _pooled(weights, blocks.sas_prime))
    top = hoc_rows(far, blocks.levels, rules.theta, rules.hoc_rule) * cri_rows(sas, blocks.levels)
    return _ratio(top, np.where(np.round(bottom, PLACES) == 0, np.nan, bottom))


def hoc_rows(far: FloatArray, levels: FloatArray, theta: float, rule: str) -> FloatArray:
    """Return metrics.hoc of all curves, shape (..., levels) in; NaN: a level without a mean."""
    passing = np.round(far, PLACES) >= round(theta, PLACES)
    if rule == "onset":
        passing &= np.logical_and.accumulate(passing | np.isnan(far), axis=-1)
    highest = np.where(passing, levels, -1.0).max(axis=-1, initial=-1.0)
    return np.asarray(np.where(highest < 0, np.nan, highest))


def cri_rows(sas: FloatArray, levels: FloatArray) -> FloatArray:
    """Return metrics.cri of all curves, shape (..., levels) in, over the levels with a mean."""
    shape = sas.shape[:-1]
    area, first = np.zeros(shape), np.full(shape, np.nan)
    last, before = np.full(shape, np.nan), np.full(shape, np.nan)
    for place, level in enumerate(levels):
        now = sas[..., place]
        both = ~np.isnan(now) & ~np.isnan(before)
        area = np.where(both, area + (level - last) * (now + before) / 2, area)
        known = ~np.isnan(now)
        first = np.where(known & np.isnan(first), level, first)
        last, before = np.where(known, level, last), np.where(known, now, before)
    return _ratio(area, np.where(last > first, last - first, np.nan))


def normalized(raw: FloatArray, rule: str) -> FloatArray:
    """Return metrics.normalized of every row, shape (resamples, subjects) in, NaN kept."""
    if rule == "clip":
        return np.asarray(np.minimum(1.0, raw))
    missing = np.isnan(raw)
    high = np.where(missing, -np.inf, raw).max(axis=1, keepdims=True, initial=-np.inf)
    if rule == "max":
        scaled = _ratio(raw, np.where(high > 0, high, np.nan))
        return np.asarray(np.where(~missing & (high <= 0), 0.0, scaled))
    low = np.where(missing, np.inf, raw).min(axis=1, keepdims=True, initial=np.inf)
    return _ratio(raw - low, np.where(high > low, high - low, np.nan))


def _places(keys: Sequence[tuple[Any, ...]], axes: Sequence[Sequence[Any]]) -> IntArray:
    """Return the place of every key in an array with these axes, laid flat."""
    known = [{key: place for place, key in enumerate(axis)} for axis in axes]
    flat = []
    for key in keys:
        place = 0
        for part, axis in zip(key, known, strict=True):
            place = place * len(axis) + axis[part]
        flat.append(place)
    return np.array(flat, dtype=np.int64)


def _sums(
    scores: FloatArray, chosen: npt.NDArray[np.bool_], flat: IntArray, shape: tuple[int, ...]
) -> Sums:
    """Sum the chosen scores by place, in whole multiples of 2^-40.

    So sums of some thousand scores, weighed by whole numbers, are exact, and no processor's way of
    multiplying matrices changes a digit.
    """
    size = int(np.prod(shape))
    kept = np.round(np.where(chosen, scores, 0.0) * GRAIN) / GRAIN
    total = np.bincount(flat, weights=kept, minlength=size)
    number = np.bincount(flat, weights=chosen.astype(np.float64), minlength=size)
    return Sums(_floats(total).reshape(shape), _floats(number).reshape(shape))


def _floats(values: npt.NDArray[Any]) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _over_levels(sums: Sums) -> Sums:
    return Sums(_floats(sums.total.sum(axis=-1)), _floats(sums.number.sum(axis=-1)))


def _curve(weights: FloatArray, sums: Sums, aggregation: str) -> FloatArray:
    """Return each level's mean, shape (resamples, subjects, levels), as scoring aggregates it."""
    if aggregation == "pooled":
        return _pooled(weights, sums)
    concepts, turns = sums.number.shape[1:3]
    apart = weights.reshape(-1, concepts, turns)
    means = np.stack(
        [
            _pooled(apart[:, i], Sums(sums.total[:, i : i + 1], sums.number[:, i : i + 1]))
            for i in range(concepts)
        ]
    )
    known = ~np.isnan(means)
    return _ratio(np.where(known, means, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64))


def _pooled(weights: FloatArray, sums: Sums) -> FloatArray:
    """Return the means over the drawn blocks: shape (resamples, subjects) and levels, if any."""
    return _ratio(_weighed(weights, sums.total), _weighed(weights, sums.number))


def _weighed(weights: FloatArray, parts: FloatArray) -> FloatArray:
    subjects, blocks = len(parts), weights.shape[1]
    columns = np.moveaxis(parts.reshape(subjects, blocks, -1), 1, 0).reshape(blocks, -1)
    found = (weights @ columns).reshape(len(weights), subjects, *parts.shape[3:])
    return np.asarray(found)


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Divide, NaN where the divisor is 0 or either is NaN."""
    found = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=found, where=~np.isnan(top) & ~np.isnan(bottom) & (bottom != 0))
    return found


def _probabilities(ci: FloatArray, rules: MetricRules) -> dict[str, Value]:
    n = len(ci)
    robust, none = ci > rules.robust_above, np.isnan(ci)
    competent = (ci > rules.competent_above) & ~robust
    found = (robust, competent, ~(robust | competent | none), none)
    names = (*PHENOTYPES, UNDEFINED)
    return {name: Value(int(k.sum()) / n, n) for name, k in zip(names, found, strict=True)}
