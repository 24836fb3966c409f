"""Variances and deviations of ratings: which are possible, and which go together."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Literal, NamedTuple

from pydantic import model_validator

from harness.audit.claim import Claim
from harness.audit.dataset import Dataset
from harness.audit.fields import UNIT_SCALE, Figure, FromData, Number, Pair, Scale, Several
from harness.audit.printed import Rounding, Span, point, shown
from harness.audit.selection import grouped
from harness.audit.verdicts import (
    CheckOutcome,
    Reading,
    decide,
    joined,
    plainly,
    possible,
    unchecked,
)
from harness.stats.agreement import mean_sd, mean_variance

NAMES = {"variance": "mean variance", "sd": "mean standard deviation"}
BOTH = {"variance": "sd", "sd": "variance"}


class MomentBoundClaim(Claim):
    """A variance of ratings. raters: how many, if stated; mean: the range of their means."""

    check: Literal["moment_bound"]
    published: Number
    raters: Several | None = None
    scale: Scale = UNIT_SCALE
    mean: Pair | None = None

    @model_validator(mode="after")
    def _means_are_on_the_scale(self) -> MomentBoundClaim:
        ends = [end.value for end in (*self.scale, *(self.mean or []))]
        if min(ends) < self.scale[0].value or max(ends) > self.scale[1].value:
            raise ValueError("mean: it is outside the scale")
        return self


class DispersionPairClaim(Claim):
    """A mean variance of three ratings beside their mean absolute deviation."""

    check: Literal["dispersion_pair"]
    published: Number
    deviation: Figure
    scale: Scale = UNIT_SCALE


class DispersionLabelClaim(Claim, FromData):
    """A mean variance or SD, to be told from the other, by the ratings or by their scale.

    columns: the one with the ratings; per: what names an item. raters: how many rate an item.
    """

    check: Literal["dispersion_label"]
    published: Number
    label: Literal["variance", "sd"]
    raters: Several | None = None
    scale: Scale = UNIT_SCALE
    ddof: Literal[0, 1] | None = None

    @model_validator(mode="after")
    def _ratings_have_items(self) -> DispersionLabelClaim:
        if self.columns and not (len(self.columns) == 1 and self.per):
            raise ValueError("give one column of ratings, and per: which columns name an item")
        return self


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


def moment_bound(claim: MomentBoundClaim) -> CheckOutcome:
    """Ask whether ratings on a scale, with means in a range, can have so large a variance.

    A variance is convex, so n ratings with a given sum spread most where all but one are at an end
    of the scale. Without n the most is (high - mean)(mean - low) (Bhatia and Davis 2000), which
    ddof 1 doubles, for two raters. A mean of variances is no larger than the largest.
    """
    reason = "" if claim.raters else "any number of raters"
    outcome = decide(claim.published, plainly(*_bounds("variance", claim)), reason)
    if outcome.verdict != "contradicted":
        return possible(outcome)
    as_sd = _bounds("sd", claim)
    if decide(claim.published, plainly(*as_sd)).verdict == "contradicted":
        return outcome
    words = ", ".join(reading.named(claim.published.places) for reading in as_sd)
    return replace(outcome, why=joined(outcome.why, f"as a standard deviation possible: {words}"))


def dispersion_pair(claim: DispersionPairClaim) -> CheckOutcome:
    """Ask whether three ratings can have this mean variance beside this mean absolute deviation.

    Let m be an item's deviation and R the scale's range. From the mean, m is 2/3 of the largest
    distance, and 9/8 m^2 <= variance <= 1/2 m R. From the median, m is 1/3 of the item's range, and
    3/2 m^2 <= variance <= 2/3 m R. Both hold for means over items too, since the lower bound is
    convex and the upper linear in m. With ddof 1 all is half as much again.
    """

    def readings(rounding: Rounding) -> list[Reading]:
        tried = [_beside(claim, center, ddof, rounding) for center in CENTERS for ddof in (0, 1)]
        return [reading for reading in tried if reading is not None]

    if not readings(Rounding.NEAREST):
        reason = f"no three ratings deviate by {claim.deviation.text}"
        return CheckOutcome("contradicted", "", reason, frozenset())
    reason = f"beside a mean deviation of {claim.deviation.text}"
    return possible(decide(claim.published, readings, reason))


def dispersion_label(claim: DispersionLabelClaim, dataset: Dataset | None) -> CheckOutcome:
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
    bounds = {label: _bounds(label, claim) for label in NAMES}
    if decide(claim.published, plainly(*bounds[claim.label])).verdict != "contradicted":
        return unchecked("the ratings: by its size alone it can be either")
    return _told_apart(claim, bounds)


def _told_apart(claim: DispersionLabelClaim, readings: dict[str, list[Reading]]) -> CheckOutcome:
    outcome = decide(claim.published, plainly(*readings[claim.label]))
    if outcome.verdict != "contradicted":
        return outcome
    places, name = claim.published.places, NAMES[BOTH[claim.label]]
    as_other = [
        reading for reading in readings[BOTH[claim.label]] if claim.published.allows(reading.span)
    ]
    words = f"it is the {name}, {as_other[0].named(places)}" if as_other else f"nor the {name}"
    every = ", ".join(reading.named(places) for reading in readings[claim.label])
    return replace(outcome, why=f"{words}; the {NAMES[claim.label]} is {every}")


def _spreads(label: str, scores: list[list[float]], ddof: int | None) -> list[Reading]:
    spread = mean_variance if label == "variance" else mean_sd
    spreads = [(d, spread(scores, d).value) for d in ((0, 1) if ddof is None else (ddof,))]
    return [
        Reading(point(value), f"ddof {d}" if ddof is None else "")
        for d, value in spreads
        if value is not None
    ]


def _bounds(label: str, claim: MomentBoundClaim | DispersionLabelClaim) -> list[Reading]:
    """Return how large a variance or SD can be, with ddof 0 and with ddof 1."""
    largest, n = _largest_variance(claim), claim.raters or 2
    readings = []
    for name, bound in {"": largest, "ddof 1": largest * n / (n - 1)}.items():
        bound_shown = math.sqrt(bound) if label == "sd" else bound
        words = f"at most {shown(bound_shown, claim.published.places)}"
        readings.append(Reading(Span(0, bound_shown), name, words))
    return readings


def _largest_variance(claim: MomentBoundClaim | DispersionLabelClaim) -> Fraction:
    """Return the largest variance (ddof 0) of ratings on a scale whose mean is in a range."""
    mean = claim.mean if isinstance(claim, MomentBoundClaim) else None
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
    """Return the variance of n ratings in [0, 1] of which all but one are 0 or 1."""
    ones = math.floor(mean * n)
    remainder = mean * n - ones
    return (ones + remainder**2) / n - mean**2


def _beside(
    claim: DispersionPairClaim, center: Center, ddof: int, rounding: Rounding
) -> Reading | None:
    """Return the variances that go with a deviation; None where it is too large for the scale."""
    scale = claim.scale[1].value - claim.scale[0].value
    lowest, highest = (
        max(Fraction(0), Fraction(end)) for end in claim.deviation.span_under(rounding).ends
    )
    if lowest > center.most * scale:
        return None
    correction = Fraction(3, 2) if ddof else Fraction(1)
    low = correction * center.lower * lowest**2
    high = correction * center.upper * min(highest, center.most * scale) * scale
    convention = ", ".join(filter(None, (center.convention, "ddof 1" if ddof else "")))
    return Reading(Span(low, high), convention)
