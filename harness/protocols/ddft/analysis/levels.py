"""A subject's levels beside theta, its CI for every HOC they leave open, and its fall."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.protocols.ddft.analysis.evaluations import Evaluation, grouped
from harness.protocols.ddft.analysis.profiles import FAR_FALL
from harness.protocols.ddft.analysis.schema_inference import (
    CISide,
    LevelConfidence,
    SubjectInference,
)
from harness.protocols.ddft.metrics import formulas as metrics
from harness.protocols.ddft.metrics.scoring import MetricRules
from harness.results import Interval, Value
from harness.stats.fewest import too_few, where_enough
from harness.stats.jackknife import jackknife_interval
from harness.stats.means import ClusteredMean, clustered_mean, mean_of

RATIO_LEVEL = 0.975  # with the levels' 2.5% this leaves 95% for CI
NOT_TOLD_APART = "not told apart"
PHENOTYPES = ("Brittle", "Competent", "Robust")


def subject_inference(
    subject: str, rows: Sequence[Evaluation], rules: MetricRules
) -> SubjectInference:
    """Return what a subject's answers show; undefined below four concepts, which are its clusters.

    HOC is a jump, and no bootstrap holds at one (Andrews, Econometrica 68, 2000, 399-405). So the
    levels are told from theta first, by t over concepts and Bonferroni over levels; CI / HOC is
    smooth, and its interval is the jackknife's over concepts, on the log scale.
    """
    levels = sorted({row.level for row in rows})
    marks = [_level(rows, level, len(levels), rules) for level in levels]
    ratio = _ratio_interval(rows, rules)
    is_few = too_few(len({row.concept for row in rows})) is not None
    possible = [] if is_few else _possible_hoc(marks, rules.theta)
    sides = [CISide(hoc, _side(hoc, ratio)) for hoc in possible]
    fall = _fall(rows, levels)
    fall_interval = where_enough(fall.interval, fall.se.n, "concepts")
    return SubjectInference(
        subject=subject,
        levels=marks,
        sides=sides,
        phenotypes=_phenotypes(sides, rules),
        fall=fall.mean,
        fall_interval=fall_interval,
        fall_class=_fall_class(fall_interval),
    )


def _level(
    rows: Sequence[Evaluation], level: float, count: int, rules: MetricRules
) -> LevelConfidence:
    groups = grouped((row.concept, row.far) for row in rows if row.level == level)
    clusters = [(math.fsum(scores), len(scores)) for scores in groups.values()]
    simultaneous = 1 - 0.05 / count
    mean = clustered_mean(clusters, simultaneous)
    reason = too_few(len(clusters), "concepts")
    confidence = mean.confidence_above(rules.theta)
    low, high = mean.interval.low, mean.interval.high
    return LevelConfidence(
        level=level,
        far=mean.mean,
        se=mean.se,
        confidence=Value(None, len(clusters), reason) if reason else confidence,
        near_theta=bool(reason) or low is None or high is None or low <= rules.theta <= high,
    )


def _possible_hoc(marks: Sequence[LevelConfidence], theta: float) -> list[float | None]:
    """Return the levels that may be the highest passing one; None: none passes."""
    passing = [
        mark.level for mark in marks if not mark.near_theta and (mark.far.value or 0) >= theta
    ]
    floor = max(passing, default=None)
    near = [m.level for m in marks if m.near_theta and (floor is None or m.level > floor)]
    return [floor, *near]


def _ratio_interval(rows: Sequence[Evaluation], rules: MetricRules) -> Interval:
    """Return the interval of CRI / (FAR' + 1 - SAS'), which is CI / HOC."""
    concepts = sorted({row.concept for row in rows})
    reason = too_few(len(concepts), "concepts")
    estimate = _ratio(rows, rules)
    left_out = [
        _ratio([row for row in rows if row.concept != concept], rules) for concept in concepts
    ]
    logs = [math.log(value) for value in left_out if value]
    if reason or not estimate or len(logs) < len(concepts):
        why = reason or "FAR', SAS' or CRI is undefined, or would be without one concept"
        return Interval(None, None, RATIO_LEVEL, why)
    interval = jackknife_interval(math.log(estimate), logs, RATIO_LEVEL)
    if interval.low is None or interval.high is None:
        return interval
    return Interval(math.exp(interval.low), math.exp(interval.high), RATIO_LEVEL)


def _ratio(rows: Sequence[Evaluation], rules: MetricRules) -> float | None:
    groups = grouped((row.level, row.sas) for row in rows)
    curve = [(level, metrics.mean(scores)) for level, scores in sorted(groups.items())]
    pairs = [(r.far, r.sas) for r in rows if r.far is not None and r.sas is not None]
    cri = metrics.cri(curve)
    far_prime = metrics.far_prime(pairs, rules.empty_far_prime, rules.incoherent_below)
    sas_prime = metrics.sas_prime(pairs, rules.factual_above)
    return metrics.ci_raw(Value(1.0, len(pairs)), cri, far_prime, sas_prime).value


def _side(hoc: float | None, ratio: Interval) -> Interval:
    if hoc is None:
        return Interval(None, None, reason="no level passes")
    if ratio.low is None or ratio.high is None:
        return Interval(None, None, reason=ratio.reason)
    return Interval(hoc * ratio.low, hoc * ratio.high)


def _phenotypes(sides: Sequence[CISide], rules: MetricRules) -> list[str]:
    """Return every phenotype that CI may have; [] where CI is normalized by other subjects."""
    if rules.normalization != "clip":
        return []
    names: set[str] = set()
    for side in sides:
        if side.hoc is None:
            names.add("undefined")
            continue
        if side.ci_raw.low is None or side.ci_raw.high is None:
            return []
        ends = [rules.phenotype(min(1.0, end)) for end in (side.ci_raw.low, side.ci_raw.high)]
        places = [PHENOTYPES.index(str(end)) for end in ends]
        names |= set(PHENOTYPES[places[0] : places[1] + 1])
    return [name for name in (*PHENOTYPES, "undefined") if name in names]


def _fall(rows: Sequence[Evaluation], levels: Sequence[float]) -> ClusteredMean:
    falls = [] if len(levels) < 2 else falls_by_concept(rows, "far", levels)
    return mean_of(falls)


def falls_by_concept(
    rows: Sequence[Evaluation], scale: str, levels: Sequence[float]
) -> list[float]:
    """Return how far a scale falls from the lowest level to the highest, concept by concept."""
    groups = grouped(((row.concept, row.level), row.score(scale)) for row in rows)
    falls = []
    for concept in sorted({row.concept for row in rows}):
        first = metrics.mean(groups.get((concept, levels[0]), []))
        last = metrics.mean(groups.get((concept, levels[-1]), []))
        if first is not None and last is not None:
            falls.append(first - last)
    return falls


def _fall_class(interval: Interval) -> str | None:
    if interval.low is None or interval.high is None:
        return None
    if interval.low <= FAR_FALL <= interval.high:
        return NOT_TOLD_APART
    return "degrader" if interval.low > FAR_FALL else "stabilizer"
