"""Figures that stand out in bold or underlined: are they the best, or the second?"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from harness.audit.claim import Claim
from harness.audit.fields import Figure, Text
from harness.audit.verdicts import CheckOutcome

Group = Annotated[list[Figure], Field(min_length=1)]


class MarkedClaim(Claim):
    """A figure that is printed as the best (place 1) or the second (place 2).

    among: the figures that it may be the best of, by what they are: the column, the block between
    two rules, the row. without: the column less the rows at its ends of which no figure is
    marked, which may be references that do not compete. better: whether the table says that
    higher or lower is better, such as by an arrow; without it either may be.
    """

    check: Literal["marked"]
    published: Figure
    place_of: Literal[1, 2] = 1
    among: dict[Text, Group] = Field(min_length=1)
    without: list[Figure] = []
    better: Literal["higher", "lower"] | None = None


def marked(claim: MarkedClaim) -> CheckOutcome:
    """Ask whether a marked figure is the highest or the lowest of any group; ties are ties.

    Where it is so only without rows that may be references, nothing can be said.
    """
    value = claim.published.value
    directions = {"highest": True, "lowest": False}
    if claim.better is not None:
        directions = {"highest": True} if claim.better == "higher" else {"lowest": False}
    values = {name: [figure.value for figure in group] for name, group in claim.among.items()}
    readings = [
        f"the {word} of the {name}"
        for name, group in values.items()
        for word, high in directions.items()
        if _place(value, group, high=high) <= claim.place_of
    ]
    first = next(iter(claim.among.values()))
    ends = sorted(first, key=lambda figure: figure.value)
    nearest = f"{ends[0].text} to {ends[-1].text}"
    if readings:
        return CheckOutcome("possible", nearest, _words(claim.place_of, readings))
    competing = [figure.value for figure in claim.without]
    places = [_place(value, competing, high=high) for high in directions.values()]
    if competing and min(places) <= claim.place_of:
        reason = (
            "only if rows without any mark at the top or bottom are references that do not compete"
        )
        return CheckOutcome("not checkable", nearest, reason)
    word = "best" if claim.place_of == 1 else "second"
    by = " or ".join(directions)
    reason = f"not the {word} ({by}) of the {', the '.join(claim.among)}"
    return CheckOutcome("contradicted", nearest, reason)


def _place(value: Fraction, group: Sequence[Fraction], *, high: bool) -> int:
    """Return the place of a value among the different values of a group."""
    return 1 + len({number for number in group if (number > value if high else number < value)})


def _words(place: int, readings: Sequence[str]) -> str:
    first = readings[0]
    return first if place == 1 else f"second or best as {first.removeprefix('the ')}"
