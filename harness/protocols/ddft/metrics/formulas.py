"""DDFT's metrics of one subject, as arXiv 2512.23850v2, sections 5 to 7, defines them.

Pure functions over plain numbers. A level or a score of None is missing and is left out; a value
that is undefined is None with its reason.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from harness.results import Value

PLACES = 9
# The paper's cuts (sections 5.2 and 7.3); a study may name others.
INCOHERENT_BELOW, FACTUAL_ABOVE = 0.5, 0.2
ROBUST_ABOVE, COMPETENT_ABOVE = 0.60, 0.30


def mean(numbers: Sequence[float]) -> float | None:
    """Return the mean, exactly rounded whatever the order; None of nothing."""
    return math.fsum(numbers) / len(numbers) if numbers else None


def mean_value(numbers: Sequence[float], nothing: str) -> Value:
    """Return the mean with its n; `nothing` is the reason where there is none."""
    return Value(mean(numbers), len(numbers), None if numbers else nothing)


def hoc(curve: Sequence[tuple[float, float | None]], theta: float, rule: str = "max") -> Value:
    """Return the hallucination onset compression of a curve of (c, FAR(c)).

    Equation 1: the largest c with FAR(c) >= theta. rule "onset": the last passing level before
    the first failing one. FAR is compared after rounding to 9 places, so that the order in which
    judges were averaged decides nothing.
    """
    points = sorted((c, far) for c, far in curve if far is not None)
    passing: list[float] = []
    for c, far in points:
        if round(far, PLACES) >= round(theta, PLACES):
            passing.append(c)
        elif rule == "onset":
            break
    if passing:
        return Value(passing[-1], len(points))
    return Value(None, len(points), "no level passes" if points else "no level")


def cri(curve: Sequence[tuple[float, float | None]]) -> Value:
    """Return the comprehension resilience index of a curve of (c, SAS(c)).

    Equation 2: the area under the curve by the trapezoid rule, divided by the span of c.
    """
    points = sorted((c, sas) for c, sas in curve if sas is not None)
    if len(points) < 2:
        return Value(None, len(points), "fewer than two levels")
    pairs = itertools.pairwise(points)
    area = math.fsum((c2 - c1) * (s1 + s2) / 2 for (c1, s1), (c2, s2) in pairs)
    return Value(area / (points[-1][0] - points[0][0]), len(points))


def far_prime(
    responses: Sequence[tuple[float, float]],
    empty: str = "undefined",
    incoherent_below: float = INCOHERENT_BELOW,
) -> Value:
    """Return FAR' of (FAR, SAS) pairs: the mean FAR where SAS is below the cut (section 5.2).

    empty = "zero" gives 0 where there is no such response; it hands the largest CI to a model that
    is never incoherent, so the default leaves it undefined.
    """
    chosen = [far for far, sas in responses if round(sas, PLACES) < incoherent_below]
    if not chosen and empty == "zero":
        return Value(0.0, 0, "empty FAR' taken as zero")
    return mean_value(chosen, "empty FAR'")


def sas_prime(
    responses: Sequence[tuple[float, float]], factual_above: float = FACTUAL_ABOVE
) -> Value:
    """Return SAS' of (FAR, SAS) pairs: the mean SAS where FAR is above the cut (section 5.2)."""
    chosen = [sas for far, sas in responses if round(far, PLACES) > factual_above]
    return mean_value(chosen, "empty SAS'")


def ci_raw(hoc_: Value, cri_: Value, far_: Value, sas_: Value) -> Value:
    """Return the comprehension integrity index, equation 3: HOC x CRI / (FAR' + (1 - SAS')).

    It can exceed 1 by far. Undefined where a part is, or where the denominator is 0.
    """
    parts = (hoc_, cri_, far_, sas_)
    n = far_.n + sas_.n
    if None in [part.value for part in parts]:
        return Value(None, n, _why_undefined(*parts))
    h, r, f, s = (part.value or 0.0 for part in parts)
    denominator = f + (1 - s)
    if round(denominator, PLACES) == 0:
        return Value(None, n, "zero denominator")
    return Value(h * r / denominator, n)


def _why_undefined(hoc_: Value, cri_: Value, far_: Value, sas_: Value) -> str:
    if far_.value is None and sas_.value is None and far_.n == sas_.n == 0:
        return "empty FAR' and SAS'"
    named = (("HOC", hoc_), ("CRI", cri_), ("", far_), ("", sas_))
    reasons = [
        f"{name}: {part.reason}" if name else str(part.reason)
        for name, part in named
        if part.value is None
    ]
    return "; ".join(reasons)


def normalized(raw: Sequence[Value], rule: str) -> list[Value]:
    """Bring raw CI values into [0, 1] across subjects; the paper does not say how.

    clip: min(1, CI). max: divided by the largest. minmax: 0 for the smallest, 1 for the largest,
    undefined where all are equal.
    """
    known = [value.value for value in raw if value.value is not None]
    return [_normal(value, known, rule) for value in raw]


def _normal(value: Value, known: list[float], rule: str) -> Value:
    if value.value is None:
        return value
    low, high = min(known), max(known)
    if rule == "clip":
        return Value(min(1.0, value.value), value.n)
    if rule == "max":
        return Value(value.value / high, value.n) if high > 0 else Value(0.0, value.n)
    if high == low:
        return Value(None, value.n, "all subjects have the same CI")
    return Value((value.value - low) / (high - low), value.n)


def phenotype(
    ci: float | None,
    robust_above: float = ROBUST_ABOVE,
    competent_above: float = COMPETENT_ABOVE,
) -> str | None:
    """Return the phenotype of a normalized CI (section 7.3); None where CI is undefined."""
    if ci is None:
        return None
    rounded = round(ci, PLACES)
    if rounded > robust_above:
        return "Robust"
    return "Competent" if rounded > competent_above else "Brittle"


def danger_zone(
    responses: Sequence[tuple[float, float]], sas_above: float, far_below: float
) -> Value:
    """Return the share of (FAR, SAS) responses that are fluent (SAS >) and wrong (FAR <)."""
    inside = [
        1.0 if round(sas, PLACES) > sas_above and round(far, PLACES) < far_below else 0.0
        for far, sas in responses
    ]
    return mean_value(inside, "no response with both scores")
