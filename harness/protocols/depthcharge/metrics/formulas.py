"""DepthCharge's metrics of one run, as arXiv 2603.23514 defines them.

Pure functions over probes and plain numbers. A(d) = correct / asked, where asked are the questions
with a verdict: a missing verdict and a question without a fact are never wrong answers. Whatever
is compared with theta or with 0.5 is rounded to 9 places before. What is undefined is None with its
reason.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness.results import TIERS, Depth, Passes, Probe, Rise, Share, Value, tier_pass
from harness.results.depthcharge import ASKED, MISSING, UNVERIFIABLE
from harness.stats import survival
from harness.stats.proportions import wilson
from harness.stats.survival import PLACES, is_below

HALF = 0.5
VERDICTS_NAMED = 2  # the version from which missing verdicts are told from no questions


class SlotTally(NamedTuple):
    """What became of a depth's slots: by the last deal of each, and how many answers are right."""

    asked: int
    missing: int
    unverifiable: int
    correct: int


def tally(probes: Sequence[Probe]) -> SlotTally:
    """Count the slots of one depth."""
    last = {probe.question: probe.state for probe in sorted(probes, key=lambda probe: probe.deal)}
    became = Counter(last.values())
    right = sum(probe.correct is True for probe in probes)
    return SlotTally(became[ASKED], became[MISSING], became[UNVERIFIABLE], right)


def without_verdicts(missing: int, where: str = "", version: int = VERDICTS_NAMED) -> str:
    """Return why a share is undefined that no verdict is there for.

    missing: verdicts of questions that were put, which version 1 does not tell from none.
    """
    if not missing or version < VERDICTS_NAMED:
        return f"nothing was asked{where}"
    put = "1 question was" if missing == 1 else f"{missing} questions were"
    return f"{put} put{where}, none has a verdict"


def curve(
    probes: Sequence[Probe],
    depths: int,
    questions: int,
    passes: Passes,
    version: int = VERDICTS_NAMED,
) -> list[Depth]:
    """Return depths 1 to `depths` of a run, with A(d), Wilson's interval and S(d).

    Where no verdict is there A(d) is undefined, and S from there on. version: of the protocol.
    """
    numbers = range(1, depths + 1)
    counts = [tally([probe for probe in probes if probe.depth == d]) for d in numbers]
    reasons = [
        without_verdicts(count.missing, f" at depth {d}", version)
        for d, count in zip(numbers, counts, strict=True)
    ]
    shares = [
        share("", count.correct, count.asked, lacking).share
        for count, lacking in zip(counts, reasons, strict=True)
    ]
    reason = next((value.reason for value in shares if value.value is None), None)
    products = survival.products([value.value for value in shares])
    return [
        Depth(
            depth=d,
            tier=tier_pass(d, passes).tier,
            tier_pass=tier_pass(d, passes).number,
            planned=questions,
            asked=count.asked,
            distinct=distinct([probe for probe in probes if probe.depth == d]),
            correct=count.correct,
            missing=count.missing,
            unverifiable=count.unverifiable,
            accuracy=accuracy,
            wilson=wilson(count.correct, count.asked),
            survival=Value(product, count.asked, reason if product is None else None),
        )
        for d, count, accuracy, product in zip(numbers, counts, shares, products, strict=True)
    ]


def distinct(probes: Sequence[Probe]) -> int:
    """Count the different facts that were asked for; one without a mark is one of its own."""
    answered = [probe for probe in probes if probe.state == ASKED]
    marks = {probe.fact for probe in answered if probe.fact is not None}
    return len(marks) + sum(probe.fact is None for probe in answered)


def share(name: str, count: int, n: int, nothing: str) -> Share:
    """Return a count of n; `nothing` is the reason why a share of none is undefined."""
    return Share(name, count, Value(count / n, n) if n else Value(None, 0, nothing))


def known(depths: Sequence[Depth]) -> list[float]:
    """Return S(1), S(2), ... as far as it is defined."""
    return [depth.survival.value for depth in depths if depth.survival.value is not None]


def evd(depths: Sequence[Depth]) -> Value:
    """Return the expected valid depth: the sum of S(d), the stopping depth with it; n answers."""
    return _sum(known(depths), depths)


def evd_exclusive(depths: Sequence[Depth], theta: float) -> Value:
    """Return the sum of the S(d) that are not below theta."""
    return _sum([value for value in known(depths) if not is_below(value, theta)], depths)


def _sum(values: Sequence[float], depths: Sequence[Depth]) -> Value:
    if not known(depths):
        return Value(None, 0, depths[0].accuracy.reason)
    return Value(math.fsum(values), sum(depth.asked for depth in depths))


def administered(values: Iterable[float], theta: float) -> int | None:
    """Return the depth a run with this survival stops at by theta; None where it does not."""
    return next((d for d, value in enumerate(values, 1) if is_below(value, theta)), None)


def left(depths: Sequence[Depth], max_depth: int) -> Value:
    """Bound how much EVD a run misses by its end.

    S never rises, so at most S(d) for each depth between its last and `max_depth`; nothing where
    S(d) is 0. Beyond max depth it is unknown: no bound there.
    """
    values = known(depths)
    if not values:
        return Value(None, 0, depths[0].accuracy.reason)
    n = depths[len(values) - 1].asked
    if values[-1] > 0 and len(values) >= max_depth:
        return Value(None, n, f"unknown beyond depth {max_depth}, the greatest")
    return Value(values[-1] * (max_depth - len(values)), n)


def median_survival_depth(depths: Sequence[Depth], cut: float = HALF) -> Value:
    """Return the first depth with S(d) at or below a cut; n counts depths."""
    values = known(depths)
    median = next((d for d, value in enumerate(values, 1) if not is_below(cut, value)), None)
    if median is None and len(values) < len(depths):
        return Value(None, len(values), f"S is undefined from depth {len(values) + 1}")
    if median is None:
        return Value(None, len(values), f"S stays above {cut:g}")
    return Value(float(median), len(values))


def deepest_correct(depths: Sequence[Depth]) -> Value:
    """Return the greatest depth with a right answer; n counts answers."""
    n = sum(depth.asked for depth in depths)
    right_depths = [depth.depth for depth in depths if depth.correct]
    if not right_depths:
        return Value(None, n, "no answer is right")
    return Value(float(max(right_depths)), n)


def accuracy(depths: Sequence[Depth], version: int = VERDICTS_NAMED) -> Value:
    """Return the share of right answers over all depths; version: of the protocol."""
    asked, correct = (sum(getattr(d, name) for d in depths) for name in ("asked", "correct"))
    return share("", correct, asked, _without_verdicts(depths, "", version)).share


def _without_verdicts(depths: Sequence[Depth], where: str, version: int) -> str:
    return without_verdicts(sum(depth.missing for depth in depths), where, version)


def tiers(depths: Sequence[Depth], version: int = VERDICTS_NAMED) -> list[Share]:
    """Return the right answers of each tier that was come to, its depths pooled."""
    names = [name for name in TIERS if any(depth.tier == name for depth in depths)]
    by_tier = {name: [depth for depth in depths if depth.tier == name] for name in names}
    return [
        share(
            name,
            sum(depth.correct for depth in pooled),
            sum(depth.asked for depth in pooled),
            _without_verdicts(pooled, f" in {name}", version),
        )
        for name, pooled in by_tier.items()
    ]


def rises(shares: Sequence[Share]) -> list[Rise]:
    """Name each tier that was answered better than the one before it: accuracy should not rise."""
    values = [(tier.name, tier.share.value) for tier in shares if tier.share.value is not None]
    return [
        Rise(easier, harder, after - before)
        for (easier, before), (harder, after) in itertools.pairwise(values)
        if is_below(before, after)
    ]


def errors_by_tier(depths: Sequence[Depth]) -> list[Share]:
    """Return where the wrong answers are: of all, the share in each tier that was come to."""
    errors = [(tier.name, tier.share.n - tier.count) for tier in tiers(depths)]
    total = sum(wrong for _, wrong in errors)
    return [share(name, wrong, total, "no answer is wrong") for name, wrong in errors]


def errors_by_type(probes: Sequence[Probe]) -> list[Share]:
    """Return what is wrong with wrong answers, as the evaluator says, sorted by name."""
    counts = Counter(str(probe.error_type) for probe in probes if probe.correct is False)
    return [share(name, count, counts.total(), "") for name, count in sorted(counts.items())]


def shortfall(depths: Sequence[Depth]) -> int:
    """Return how many questions fewer than planned have a verdict."""
    return sum(depth.planned - depth.asked for depth in depths)


def short_depths(depths: Sequence[Depth], limit: float | None) -> list[int]:
    """Return the depths of which more than a share of the slots had no fact; none without a limit.

    What was asked there is what sources could ground, not what was to be asked.
    """
    if limit is None:
        return []
    return [d.depth for d in depths if is_below(limit, d.unverifiable / d.planned)]


def rounded(value: float) -> float:
    """Round as far as values are told apart."""
    return round(value, PLACES)
