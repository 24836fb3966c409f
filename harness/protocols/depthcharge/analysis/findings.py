"""What a drill found, in sentences: each is said only where its numbers say it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.protocols.depthcharge.analysis.schema import Difference, DrillAnalysis, GridCell
from harness.results import DrillResults, Interval, Share
from harness.results.digits import between, conjoined, decimal, named_values, plural


def findings(results: DrillResults) -> list[str]:
    """Return what the study found, or why it cannot be said, most important first."""
    if not results.valid:
        reason = (results.invalid_reason or "").partition("\n")[0]
        return [f"Nothing can be said of the targets: the study is invalid ({reason})."]
    analysis: DrillAnalysis = results.analysis
    domains = sorted({cell.domain for cell in analysis.cells})
    return [
        *(sentence for domain in domains for sentence in _depth(analysis, domain)),
        *_differences(analysis.differences),
        *_accuracy(analysis),
        *_errors(analysis.errors_by_type),
        *_rankings(analysis),
    ]


def _depth(analysis: DrillAnalysis, domain: str) -> Iterator[str]:
    """Say which target has the largest EVD in a domain, and which the smallest, as recorded."""
    cells = [cell for cell in analysis.cells if cell.domain == domain]
    defined = sorted(
        (cell for cell in cells if cell.evd.value is not None),
        key=lambda cell: cell.evd.value or 0,
    )
    if not defined:
        reasons = dict.fromkeys(cell.evd.reason or "" for cell in cells)
        yield f"In {domain}, EVD (Expected Valid Depth) is undefined: {'; '.join(reasons)}."
        return
    lowest = [_evd(cell) for cell in defined if cell.evd.value == defined[0].evd.value]
    highest = [_evd(cell) for cell in defined if cell.evd.value == defined[-1].evd.value]
    if len(defined) == 1:
        yield f"In {domain}, only {highest[0]} has an EVD (Expected Valid Depth)."
    elif len(lowest) == len(defined):
        yield (
            f"In {domain}, the {len(defined)} targets have the same recorded EVD (Expected Valid "
            f"Depth): {conjoined(lowest)}."
        )
    else:
        yield (
            f"In {domain}, the largest recorded EVD (Expected Valid Depth) is that of "
            f"{conjoined(highest)}, the smallest that of {conjoined(lowest)}."
        )


def _evd(cell: GridCell) -> str:
    """Return a target with its EVD, which may be a lower bound, its interval, and n."""
    bound = "at least " if cell.censored else ""
    interval = _interval(cell.two_way)
    runs = plural(cell.evd.n, "run")
    return f"{cell.target} ({bound}{decimal(cell.evd.value)}, {interval}, {runs})"


def _interval(interval: Interval) -> str:
    return f"95% interval {between(interval)}" if between(interval) else "without an interval"


def _differences(differences: Sequence[Difference]) -> Iterator[str]:
    """Say how many pairs of targets are told apart by their intervals."""
    intervals = [
        (difference, difference.two_way.low, difference.two_way.high) for difference in differences
    ]
    defined = [
        (difference, low, high)
        for difference, low, high in intervals
        if low is not None and high is not None
    ]
    if not defined:
        if differences:
            yield "No pair of targets can be told apart: no difference of EVD has an interval."
        return
    apart = [difference for difference, low, high in defined if not low <= 0 <= high]
    pairs = f"{len(defined)} of {plural(len(differences), 'pair')} of targets in a domain"
    if not apart:
        yield (
            f"No two targets are told apart: of {pairs} the difference of EVD has a 95% interval, "
            "and every one has 0 in it."
        )
        return
    names = conjoined(
        [f"{pair.first} and {pair.second} in {pair.domain}" for pair in apart[:3]]
        + ([f"{len(apart) - 3} more"] if len(apart) > 3 else [])
    )
    yield (
        f"{len(apart)} of {plural(len(differences), 'pair')} of targets in a domain are told apart "
        f"(the 95% interval of their difference of EVD is without 0): {names}."
    )


def _accuracy(analysis: DrillAnalysis) -> Iterator[str]:
    """Say how large the share of right answers is, target by target."""
    defined = [
        (target.target, target.accuracy)
        for target in analysis.targets
        if target.accuracy.value is not None
    ]
    if defined:
        yield f"The share of right answers, of those with a verdict, is {named_values(defined)}."


def _errors(errors: Sequence[Share]) -> Iterator[str]:
    """Say which error is most frequent, as the evaluator names them."""
    highest_count = max((error.count for error in errors), default=0)
    if not highest_count:
        return
    names = conjoined([error.name for error in errors if error.count == highest_count])
    total = errors[0].share.n
    is_shared = sum(error.count == highest_count for error in errors) > 1
    subject, ending = ("errors are", " each") if is_shared else ("error is", "")
    share = f"{highest_count:,} of {total:,} wrong answers{ending}"
    yield f"The most frequent {subject} {names} ({share})."


def _rankings(analysis: DrillAnalysis) -> Iterator[str]:
    """Say whether domains rank the targets alike, or why that is undefined."""
    pairs = analysis.domain_rankings
    defined = [
        (f"{pair.first} and {pair.second}", pair.coefficient)
        for pair in pairs
        if pair.coefficient.value is not None
    ]
    if defined:
        yield f"Kendall's tau of the targets' rankings by EVD is {named_values(defined)}."
    elif pairs:
        reasons = dict.fromkeys(pair.coefficient.reason or "" for pair in pairs)
        yield f"Whether domains rank targets alike cannot be said: {'; '.join(reasons)}."
