"""Arithmetic over printed figures."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PlainValidator, model_validator

from harness.audit.claim import Claim
from harness.audit.expression import Expression, expression, range_of
from harness.audit.fields import Figure, Number, Text
from harness.audit.printed import Rounding, Span
from harness.audit.verdicts import CheckOutcome, Reading, decide, doubtful


class ArithmeticClaim(Claim):
    """What an expression of printed figures comes to: + - * / and brackets.

    A figure with decimals stands for its rounding, each time it is written as a figure of its own;
    a whole number is exact. inputs: printed figures by a name, which the expression uses instead;
    each is one quantity and stands for its rounding, whole or not, and all numbers that the
    expression itself holds are exact. counts: whether all whole numbers are counts, so that none
    was rounded.
    """

    check: Literal["arithmetic"]
    published: Number
    expression: Annotated[Expression, PlainValidator(expression)]
    inputs: dict[Annotated[Text, Field(pattern=r"^[A-Za-z_]\w*$")], Figure] = {}
    counts: bool = False

    @model_validator(mode="after")
    def _every_name_is_an_input(self) -> ArithmeticClaim:
        unknown = self.expression.names - self.inputs.keys()
        if unknown:
            raise ValueError(f"expression: {', '.join(sorted(unknown))}: not among the inputs")
        unused = self.inputs.keys() - self.expression.names
        if unused:
            raise ValueError(f"inputs: {', '.join(sorted(unused))}: not in the expression")
        self.expression.exact({name: figure.value for name, figure in self.inputs.items()})
        return self


def arithmetic(claim: ArithmeticClaim) -> CheckOutcome:
    """Compute an expression exactly, over the rounding of its figures.

    A product of whole numbers is one of counts. In any other expression whole numbers may be
    rounded themselves, as in "from 72% to 81%, 10 points": what only then holds is not checkable.
    """
    formula = f"= {claim.expression.text}"
    outcome = decide(claim.published, lambda rounding: [_reading(claim, rounding)], formula)
    if claim.counts or claim.inputs or not claim.expression.may_round_whole_numbers:
        return outcome
    loose = decide(
        claim.published, lambda rounding: [_reading(claim, rounding, whole_rounded=True)]
    )
    if loose.verdict == "contradicted":
        return outcome
    return doubtful(outcome, "it holds only if whole numbers are rounded (say counts or inputs)")


def _reading(claim: ArithmeticClaim, rounding: Rounding, *, whole_rounded: bool = False) -> Reading:
    middle = claim.expression.exact({name: figure.value for name, figure in claim.inputs.items()})
    named = {name: figure.span_under(rounding) for name, figure in claim.inputs.items()}
    spans = range_of(claim.expression, named, rounding, whole_rounded=whole_rounded)
    if spans is None:
        return Reading(Span(-(10**100), 10**100, middle))
    return Reading(Span(spans.low, spans.high, middle))
