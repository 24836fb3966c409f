"""What printed counts, shares and parts come to."""

from __future__ import annotations

import math
from fractions import Fraction

from harness.audit.claims import Arithmetic, Granularity, Interval, MeanOf
from harness.audit.finding import Outcome, Reading, Verdict, decide, joined
from harness.audit.printed import Printed, Span, point, shown
from harness.stats.proportions import clopper_pearson, wald, wilson

METHODS = {"Wilson": wilson, "Wald": wald, "Clopper-Pearson": clopper_pearson}
LARGEST_NEEDED = 100_000


def granularity(claim: Granularity) -> Outcome:
    """Ask whether a count out of n can give a percentage, or a sum of whole numbers a mean (GRIM).

    Brown and Heathers 2017: the printed value must be a multiple of 1 / n, rounded.
    """
    step = Fraction(100 if claim.percent else 1, claim.n)
    span, places = claim.published.span, claim.published.places
    first, last = math.ceil(span.low / step), math.floor(span.high / step)
    if first <= last and not (claim.percent and (last < 0 or first > claim.n)):
        which = str(first) if first == last else f"{first} to {last}"
        return Outcome("reproduced", f"{which} of {claim.n}", "possible")
    near = [k for k in (last, first) if k >= 0 and not (claim.percent and k > claim.n)]
    words = "; ".join(f"{k} of {claim.n} is {shown(k * step, places)}" for k in near)
    return Outcome("contradicted", words, f"no count of {claim.n} gives it")


def mean_of(claim: MeanOf) -> Outcome:
    """Average printed parts, over their rounding; percentages of n only where a count gives them.

    The mean of sums is the sum of means, so its bounds are the means of the parts' bounds.
    """
    spans = [_counted(part, claim.shares_of) for part in claim.parts]
    low, high, middle = (
        sum(map(Fraction, ends), Fraction(0)) / len(spans)
        for ends in zip(*((span.low, span.high, span.middle or 0) for span in spans), strict=True)
    )
    return decide(claim.published, [Reading(Span(low, high, middle))], f"of {len(spans)} parts")


def interval(claim: Interval) -> Outcome:
    """Give the confidence interval of k of n, or half its width (harness.stats.proportions).

    Wilson 1927, the normal approximation (Wald), Clopper and Pearson 1934 (exact). Where the
    source names no method each is a convention.
    """
    printed = claim.published if isinstance(claim.published, list) else [claim.published]
    methods = [claim.method] if claim.method else list(METHODS)
    found = {method: _figures(claim, method, claim.k, claim.n) for method in methods}
    fitting = [m for m in methods if all(map(Printed.allows, printed, map(point, found[m])))]
    words = {m: " to ".join(shown(end, printed[0].places) for end in found[m]) for m in methods}
    chosen = (fitting or methods)[0]
    others = ", ".join(f"{words[m]} with {m}" for m in methods if m not in (chosen, *fitting))
    only = f"{'only ' if fitting and not claim.method else ''}with {chosen}"
    why = joined(
        only,
        f"otherwise {others}" if others else "",
        f"{claim.k} of {claim.n}, level {claim.level:g}",
        "" if fitting else _needed(claim),
    )
    plain: Verdict = "reproduced" if claim.method else "reproduced*"
    return Outcome(plain if fitting else "contradicted", words[chosen], why)


def arithmetic(claim: Arithmetic) -> Outcome:
    """Compute an expression of printed counts in whole numbers and exact fractions."""
    found = claim.expression
    return decide(claim.published, [Reading(point(found.value))], f"= {found.text}")


def _counted(part: Printed, n: int | None) -> Span:
    """Give what a part stands for; of shares of n only those that a count gives."""
    if n is None:
        return part.span
    step = Fraction(100, n)
    first, last = math.ceil(part.span.low / step), math.floor(part.span.high / step)
    return Span(first * step, last * step, part.value) if first <= last else part.span


def _figures(claim: Interval, method: str, k: int, n: int) -> list[float]:
    """Give the two ends, or only the half-width, in the units of the claim."""
    found, scale = METHODS[method](k, n, claim.level), 100 if claim.percent else 1
    if isinstance(claim.published, list):
        return [scale * (end or 0.0) for end in (found.low, found.high)]
    return [scale * (found.half_width or 0.0)]


def _needed(claim: Interval) -> str:
    """Say how many observations the printed half-width needs, at the same share, by Wilson."""
    if isinstance(claim.published, list):
        return ""
    for n in range(claim.n, LARGEST_NEEDED):
        k = round(claim.k * n / claim.n)
        if _figures(claim, "Wilson", k, n)[0] <= claim.published.value:
            return f"{claim.published.text} needs n = {n} (Wilson)"
    return ""
