"""What a DDFT study found, in sentences: each is said only where its numbers say it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.protocols.ddft.analysis.schema import Analysis
from harness.protocols.ddft.analysis.schema_inference import interval_of_all_sides
from harness.results import Interval, Results, SubjectMetrics, Value
from harness.results.digits import between, conjoined, decimal, named_values, plural

TRAP_TURN = 4
RELIABLE, TENTATIVE = 0.8, 0.667  # Krippendorff, Content Analysis, 2nd edition (2004), page 241


class SubjectCI(NamedTuple):
    """A subject whose raw CI is defined."""

    subject: str
    number: float
    interval: Interval | None


def findings(results: Results) -> list[str]:
    """Return what the study found, or why it cannot be said, most important first."""
    if not results.valid:
        reason = (results.invalid_reason or "").partition("\n")[0]
        return [f"Nothing can be said of the subjects: the study is invalid ({reason})."]
    analysis: Analysis = results.analysis
    subjects = [subject for subject in results.subjects if subject.arm == analysis.arm]
    return [
        *_threshold(subjects, results.rules["theta"]),
        *_comprehension(subjects, analysis),
        *_degradation(analysis),
        *_trap(analysis),
        *_danger(subjects),
        *_trap_and_ci(analysis),
        *_agreement(analysis, results.protocol_version),
    ]


def _threshold(subjects: Sequence[SubjectMetrics], theta: float) -> Iterator[str]:
    """Say who passes theta, of the subjects with a whole grid, and who has none."""
    complete = [subject for subject in subjects if subject.complete]
    unfinished = [subject.subject for subject in subjects if not subject.complete]
    passing = [subject for subject in complete if subject.hoc.value is not None]
    if unfinished:
        yield f"No metric is defined for {conjoined(unfinished)}: not all their cells are there."
    if not complete:
        return
    of_all = f"{len(passing)} of {plural(len(complete), 'subject')}"
    mean_far = f"a mean FAR (factual accuracy) of {theta:g}"
    if not passing:
        who = "The one subject does not reach" if len(complete) == 1 else "No subject reaches"
        yield f"{who} {mean_far} at any level: HOC and CI are undefined, and no subject has a rank."
    else:
        levels = named_values([(subject.subject, subject.hoc) for subject in passing], digits=2)
        yield f"{of_all} reach {mean_far} at some level; the largest such level, HOC, is {levels}."


def _comprehension(subjects: Sequence[SubjectMetrics], analysis: Analysis) -> Iterator[str]:
    """Say whose raw CI is highest and lowest, and whether their intervals overlap."""
    inferred = analysis.inference.subjects
    intervals = {subject.subject: interval_of_all_sides(subject) for subject in inferred}
    defined = [
        SubjectCI(subject.subject, ci.value, intervals.get(subject.subject))
        for subject in subjects
        if (ci := subject.ci_raw).value is not None
    ]
    if not defined:
        passing = [subject.ci_raw for subject in subjects if subject.hoc.value is not None]
        reasons = dict.fromkeys(ci.reason or "" for ci in passing)
        if reasons:
            yield f"No subject has a CI (Comprehension Integrity): {'; '.join(reasons)}."
        return
    lowest, highest = (extreme(subject.number for subject in defined) for extreme in (min, max))
    top = [subject for subject in defined if subject.number == highest]
    bottom = [subject for subject in defined if subject.number == lowest]
    names = conjoined([_with_interval(subject) for subject in top])
    if lowest == highest:
        only, have = ("Only ", "has") if len(defined) == 1 else ("", "have the same")
        yield f"{only}{names} {have} raw CI (Comprehension Integrity)."
        return
    overlap = _overlap(top[0].interval, bottom[0].interval) if len(top + bottom) == 2 else ""
    yield (
        f"Raw CI (Comprehension Integrity) is highest for {names} and lowest for "
        f"{conjoined([_with_interval(subject) for subject in bottom])}{overlap}."
    )


def _with_interval(subject: SubjectCI) -> str:
    interval = between(subject.interval) if subject.interval else ""
    around = f", 95% interval {interval}" if interval else ", without an interval"
    return f"{subject.subject} ({decimal(subject.number)}{around})"


def _overlap(first: Interval | None, second: Interval | None) -> str:
    """Say whether two intervals overlap, which is less than whether two numbers differ."""
    if first is None or second is None or first.low is None or second.high is None:
        return ""
    if first.high is None or second.low is None:
        return ""
    is_overlap = first.low <= second.high and second.low <= first.high
    return f"; their intervals {'overlap' if is_overlap else 'do not overlap'}"


def _degradation(analysis: Analysis) -> Iterator[str]:
    """Say how far mean FAR falls or rises from the lowest level to the highest."""
    falls = [(profile.subject, profile.far_fall) for profile in analysis.profiles]
    defined = [(name, fall, round(fall.value, 3)) for name, fall in falls if fall.value is not None]
    groups = (
        ("falls", [(name, fall) for name, fall, number in defined if number > 0]),
        ("rises", [(name, _negative(fall)) for name, fall, number in defined if number < 0]),
    )
    directions = [f"{verb} by {named_values(group)}" for verb, group in groups if group]
    if directions:
        yield f"From the lowest level of cut text to the highest, mean FAR {conjoined(directions)}."
    elif defined:
        yield "From the lowest level of cut text to the highest, mean FAR stays the same."


def _negative(fall: Value) -> Value:
    return Value(None if fall.value is None else -fall.value, fall.n, fall.reason)


def _trap(analysis: Analysis) -> Iterator[str]:
    """Say how often the invented claim of turn 4 was not rejected, as the jury sees it."""
    share, interval = analysis.follow_up.informative, between(analysis.inference.informative)
    if share.value is None:
        return
    count = round(share.value * share.n)
    around = f" (95% interval of the share over subjects {interval})" if interval else ""
    yield (
        f"In turn {TRAP_TURN}, whose question takes something invented for granted, the jury's FAR "
        f"is below {analysis.thresholds.informative_below:g} in {count:,} of {share.n:,} dialogues"
        f"{around}."
    )


def _danger(subjects: Sequence[SubjectMetrics]) -> Iterator[str]:
    """Say how large the share of fluent and wrong answers is."""
    shares = [(subject.subject, subject.danger_zone) for subject in subjects]
    defined = [(name, share) for name, share in shares if share.value is not None]
    if defined:
        values = named_values(defined, digits=2)
        yield f"The share of answers that are fluent and wrong is {values}."


def _trap_and_ci(analysis: Analysis) -> Iterator[str]:
    """Say whether accuracy in turn 4 goes with CI computed without turn 4, over subjects."""
    rho = analysis.correlations.turn_4_apart
    question = "whether accuracy in the trap goes with CI (computed without that turn)"
    if rho.coefficient.value is None:
        yield f"Nothing can be said on {question}: {rho.coefficient.reason}."
        return
    interval = analysis.inference.interval_of(rho.name)
    number = f"Spearman's rho is {decimal(rho.coefficient.value)} (n={rho.coefficient.n})"
    if interval.low is None or interval.high is None:
        yield f"On {question}: {number}, without an interval ({interval.reason})."
    elif interval.low <= 0 <= interval.high:
        yield f"It stays open {question}: {number}, 95% interval {between(interval)}, with 0 in it."
    else:
        sign = "higher" if interval.low > 0 else "lower"
        yield (
            f"Subjects that are more accurate in the trap tend to have a {sign} CI (computed "
            f"without that turn): {number}, 95% interval {between(interval)}."
        )


def _agreement(analysis: Analysis, version: int) -> Iterator[str]:
    """Say how far the judges agree, by Krippendorff's own marks for his alpha."""
    jury = analysis.jury
    alphas = [(scale.scale.upper(), scale.agreement.alpha) for scale in jury.scales]
    defined = [(name, alpha) for name, alpha in alphas if alpha.value is not None]
    if not defined:
        reasons = dict.fromkeys(alpha.reason or "" for _, alpha in alphas)
        yield f"How far the judges agree is undefined: {'; '.join(reasons)}."
        return
    if jury.self_consistency and version == 1:  # each judge counts for itself: see Jury
        yield f"{jury.heading}: Krippendorff's alpha is {named_values(defined)}."
        return
    lowest = min(alpha.value or 0 for _, alpha in defined)
    if lowest >= RELIABLE:
        verdict = "The judges agree well enough to rely on"
    elif lowest >= TENTATIVE:
        verdict = "The judges agree well enough for tentative conclusions only"
    else:
        verdict = "The judges agree too little to rely on their scores"
    yield (
        f"{verdict}: Krippendorff's alpha is {named_values(defined)}; he asks for {RELIABLE:g}, or "
        f"{TENTATIVE:g} for tentative conclusions."
    )
