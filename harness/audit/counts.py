"""What whole counts can give: percentages, means, and the means of printed figures."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.audit.box import counts_giving, spans_of, total, weighted_mean
from harness.audit.claim import Claim
from harness.audit.fields import Count, Figure, Number
from harness.audit.printed import Printed, Rounding, Span, shown
from harness.audit.verdicts import CheckOutcome, Reading, decide, doubtful

EQUAL = "equal weights (macro)"


class GranularityClaim(Claim):
    """A percentage of n, or a mean of n whole numbers (GRIM).

    samples: how many whole numbers are averaged for each of the n, such as runs a question;
    1 where the source says that each was counted once.
    """

    check: Literal["granularity"]
    published: Figure
    n: Count
    percent: bool = False
    samples: Count | None = None


class MeanOfClaim(Claim):
    """The mean of printed figures. shares_of: they are percentages of so many.

    weights: "equal" where the source says that each counts the same, or the counts to weight by;
    without it any weighted mean may be meant.
    """

    check: Literal["mean_of"]
    published: Number
    parts: list[Figure] = Field(min_length=1)
    shares_of: Count | None = None
    weights: Literal["equal"] | list[Count] | None = None

    @model_validator(mode="after")
    def _a_weight_for_each(self) -> MeanOfClaim:
        if isinstance(self.weights, list) and len(self.weights) != len(self.parts):
            raise ValueError(f"weights: {len(self.weights)}, for {len(self.parts)} parts")
        return self


class SumOfClaim(Claim):
    """The sum of printed figures: a total, or shares such as win + tie + loss that make 100.

    counts: whether whole numbers among them are counts, so that none was rounded.
    """

    check: Literal["sum_of"]
    published: Number
    parts: Annotated[list[Figure], Field(min_length=1)]
    counts: bool = False


def granularity(claim: GranularityClaim) -> CheckOutcome:
    """Ask whether a count out of n can give a percentage, or a sum of whole numbers a mean (GRIM).

    Brown and Heathers 2017: the printed value must be a multiple of 1 / n, rounded; of 1 / (n
    samples) for the mean over several samples each. Where the source does not say that there is
    one sample of each, a value off the lattice of n is not checkable.
    """
    n, scale = claim.n * (claim.samples or 1), 100 if claim.percent else 1
    fitting = {
        rounding: _within(claim, counts_giving(claim.published, n, scale, rounding), n)
        for rounding in Rounding
    }
    roundings = frozenset(rounding for rounding, ks in fitting.items() if ks)
    if fitting[Rounding.NEAREST]:
        return CheckOutcome("possible", _counts(fitting[Rounding.NEAREST], n), "", roundings)
    if roundings:
        words = _counts(fitting[Rounding.CUT_OFF], n)
        return CheckOutcome("reproduced*", words, "only if cut off", roundings)
    off = CheckOutcome("contradicted", _neighbours(claim, n, scale), _no_count(claim, n), roundings)
    outside = claim.percent and not 0 <= claim.published.value <= 100
    if claim.samples is not None or outside:
        return off
    return doubtful(off, "a mean over several samples of each could be it (say samples = 1 if not)")


def mean_of(claim: MeanOfClaim) -> CheckOutcome:
    """Average printed figures, over their rounding; percentages of n only where a count gives them.

    The mean of sums is the sum of means, so its bounds are the means of the bounds. A weighted
    mean lies between the least and the largest: without stated weights what is between them is not
    checkable.
    """

    def readings(rounding: Rounding) -> list[Reading]:
        spans = [_counted(figure, claim.shares_of, rounding) for figure in claim.parts]
        weights = claim.weights if isinstance(claim.weights, list) else [1] * len(spans)
        if isinstance(claim.weights, list):
            equal = Reading(weighted_mean(spans, [1] * len(spans)), EQUAL)
            return [Reading(weighted_mean(spans, weights)), equal]
        return [Reading(weighted_mean(spans, weights))]

    outcome = decide(claim.published, readings, f"of {len(claim.parts)} figures")
    spans = spans_of(claim.parts, Rounding.NEAREST)
    within = Span(min(span.low for span in spans), max(span.high for span in spans))
    if claim.weights is not None or not claim.published.allows(within):
        return outcome
    return doubtful(outcome, "a mean with other weights could be it (say weights)")


def sum_of(claim: SumOfClaim) -> CheckOutcome:
    """Add printed figures, over their rounding."""

    def readings(rounding: Rounding) -> list[Reading]:
        spans = [
            Span(figure.value, figure.value, figure.value)
            if claim.counts and figure.value.denominator == 1
            else figure.span_under(rounding)
            for figure in claim.parts
        ]
        return [Reading(total(spans))]

    return decide(claim.published, readings, f"of {len(claim.parts)} figures")


def _within(claim: GranularityClaim, ks: range, n: int) -> range:
    """Leave out counts that are no share of all."""
    return range(max(ks.start, 0), min(ks.stop, n + 1)) if claim.percent else ks


def _counts(ks: range, n: int) -> str:
    words = str(ks[0]) if len(ks) == 1 else f"{ks[0]} to {ks[-1]}"
    return f"{words} of {n}"


def _neighbours(claim: GranularityClaim, n: int, scale: int) -> str:
    step = Fraction(scale, n)
    below = claim.published.value // step
    near = [k for k in (below, below + 1) if k >= 0 and not (claim.percent and k > n)]
    return "; ".join(f"{k} of {n} is {shown(k * step, claim.published.places)}" for k in near)


def _no_count(claim: GranularityClaim, n: int) -> str:
    samples = f", {claim.samples} samples each" if claim.samples and claim.samples > 1 else ""
    return f"no count of {n} gives it{samples}"


def _counted(figure: Printed, n: int | None, rounding: Rounding) -> Span:
    """Return what a figure stands for; of shares of n only those that a count gives."""
    if n is not None:
        ks = counts_giving(figure, n, 100, rounding)
        if ks:
            return Span(Fraction(100 * ks[0], n), Fraction(100 * ks[-1], n), figure.value)
    return figure.span_under(rounding)
