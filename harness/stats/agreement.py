"""Agreement between judges on a scale: spread, Krippendorff's alpha, intraclass correlations.

Scores are one row an item, one column a judge, None where a judge gave none. Sums are exactly
rounded, so neither the order of the items nor that of the judges changes a digit. Kappas over bins
are in kappa.py.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from harness.errors import UsageError
from harness.results import Interval, Value
from harness.stats.columns import constant, mean, numbers, squares
from harness.stats.jackknife import jackknife_interval

Scores = Sequence[Sequence[float | None]]

NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Agreement:
    """How far judges agree; n items, of which all judges scored n_complete.

    The spreads are means over the complete items; alpha uses incomplete ones too.
    """

    n: int
    n_complete: int
    variance: Value
    variance_ddof1: Value
    sd: Value
    sd_ddof1: Value
    mean_absolute_deviation: Value
    alpha: Value
    icc: dict[str, Value]


class MeanSquares(NamedTuple):
    """The mean squares of an items x judges table; within is that of a one-way analysis."""

    rows: float
    columns: float
    error: float
    within: float


def agreement(scores: Scores) -> Agreement:
    """Return every measure of agreement of a table of scores at once."""
    complete = complete_cases(scores)
    return Agreement(
        n=len(scores),
        n_complete=len(complete),
        variance=mean_variance(complete, 0),
        variance_ddof1=mean_variance(complete, 1),
        sd=mean_sd(complete, 0),
        sd_ddof1=mean_sd(complete, 1),
        mean_absolute_deviation=mean_absolute_deviation(complete),
        alpha=alpha(scores),
        icc=icc(scores),
    )


def complete_cases(scores: Scores) -> list[list[float]]:
    """Return the items that every judge scored; raises UsageError where rows differ in length."""
    if len({len(row) for row in scores}) > 1:
        raise UsageError("the items have unequal numbers of judges; mark missing scores with None.")
    present = _present(scores)
    return [known for row, known in zip(scores, present, strict=True) if len(known) == len(row)]


def mean_variance(scores: Scores, ddof: int = 0) -> Value:
    """Return the mean over items of the variance of an item's scores (numpy.var with this ddof).

    Each item counts by the scores it has; items with fewer than two are left out. Hand in
    complete_cases(scores) to ask for all judges.
    """
    return _mean_over_items(scores, lambda row: squares(row) / (len(row) - ddof))


def mean_sd(scores: Scores, ddof: int = 0) -> Value:
    """Return the mean over items of the standard deviation (numpy.std); items as mean_variance's.

    It is not the root of the mean variance, and on a scale of [0, 1] it is the larger of the two.
    """
    return _mean_over_items(scores, lambda row: math.sqrt(squares(row) / (len(row) - ddof)))


def mean_absolute_deviation(scores: Scores) -> Value:
    """Return the mean over items of the mean |score - item's mean|; items as mean_variance's."""
    return _mean_over_items(scores, lambda row: _mean_distance(row, mean(row)))


def mean_median_deviation(scores: Scores) -> Value:
    """Return the mean over items of the mean |score - item's median|; items as mean_variance's."""
    return _mean_over_items(scores, lambda row: _mean_distance(row, statistics.median(row)))


def mean_pair_difference(scores: Scores) -> Value:
    """Return the mean over items of two judges' mean |difference|; items as mean_variance's."""
    return _mean_over_items(scores, lambda row: mean([abs(a - b) for a, b in combinations(row, 2)]))


def alpha(scores: Scores) -> Value:
    """Return Krippendorff's alpha for an interval scale; missing scores are allowed.

    1 - observed / expected squared difference of two scores of one item, of any two scores
    (Krippendorff, Content Analysis, 2004, chapter 11; as krippendorff.alpha(
    level_of_measurement="interval")). Items with fewer than two scores are left out; n counts the
    others. Undefined where there are none and where all scores are equal.
    """
    items = [row for row in _present(scores) if len(row) > 1]
    everything = [score for row in items for score in row]
    if constant(everything):
        reason = "all scores are equal" if items else "no item has two scores"
        return Value(None, len(items), reason)
    observed = math.fsum(squares(row) * len(row) / (len(row) - 1) for row in items)
    expected = squares(everything) * len(everything) / (len(everything) - 1)
    return Value(1 - observed / expected, len(items))


def icc(scores: Scores) -> dict[str, Value]:
    """Return the six intraclass correlations over the complete items, by McGraw and Wong's names.

    ICC(1,1) and ICC(1,k): judges differ from item to item. (A,..): absolute agreement of these
    judges, Shrout and Fleiss' ICC(2,..). (C,..): consistency, their ICC(3,..). 1: of one judge, k:
    of the judges' mean. Formulas: McGraw and Wong 1996, table 4; as pingouin.intraclass_corr.
    Undefined below two items or judges, and where a form's denominator vanishes; n counts items.
    """
    complete = complete_cases(scores)
    names = ("ICC(1,1)", "ICC(A,1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)")
    if reason := _no_icc(complete):
        return {name: Value(None, len(complete), reason) for name in names}
    n, k, ms = len(complete), len(complete[0]), mean_squares(complete)
    between = (ms.columns - ms.error) / n
    parts = [
        (ms.rows - ms.within, ms.rows + (k - 1) * ms.within),
        (ms.rows - ms.error, ms.rows + (k - 1) * ms.error + k * between),
        (ms.rows - ms.error, ms.rows + (k - 1) * ms.error),
        (ms.rows - ms.within, ms.rows),
        (ms.rows - ms.error, ms.rows + between),
        (ms.rows - ms.error, ms.rows),
    ]
    scale = ms.rows + ms.within
    ratios = [_ratio(top, bottom, scale, n) for top, bottom in parts]
    return dict(zip(names, ratios, strict=True))


def clustered_intervals(clusters: Sequence[Scores], level: float = 0.95) -> dict[str, Interval]:
    """Return the intervals of "alpha" and of each ICC over clusters of items, such as subjects.

    The jackknife's (jackknife.py names its source), with each cluster left out in turn, cut off at
    1; docs/statistics.md has how often it covers. Hughes (arXiv 2210.13265, 2022) has a jackknife
    over units, of another estimator of alpha. The F intervals of an ICC (McGraw and Wong 1996) take
    the items of a cluster for independent. Undefined where the coefficient is, over all or without
    a cluster.
    """
    over_all = _coefficients(clusters)
    left_out = [_coefficients([*clusters[:i], *clusters[i + 1 :]]) for i in range(len(clusters))]
    return {
        name: _jackknifed(found, [without[name] for without in left_out], level)
        for name, found in over_all.items()
    }


def _coefficients(clusters: Sequence[Scores]) -> dict[str, Value]:
    scores = [row for cluster in clusters for row in cluster]
    return {"alpha": alpha(scores), **icc(scores)}


def _jackknifed(found: Value, left_out: Sequence[Value], level: float) -> Interval:
    if found.value is None:
        return Interval(None, None, level, found.reason)
    values = [without.value for without in left_out if without.value is not None]
    if len(values) < len(left_out):
        return Interval(None, None, level, "undefined where one cluster is left out")
    interval = jackknife_interval(found.value, values, level)
    if interval.low is None or interval.high is None:
        return interval
    return Interval(interval.low, min(1.0, interval.high), level)


def mean_squares(complete: Sequence[Sequence[float]]) -> MeanSquares:
    """Return the mean squares of at least two items by at least two judges, none missing.

    Shrout and Fleiss 1979, table 2: BMS, JMS, EMS and WMS.
    """
    n, k = len(complete), len(complete[0])
    items = [mean(row) for row in complete]
    judges = [mean(column) for column in zip(*complete, strict=True)]
    grand = mean([score for row in complete for score in row])
    left = math.fsum(
        (score - item - judge + grand) ** 2
        for row, item in zip(complete, items, strict=True)
        for score, judge in zip(row, judges, strict=True)
    )
    return MeanSquares(
        rows=k * math.fsum((item - grand) ** 2 for item in items) / (n - 1),
        columns=n * math.fsum((judge - grand) ** 2 for judge in judges) / (k - 1),
        error=left / ((n - 1) * (k - 1)),
        within=math.fsum(squares(row) for row in complete) / (n * (k - 1)),
    )


def _present(scores: Scores) -> list[list[float]]:
    return [
        numbers([score for score in row if score is not None], f"scores[{place}]")
        for place, row in enumerate(scores)
    ]


def _mean_over_items(scores: Scores, spread: Callable[[list[float]], float]) -> Value:
    spreads = [spread(row) for row in _present(scores) if len(row) > 1]
    if not spreads:
        return Value(None, 0, "no item has two scores")
    return Value(mean(spreads), len(spreads))


def _mean_distance(row: list[float], centre: float) -> float:
    return mean([abs(score - centre) for score in row])


def _no_icc(complete: list[list[float]]) -> str | None:
    if len(complete) < 2:
        return "fewer than two complete items"
    if len(complete[0]) < 2:
        return "fewer than two judges"
    return "all scores are equal" if constant([s for row in complete for s in row]) else None


def _ratio(top: float, bottom: float, scale: float, n: int) -> Value:
    if abs(bottom) <= NEGLIGIBLE * scale:
        return Value(None, n, "the denominator is zero: items do not differ")
    return Value(top / bottom, n)
