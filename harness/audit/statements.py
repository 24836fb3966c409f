"""What a source says in words: a label, a direction, the same figure again."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from harness.audit.claim import Claim
from harness.audit.fields import Coefficient, Figure, Text
from harness.audit.printed import Rounding, point, printed
from harness.audit.verdicts import CheckOutcome, ClaimVerdict, unchecked


class LabelRuleClaim(Claim):
    """A label of a value. above: what each label's value exceeds; otherwise: the label below."""

    check: Literal["label_rule"]
    published: Text
    value: Figure
    above: dict[Text, Figure] = {}
    otherwise: str = ""

    @model_validator(mode="after")
    def _every_value_has_a_label(self) -> LabelRuleClaim:
        if bool(self.above) != bool(self.otherwise):
            raise ValueError("above and otherwise go together")
        return self


class DirectionClaim(Claim):
    """A sentence on how x goes with y. published: its words.

    reads_as: whether it says that more of x goes with more ("positive") or less ("negative") of y.
    x, y: what the sentence names. higher_x, higher_y: whether a higher value of the variable that
    was correlated means more of it, or less.
    """

    check: Literal["direction"]
    published: Text
    reads_as: Literal["positive", "negative"]
    coefficient: Coefficient
    x: Text
    y: Text
    higher_x: Literal["more", "less"] = "more"
    higher_y: Literal["more", "less"] = "more"


class RestatedClaim(Claim):
    """A figure that is printed elsewhere too. elsewhere: by place."""

    check: Literal["restated"]
    published: Text
    elsewhere: dict[Text, Text] = Field(min_length=1)


def label_rule(claim: LabelRuleClaim) -> CheckOutcome:
    """Derive the label of a value by the source's own thresholds, over the value's rounding."""
    if not claim.above:
        return unchecked("no rule for the labels is stated")
    rule = sorted(claim.above.items(), key=lambda entry: entry[1].value, reverse=True)
    labels = {
        rounding: {
            next((label for label, bound in rule if value > bound.value), claim.otherwise)
            for value in claim.value.span_under(rounding).ends
        }
        for rounding in Rounding
    }
    roundings = frozenset(
        rounding for rounding, allowed in labels.items() if claim.published in allowed
    )
    words = ", ".join(f"{label} above {bound.text}" for label, bound in rule)
    reason = f"by the rule: {words}, else {claim.otherwise}"
    verdict: ClaimVerdict = "contradicted"
    if roundings:
        nearest, sure = Rounding.NEAREST in roundings, len(labels[Rounding.NEAREST]) == 1
        verdict = ("reproduced" if sure else "possible") if nearest else "reproduced*"
        reason = reason if nearest else f"only if {Rounding.CUT_OFF}; {reason}"
    return CheckOutcome(verdict, " or ".join(sorted(labels[Rounding.NEAREST])), reason, roundings)


def direction(claim: DirectionClaim) -> CheckOutcome:
    """Compare the sign of a coefficient with what a sentence says of its two variables."""
    low, high = claim.coefficient.span.ends
    if low <= 0 <= high:
        return unchecked(f"a direction: {claim.coefficient.text} has none")
    turned = (claim.higher_x == "less") != (claim.higher_y == "less")
    sign = "positive" if (low > 0) != turned else "negative"
    goes = "more" if sign == "positive" else "less"
    reason = f"{claim.coefficient.text} says: the more {claim.x}, the {goes} {claim.y}"
    if claim.reads_as == sign:
        return CheckOutcome("reproduced", sign, reason)
    return CheckOutcome("contradicted", sign, f"read as {claim.reads_as}; {reason}")


def restated(claim: RestatedClaim) -> CheckOutcome:
    """Compare what is printed for one quantity at several places: figures within their rounding.

    What agrees is only possible: nothing was recomputed.
    """
    differing = [
        f"{text} ({place})"
        for place, text in claim.elsewhere.items()
        if not _same(claim.published, text)
    ]
    every = "; ".join(claim.elsewhere.values())
    if differing:
        return CheckOutcome(
            "contradicted", every, f"{claim.published} here, {', '.join(differing)}"
        )
    return CheckOutcome("possible", every, f"the same: {', '.join(claim.elsewhere)}")


def _same(text: str, second: str) -> bool:
    """Tell whether the coarser of two figures can be the finer one, rounded; texts by letters."""
    try:
        coarse, fine = sorted((printed(text), printed(second)), key=lambda figure: figure.places)
    except ValueError:
        return text.casefold() == second.casefold()
    values = fine.span if fine.bound else point(fine.value)
    return any(coarse.allows(values, rounding) for rounding in Rounding)
