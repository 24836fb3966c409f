"""Intervals and standard errors of a share: k of n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, PlainValidator, model_validator

from harness.audit.claim import Claim
from harness.audit.fields import Count, Figure, Number, number_or_pair
from harness.audit.printed import Printed, Rounding, point, reach, shown
from harness.audit.verdicts import CheckOutcome, ClaimVerdict, Reading, decide, joined
from harness.results import Interval
from harness.stats.distributions import normal_quantile
from harness.stats.proportions import (
    agresti_coull,
    clopper_pearson,
    jeffreys,
    wald,
    wilson,
    wilson_corrected,
)


def wald_uncut(k: int, n: int, level: float) -> Interval:
    """Return the Wald interval as it comes, beyond 0 and 1 too, as many papers print it."""
    reach = normal_quantile(0.5 + level / 2) * math.sqrt(k * (n - k) / n) / n
    return Interval(k / n - reach, k / n + reach, level)


UNCUT = "Wald, not cut to 0 to 1"
METHODS = {
    "Wilson": wilson,
    "Wald": wald,
    UNCUT: wald_uncut,
    "Clopper-Pearson": clopper_pearson,
    "Agresti-Coull": agresti_coull,
    "Jeffreys": jeffreys,
    "prop.test": wilson_corrected,
}
METHOD = Literal["Wilson", "Wald", "Clopper-Pearson", "Agresti-Coull", "Jeffreys", "prop.test"]
LARGEST_NEEDED = 100_000


class IntervalClaim(Claim):
    """The interval of k of n, or its half-width. method: only where the source states it.

    "prop.test" is R's: Wilson's with continuity correction.
    """

    check: Literal["interval"]
    published: Annotated[Printed | list[Printed], PlainValidator(number_or_pair)]
    k: Annotated[int, Field(ge=0, strict=True)]
    n: Count
    level: float = Field(default=0.95, gt=0, lt=1)
    method: METHOD | None = None
    percent: bool = False

    @model_validator(mode="after")
    def _is_a_share(self) -> IntervalClaim:
        if self.k > self.n:
            raise ValueError(f"k: {self.k} is more than n, {self.n}")
        return self


class StandardErrorClaim(Claim):
    """The standard error of a printed share of n, or the half-width of its Wald interval.

    level: of the half-width; without it the standard error is meant. percent: share and published
    are percentages.
    """

    check: Literal["standard_error"]
    published: Number
    share: Figure
    n: Count
    level: float | None = Field(default=None, gt=0, lt=1)
    percent: bool = False

    @model_validator(mode="after")
    def _is_a_share(self) -> StandardErrorClaim:
        scale = 100 if self.percent else 1
        if not 0 <= self.share.value <= scale:
            raise ValueError(f"share: {self.share.text} is not from 0 to {scale}")
        return self


def interval(claim: IntervalClaim) -> CheckOutcome:
    """Compute the confidence interval of k of n, or half its width (harness.stats.proportions).

    Wilson 1927, the normal approximation (Wald), Clopper and Pearson 1934 (exact), Agresti and
    Coull 1998, Jeffreys (Brown, Cai and DasGupta 2001), R's prop.test (Newcombe 1998, method 4).
    Where the source names no method each is a convention.
    """
    ends = claim.published if isinstance(claim.published, list) else [claim.published]
    methods = [m for m in METHODS if claim.method is None or m.startswith(claim.method)]
    figures = {method: _figures(claim, method, claim.k, claim.n) for method in methods}
    for rounding in Rounding:
        fitting = [
            method
            for method in methods
            if all(
                end.allows(point(x), rounding) for end, x in zip(ends, figures[method], strict=True)
            )
        ]
        if fitting:
            break
    words = {m: " to ".join(shown(x, ends[0].places) for x in figures[m]) for m in methods}
    chosen = (fitting or methods)[0]
    otherwise = ", ".join(
        f"{words[m]} with {m}" for m in methods if m not in (chosen, UNCUT, *fitting)
    )
    cut_off = "cut off" if fitting and rounding is Rounding.CUT_OFF else ""
    plain: ClaimVerdict = "reproduced" if claim.method and not cut_off else "reproduced*"
    return CheckOutcome(
        plain if fitting else "contradicted",
        words[chosen],
        joined(
            f"{'only ' if fitting and not claim.method else ''}with {chosen}",
            cut_off and f"only if {cut_off}",
            f"otherwise {otherwise}" if otherwise else "",
            f"{claim.k} of {claim.n}, level {claim.level:g}",
            "" if fitting else _needed(claim),
        ),
        frozenset({rounding}) if cut_off else frozenset(Rounding if fitting else ()),
    )


def standard_error(claim: StandardErrorClaim) -> CheckOutcome:
    """Compute sqrt(p (1 - p) / n) of a share (Miller, arXiv 2411.00640, section 2), or z times it.

    With n - 1 in the place of n it is the standard error of a mean of n zeros and ones, as most
    libraries compute it: a named convention.
    """
    z = 1.0 if claim.level is None else normal_quantile(0.5 + claim.level / 2)
    scale = 100 if claim.percent else 1

    def of(share: float, n: int) -> float:
        return scale * z * math.sqrt(share * (1 - share) / n)

    def readings(rounding: Rounding) -> list[Reading]:
        middle = float(claim.share.value) / scale
        low, high = (
            min(1.0, max(0.0, float(end) / scale)) for end in claim.share.span_under(rounding).ends
        )
        shares = [low, high, *([0.5] if low < 0.5 < high else [])]
        spans = [
            (name, reach([of(share, n) for share in shares], of(middle, n)))
            for name, n in (("", claim.n), ("n - 1", claim.n - 1))
            if n > 0
        ]
        return [Reading(span, name) for name, span in spans if span is not None]

    level = "" if claim.level is None else f", level {claim.level:g}"
    return decide(claim.published, readings, f"{claim.share.text} of n = {claim.n}{level}")


def _printed_so(ends: Sequence[Printed], values: Sequence[float], rounding: Rounding) -> bool:
    return all(e.allows(point(x), rounding) for e, x in zip(ends, values, strict=True))


def _figures(claim: IntervalClaim, method: str, k: int, n: int) -> list[float]:
    """Return the two ends, or only the half-width, in the units of the claim."""
    ends, scale = METHODS[method](k, n, claim.level), 100 if claim.percent else 1
    if isinstance(claim.published, list):
        return [scale * (end or 0.0) for end in (ends.low, ends.high)]
    return [scale * (ends.half_width or 0.0)]


def _needed(claim: IntervalClaim) -> str:
    """Say how many observations the printed half-width needs, at the same share, by Wilson."""
    if isinstance(claim.published, list):
        return ""
    for n in range(claim.n, LARGEST_NEEDED):
        k = round(claim.k * n / claim.n)
        if _figures(claim, "Wilson", k, n)[0] <= claim.published.value:
            return f"{claim.published.text} needs n = {n} (Wilson)"
    return ""
