"""What becomes of a claim: a verdict, what was recomputed, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from harness.audit.printed import Printed, Span, point, span_shown

Verdict = Literal["reproduced", "reproduced*", "contradicted", "not checkable"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "reproduced*", "contradicted", "not checkable")


@dataclass(frozen=True)
class Outcome:
    """What a check says of one claim."""

    verdict: Verdict
    recomputed: str
    why: str


class Reading(NamedTuple):
    """What a figure comes to, plainly or under a named convention.

    span: over the rounding of the inputs. words: to show instead of it.
    """

    span: Span
    convention: str = ""
    words: str = ""

    def shown(self, places: int) -> str:
        """Write the reading."""
        return self.words or span_shown(self.span, places)

    def named(self, places: int) -> str:
        """Write the reading with its convention."""
        with_what = f" with {self.convention}" if self.convention else ""
        return self.shown(places) + with_what

    def rounding(self, published: Printed) -> str:
        """Write the span where it matters: the middle alone would not have been printed so."""
        low, high, middle = self.span
        if middle is None or low == high or published.allows(point(middle)):
            return ""
        ends = span_shown(Span(low, high), published.places)
        return f"{ends} over the rounding of the inputs"


def decide(published: Printed, readings: Sequence[Reading], why: str = "") -> Outcome:
    """Compare a printed number with what it should be, under one reading after the other.

    `reproduced` where a plain reading could have been printed so, `reproduced*` where only a named
    convention gives it, `contradicted` where none does.
    """
    ordered, places = sorted(readings, key=lambda each: bool(each.convention)), published.places
    fitting = [each for each in ordered if published.allows(each.span)]
    chosen = (fitting or ordered)[0]
    others = [each.named(places) for each in ordered if each not in fitting and each != chosen]
    plainly = bool(fitting) and not chosen.convention
    only = f"{'only ' if fitting else ''}with {chosen.convention}" if chosen.convention else ""
    otherwise = f"otherwise {', '.join(others)}" if others and not plainly else ""
    return Outcome(
        _verdict(fitting),
        chosen.shown(places),
        joined(only, otherwise, why, chosen.rounding(published)),
    )


def _verdict(fitting: Sequence[Reading]) -> Verdict:
    if not fitting:
        return "contradicted"
    return "reproduced*" if fitting[0].convention else "reproduced"


def unchecked(missing: str, recomputed: str = "") -> Outcome:
    """Say that a claim cannot be checked, and what is missing."""
    return Outcome("not checkable", recomputed, missing)


def under(assuming: str, outcome: Outcome) -> Outcome:
    """Weaken an outcome to what it says if something is assumed that the source does not state."""
    if not assuming or outcome.verdict == "not checkable":
        return outcome
    if outcome.verdict == "contradicted":
        why = joined(f"it does not hold if {assuming}; that is not stated", outcome.why)
        return replace(outcome, verdict="not checkable", why=why)
    return replace(outcome, verdict="reproduced*", why=joined(f"only if {assuming}", outcome.why))


def joined(*parts: str) -> str:
    """Join what there is to say."""
    return "; ".join(part for part in parts if part)
