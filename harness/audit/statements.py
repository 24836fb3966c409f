"""What a source says in words: a label, a direction, the same figure again."""

from __future__ import annotations

from harness.audit.claims import Direction, LabelRule, Restated
from harness.audit.finding import Outcome, Verdict, unchecked
from harness.audit.printed import point, printed


def label_rule(claim: LabelRule) -> Outcome:
    """Give the label of a value by the source's own thresholds, over the value's rounding."""
    if not claim.above:
        return unchecked("no rule for the labels is stated")
    rule = sorted(claim.above.items(), key=lambda entry: entry[1].value, reverse=True)
    labels = {
        next((label for label, bound in rule if value > bound.value), claim.otherwise)
        for value in claim.value.span.ends
    }
    words = ", ".join(f"{label} above {bound.text}" for label, bound in rule)
    verdict: Verdict = "reproduced" if claim.published in labels else "contradicted"
    why = f"by the stated rule: {words}, else {claim.otherwise}"
    return Outcome(verdict, " or ".join(sorted(labels)), why)


def direction(claim: Direction) -> Outcome:
    """Compare the sign of a coefficient with what a sentence says of its two variables."""
    low, high = claim.coefficient.span.ends
    if low <= 0 <= high:
        return unchecked(f"a direction: {claim.coefficient.text} has none")
    turned = (claim.higher_x == "less") != (claim.higher_y == "less")
    found = "positive" if (low > 0) != turned else "negative"
    goes = "more" if found == "positive" else "less"
    why = f"{claim.coefficient.text} says: the more {claim.x}, the {goes} {claim.y}"
    return Outcome("reproduced" if claim.published == found else "contradicted", found, why)


def restated(claim: Restated) -> Outcome:
    """Compare what is printed for one quantity at several places: figures within their rounding."""
    differing = [
        f"{text} ({place})"
        for place, text in claim.elsewhere.items()
        if not _same(claim.published, text)
    ]
    every = "; ".join(claim.elsewhere.values())
    if differing:
        return Outcome("contradicted", every, f"{claim.published} here, {', '.join(differing)}")
    return Outcome("reproduced", every, f"the same: {', '.join(claim.elsewhere)}")


def _same(one: str, other: str) -> bool:
    """Tell whether the coarser of two figures can be the finer one, rounded; texts by letters."""
    try:
        coarse, fine = sorted((printed(one), printed(other)), key=lambda each: each.places)
    except ValueError:
        return one.casefold() == other.casefold()
    return coarse.allows(fine.span if fine.bound else point(fine.value))
