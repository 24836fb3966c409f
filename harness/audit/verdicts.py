"""What becomes of a claim: a verdict, what was recomputed, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple

from harness.audit.printed import Printed, Rounding, Span, half_named, point, span_shown

ClaimVerdict = Literal[
    "reproduced",
    "possible",
    "reproduced*",
    "other source differs",
    "contradicted",
    "not checkable",
]
VERDICTS: tuple[ClaimVerdict, ...] = (
    "reproduced",
    "possible",
    "reproduced*",
    "other source differs",
    "contradicted",
    "not checkable",
)
MOST_NAMED = 3
EVERY_ROUNDING = frozenset(Rounding)


@dataclass(frozen=True)
class CheckOutcome:
    """What a check says of one claim.

    roundings: the ways of rounding under which the claim is not contradicted.
    """

    verdict: ClaimVerdict
    recomputed: str
    why: str
    roundings: frozenset[Rounding] = EVERY_ROUNDING


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
        suffix = f" with {self.convention}" if self.convention else ""
        return self.shown(places) + suffix

    @property
    def middle(self) -> Span:
        """Return the value of inputs taken as they stand, or else all values."""
        return self.span if self.span.middle is None else point(self.span.middle)


ReadingsOf = Callable[[Rounding], Sequence[Reading]]


class Match(NamedTuple):
    """A reading that could have been printed so; needs_span: only over the rounding of inputs."""

    reading: Reading
    rounding: Rounding
    needs_span: bool

    @property
    def verdict(self) -> ClaimVerdict:
        """Return the verdict that this reading alone supports."""
        if self.reading.convention or self.rounding is Rounding.CUT_OFF:
            return "reproduced*"
        return "possible" if self.needs_span else "reproduced"

    @property
    def order(self) -> tuple[bool, bool, bool]:
        """Return what sorts the plainest reading first."""
        return self.rounding is Rounding.CUT_OFF, bool(self.reading.convention), self.needs_span


def decide(published: Printed, readings: ReadingsOf, remark: str = "") -> CheckOutcome:
    """Compare a printed number with what it should be, under one reading after the other.

    readings: of inputs that are rounded one way; published is held to be rounded the same way.
    `reproduced` where the inputs as they stand give it, `possible` where they do over their
    rounding, `reproduced*` where only a named convention does, `contradicted` where none does.
    """
    by_rounding = {rounding: readings(rounding) for rounding in Rounding}
    matches = sorted(
        (
            match
            for rounding, tried in by_rounding.items()
            for reading in tried
            if (match := _match(published, reading, rounding)) is not None
        ),
        key=lambda match: match.order,
    )
    nearest = sorted(by_rounding[Rounding.NEAREST], key=lambda reading: bool(reading.convention))
    if not matches:
        return _no_match(published, nearest, remark)
    roundings = frozenset(match.rounding for match in matches)
    return replace(_of_match(published, matches[0], nearest, remark), roundings=roundings)


def plainly(*readings: Reading) -> ReadingsOf:
    """Return the same readings whatever way figures are rounded: for inputs that are exact."""
    return lambda _rounding: readings


def possible(outcome: CheckOutcome) -> CheckOutcome:
    """Weaken `reproduced` to `possible`: nothing came out, it only can be."""
    return replace(outcome, verdict="possible") if outcome.verdict == "reproduced" else outcome


def unchecked(missing: str, recomputed: str = "") -> CheckOutcome:
    """Say that a claim cannot be checked, and what is missing."""
    return CheckOutcome("not checkable", recomputed, missing)


def doubtful(outcome: CheckOutcome, doubt: str) -> CheckOutcome:
    """Turn `contradicted` into `not checkable`, for something not stated that could explain it."""
    if outcome.verdict != "contradicted":
        return outcome
    return CheckOutcome("not checkable", outcome.recomputed, joined(doubt, outcome.why))


def under(assuming: str, outcome: CheckOutcome) -> CheckOutcome:
    """Weaken an outcome to what it says if something is assumed that the source does not state."""
    if not assuming or outcome.verdict == "not checkable":
        return outcome
    if outcome.verdict in ("contradicted", "other source differs"):
        reason = joined(f"it does not hold if {assuming}; that is not stated", outcome.why)
        return replace(outcome, verdict="not checkable", why=reason, roundings=EVERY_ROUNDING)
    return replace(outcome, verdict="reproduced*", why=joined(f"only if {assuming}", outcome.why))


def against(other_source: str, outcome: CheckOutcome) -> CheckOutcome:
    """Name the other document where the figure was compared with one that is not the source."""
    if not other_source or outcome.verdict == "not checkable":
        return outcome
    if outcome.verdict == "contradicted":
        reason = joined(f"differs from {other_source}", outcome.why)
        return replace(
            outcome, verdict="other source differs", why=reason, roundings=EVERY_ROUNDING
        )
    return replace(possible(outcome), why=joined(f"as in {other_source}", outcome.why))


def joined(*clauses: str) -> str:
    """Join what there is to say."""
    return "; ".join(clause for clause in clauses if clause)


def _match(published: Printed, reading: Reading, rounding: Rounding) -> Match | None:
    if published.allows(reading.middle, rounding):
        return Match(reading, rounding, needs_span=False)
    if published.allows(reading.span, rounding):
        return Match(reading, rounding, needs_span=True)
    return None


def _no_match(published: Printed, readings: Sequence[Reading], remark: str) -> CheckOutcome:
    if not readings:
        return CheckOutcome("contradicted", "", remark, frozenset())
    first, *alternatives = readings
    name = f"with {first.convention}" if first.convention else ""
    otherwise = _otherwise(alternatives, published.places)
    over = ""
    if first.span.middle is not None and first.span.low != first.span.high and not first.words:
        ends = span_shown(Span(*first.span.ends), published.places)
        over = f"{ends} over the rounding of the inputs"
    return CheckOutcome(
        "contradicted",
        first.shown(published.places),
        joined(name, otherwise, remark, over),
        frozenset(),
    )


def _of_match(
    published: Printed, match: Match, nearest: Sequence[Reading], remark: str
) -> CheckOutcome:
    reading, places = match.reading, published.places
    conventions = [str(match.rounding)] if match.rounding is Rounding.CUT_OFF else []
    conventions += [reading.convention] if reading.convention else []
    only = f"only {'with' if reading.convention else 'if'} {', '.join(conventions)}"
    failing = [
        reading_tried
        for reading_tried in nearest
        if not _match(published, reading_tried, Rounding.NEAREST)
    ]
    otherwise = _otherwise(failing, places) if conventions else ""
    over, half = "", ""
    if match.needs_span:
        over = f"{span_shown(Span(*reading.span.ends), places)} over the rounding of the inputs"
    if isinstance(reading.span.middle, Fraction) and match.rounding is Rounding.NEAREST:
        half = half_named(published, reading.span.middle)
    return CheckOutcome(
        match.verdict,
        reading.shown(places),
        joined(
            only if conventions else "", otherwise, remark, over, f"rounded {half}" if half else ""
        ),
    )


def _otherwise(readings: Sequence[Reading], places: int) -> str:
    """Name the readings with the fewest conventions, and count the others."""
    plainest = sorted(readings, key=lambda reading: reading.convention.count(" and "))
    words = [reading.named(places) for reading in plainest[:MOST_NAMED]]
    unnamed = len(readings) - len(words)
    return (
        f"otherwise {', '.join(words)}{f' and {unnamed} more' if unnamed else ''}" if words else ""
    )
