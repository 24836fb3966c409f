"""Variances and deviations of ratings: which are possible, and which go together."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from harness.audit.claims import DispersionLabel, DispersionPair, MomentBound
from harness.audit.dataset import Dataset
from harness.audit.finding import Outcome, Reading, decide, joined, unchecked
from harness.audit.printed import Span, point, shown
from harness.audit.selection import grouped
from harness.stats.agreement import mean_sd, mean_variance

NAMES = {"variance": "mean variance", "sd": "mean standard deviation"}
BOTH = {"variance": "sd", "sd": "variance"}


class Center(NamedTuple):
    """Where deviations are from: lower m^2 <= variance <= upper m R, and m at most `most` R."""

    convention: str
    lower: Fraction
    upper: Fraction
    most: Fraction


CENTERS = (
    Center("", Fraction(9, 8), Fraction(1, 2), Fraction(4, 9)),
    Center("deviations from the median", Fraction(3, 2), Fraction(2, 3), Fraction(1, 3)),
)


def moment_bound(claim: MomentBound) -> Outcome:
    """Ask whether ratings on a scale, with means in a range, can have so large a variance.

    A variance is convex, so n ratings with a given sum spread most where all but one are at an end
    of the scale. Without n the most is (high - mean)(mean - low) (Bhatia and Davis 2000), which
    ddof 1 doubles, for two raters. A mean of variances is no larger than the largest.
    """
    readings = _bounds("variance", claim)
    outcome = decide(claim.published, readings, "" if claim.raters else "any number of raters")
    if outcome.verdict != "contradicted":
        return replace(outcome, why=joined("possible", outcome.why))
    as_sd = _bounds("sd", claim)
    if decide(claim.published, as_sd).verdict == "contradicted":
        return outcome
    words = ", ".join(reading.named(claim.published.places) for reading in as_sd)
    return replace(outcome, why=joined(outcome.why, f"as a standard deviation possible: {words}"))


def dispersion_pair(claim: DispersionPair) -> Outcome:
    """Ask whether three ratings can have this mean variance beside this mean absolute deviation.

    Let m be an item's deviation and R the scale's range. From the mean, m is 2/3 of the largest
    distance, and 9/8 m^2 <= variance <= 1/2 m R. From the median, m is 1/3 of the item's range, and
    3/2 m^2 <= variance <= 2/3 m R. Both hold for means over items too, since the lower bound is
    convex and the upper linear in m. With ddof 1 all is half as much again.
    """
    readings = [_beside(claim, center, ddof) for center in CENTERS for ddof in (0, 1)]
    known = [reading for reading in readings if reading is not None]
    if not known:
        return Outcome("contradicted", "", f"no three ratings deviate by {claim.deviation.text}")
    return decide(claim.published, known, f"beside a mean deviation of {claim.deviation.text}")


def dispersion_label(claim: DispersionLabel, dataset: Dataset | None) -> Outcome:
    """Tell a mean variance from a mean standard deviation, by the ratings, or by their scale.

    By the ratings: means over items, as harness.stats.agreement has them. By the scale only a
    figure too large for its label can be told (Popoviciu 1935).
    """
    if claim.columns and dataset is not None:
        ratings = grouped(dataset, claim, claim.columns[0])
        scores = [[cell.value for cell in cells] for cells in ratings.values()]
        if all(len(row) < 2 for row in scores):
            return unchecked("the data have fewer than two ratings of each item")
        return _told_apart(claim, {label: _spreads(label, scores, claim.ddof) for label in NAMES})
    known = {label: _bounds(label, claim) for label in NAMES}
    if decide(claim.published, known[claim.label]).verdict != "contradicted":
        return unchecked("the ratings: by its size alone it can be either")
    return _told_apart(claim, known)


def _told_apart(claim: DispersionLabel, known: dict[str, list[Reading]]) -> Outcome:
    outcome = decide(claim.published, known[claim.label])
    if outcome.verdict != "contradicted":
        return outcome
    places, name = claim.published.places, NAMES[BOTH[claim.label]]
    as_other = [each for each in known[BOTH[claim.label]] if claim.published.allows(each.span)]
    found = f"it is the {name}, {as_other[0].named(places)}" if as_other else f"nor the {name}"
    every = ", ".join(each.named(places) for each in known[claim.label])
    return replace(outcome, why=f"{found}; the {NAMES[claim.label]} is {every}")


def _spreads(label: str, scores: list[list[float]], ddof: int | None) -> list[Reading]:
    spread = mean_variance if label == "variance" else mean_sd
    found = [(d, spread(scores, d).value) for d in ((0, 1) if ddof is None else (ddof,))]
    named = ddof is None
    return [Reading(point(v), f"ddof {d}" if named else "") for d, v in found if v is not None]


def _bounds(label: str, claim: MomentBound | DispersionLabel) -> list[Reading]:
    """Give how large a variance or SD can be, with ddof 0 and with ddof 1."""
    largest, n = _largest_variance(claim), claim.raters or 2
    readings = []
    for name, bound in {"": largest, "ddof 1": largest * n / (n - 1)}.items():
        most = math.sqrt(bound) if label == "sd" else bound
        words = f"at most {shown(most, claim.published.places)}"
        readings.append(Reading(Span(0, most), name, words))
    return readings


def _largest_variance(claim: MomentBound | DispersionLabel) -> Fraction:
    """Give the largest variance (ddof 0) of ratings on a scale whose mean is in a range."""
    mean = claim.mean if isinstance(claim, MomentBound) else None
    low, high = (end.value for end in claim.scale)
    first, last = (end.value for end in mean or claim.scale)
    if claim.raters is None:
        nearest = min(max((low + high) / 2, first), last)
        return (high - nearest) * (nearest - low)
    n, scale = claim.raters, high - low
    shares = [(mean - low) / scale for mean in (first, last)]
    turns = [math.ceil(shares[0] * n), math.floor(shares[1] * n)]
    if turns[0] <= turns[1]:  # with k ratings at the top most spread where k is nearest to n / 2
        shares.append(Fraction(min(max(n // 2, turns[0]), turns[1]), n))
    return max(_spread_out(share, n) for share in shares) * scale**2


def _spread_out(mean: Fraction, n: int) -> Fraction:
    """Give the variance of n ratings in [0, 1] of which all but one are 0 or 1."""
    ones = math.floor(mean * n)
    rest = mean * n - ones
    return (ones + rest**2) / n - mean**2


def _beside(claim: DispersionPair, center: Center, ddof: int) -> Reading | None:
    """Give the variances that go with a deviation; None where it is too large for the scale."""
    scale = claim.scale[1].value - claim.scale[0].value
    least, most = (max(Fraction(0), Fraction(end)) for end in claim.deviation.span.ends)
    if least > center.most * scale:
        return None
    correction = Fraction(3, 2) if ddof else Fraction(1)
    low = correction * center.lower * least**2
    high = correction * center.upper * min(most, center.most * scale) * scale
    convention = ", ".join(part for part in (center.convention, "ddof 1" if ddof else "") if part)
    return Reading(Span(low, high), convention)
