"""The form of what a study's numbers show by intervals that cover, as it stands in results.json."""

from __future__ import annotations

import msgspec

from harness.results import Interval, Value


class CorrelationInterval(msgspec.Struct):
    """The interval of a correlation with raw CI; of a flag, of the difference of mean CI instead.

    difference: mean raw CI of the subjects with the flag less that of the others; else null.
    """

    name: str
    interval: Interval
    difference: Value


class MeanIntervals(msgspec.Struct):
    """The mean of a scale over subjects x concepts: over either alone, and over both."""

    scale: str
    mean: Value
    over_subjects: Interval
    over_concepts: Interval
    over_both: Interval


class LevelConfidence(msgspec.Struct):
    """Mean FAR of a subject at a level, clustered by concept, and the confidence that it passes.

    confidence: one-sided, by t, that mean FAR reaches theta. near_theta: whether theta lies within
    its simultaneous interval over the levels, so that the level may pass or fail.
    """

    level: float
    far: Value
    se: Value
    confidence: Value
    near_theta: bool


class CISide(msgspec.Struct):
    """Raw CI if HOC is this level; null where no level passes, with the reason."""

    hoc: float | None
    ci_raw: Interval


class SubjectInference(msgspec.Struct):
    """A subject's levels, raw CI for every HOC that they leave open, and the phenotypes in it.

    fall: of FAR from the lowest level to the highest, clustered by concept; fall_class: "not told
    apart" where the cut lies within its interval.
    """

    subject: str
    levels: list[LevelConfidence]
    sides: list[CISide]
    phenotypes: list[str]
    fall: Value
    fall_interval: Interval
    fall_class: str | None


def interval_of_all_sides(subject: SubjectInference) -> Interval:
    """Return the one interval from the lowest end of a subject's sides to the highest.

    Undefined where there is no side, or one without an interval: there CI may be undefined.
    """
    bounds = [side.ci_raw for side in subject.sides]
    for interval in bounds:
        if interval.low is None:
            return Interval(None, None, reason=interval.reason)
    if not bounds:
        return Interval(None, None, reason="fewer than 4 concepts")
    low = min(interval.low or 0.0 for interval in bounds)
    high = max(interval.high or 0.0 for interval in bounds)
    return Interval(low, high)


class Tested(msgspec.Struct):
    """One of the paper's predictions: supported, contradicted or not shown, by an interval.

    could_show: what this many subjects could show.
    """

    name: str
    estimate: Value
    interval: Interval
    verdict: str
    rule: str
    could_show: str


class AgreementIntervals(msgspec.Struct):
    """The intervals of one agreement of judges on one scale, clustered by subject.

    heading: that of the agreement (Jury, SelfConsistency). icc: by its form. constant: the judges
    that gave one score to every answer, each with that score.
    """

    heading: str
    scale: str
    alpha: Interval
    icc: dict[str, Interval]
    constant: dict[str, float]


class Inference(msgspec.Struct):
    """What the study's numbers show by intervals whose coverage scripts/coverage measures.

    without_ci: how many subjects have no CI, by why. bound: of equivalence between domains.
    """

    bound: float
    without_ci: dict[str, int]
    correlations: list[CorrelationInterval]
    means: list[MeanIntervals]
    domains: dict[str, Interval]
    informative: Interval
    subjects: list[SubjectInference]
    predictions: list[Tested]
    agreement: list[AgreementIntervals]

    def interval_of(self, correlation: str) -> Interval:
        """Return the interval of a correlation with raw CI, by its name."""
        return next(found.interval for found in self.correlations if found.name == correlation)

    def agreement_on(self, heading: str, scale: str) -> AgreementIntervals:
        """Return the intervals of the agreement with this heading on this scale."""
        return next(
            found for found in self.agreement if (found.heading, found.scale) == (heading, scale)
        )
