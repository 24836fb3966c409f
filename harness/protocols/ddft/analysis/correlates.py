"""What goes with CI: size, reasoning, each turn's FAR, scores from elsewhere.

Raw CI throughout, since clipping makes ties. Deletion is listwise within a correlation, n is
stated, and below four subjects everything is undefined. Holm corrects the exact p where there is
one (up to nine subjects), else the p by t, within three families: design (size and reasoning),
turns, outside. Turn 4 against CI without turn 4 is a family of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from harness.protocols.ddft.analysis.evaluations import Evaluation, grouped
from harness.protocols.ddft.analysis.resamples import Resamples, no_bootstrap
from harness.protocols.ddft.analysis.schema import Correlation, Correlations, Facts
from harness.protocols.ddft.metrics.formulas import mean
from harness.results import SubjectMetrics, Value
from harness.stats import correlation
from harness.stats.correlation import Partial
from harness.stats.fewest import FEWEST, too_few
from harness.stats.multiple import holm
from harness.stats.permutation import Exact
from harness.stats.resampling import Bootstrap, bootstrap_pearson, bootstrap_spearman

TURNS = (1, 2, 3, 4, 5)
TRAP = 4

Known = Mapping[str, float | None]


class Correlate(NamedTuple):
    """One number a subject, what it is called, and what it means to have more of it."""

    name: str
    method: str
    family: str
    more: str
    values: Known


class Found(NamedTuple):
    """A coefficient, its p by t and exactly, and its bootstrap."""

    coefficient: Value
    p: Value
    exact: Exact
    bootstrap: Bootstrap


def correlations(
    subjects: Sequence[SubjectMetrics],
    apart: Sequence[SubjectMetrics],
    turns: Mapping[int, Known],
    facts: Mapping[str, Facts],
    resamples: Resamples,
) -> Correlations:
    """Correlate everything with CI; `apart` are the subjects as scored without turn 4."""
    ci = {subject.subject: subject.ci_raw.value for subject in subjects}
    facts = {name: fact for name, fact in facts.items() if name in ci}
    ci_apart = {subject.subject: subject.ci_raw.value for subject in apart}
    alone = _turn(TRAP, turns)._replace(name="turn-4-far, CI without turn 4", family="turn 4 apart")
    columns = [_turn(number, turns) for number in TURNS]
    return Correlations(
        n=sum(value is not None for value in ci.values()),
        design=family(_design(facts), ci, resamples),
        turns=family(columns, ci, resamples),
        outside=family(_outside(facts), ci, resamples),
        turn_4_partial=partial(subjects, turns.get(TRAP, {})),
        turn_4_apart=family([alone], ci_apart, resamples)[0],
    )


def turn_means(evaluations: Sequence[Evaluation]) -> dict[int, dict[str, float | None]]:
    """Return each subject's mean FAR in each turn, over concepts, levels and repeats."""
    groups = grouped(((e.turn, e.subject), e.far) for e in evaluations)
    found: dict[int, dict[str, float | None]] = {number: {} for number in TURNS}
    for (turn, subject), scores in groups.items():
        found.setdefault(turn, {})[subject] = mean(scores)
    return found


def family(columns: Sequence[Correlate], ci: Known, resamples: Resamples) -> list[Correlation]:
    """Correlate each column with CI, and correct the p's for their number (Holm 1979)."""
    found = [_correlate(column, ci, resamples) for column in columns]
    chosen = [_chosen(each) for each in found]
    adjusted = holm([p.value for _, p in chosen])
    return [
        Correlation(
            name=column.name,
            method=column.method,
            family=column.family,
            **each._asdict(),
            holm=Value(p, each.coefficient.n, None if p is not None else each.p.reason),
            holm_of=None if p is None else which,
            detectable=correlation.smallest_detectable(each.coefficient.n),
            direction=_direction(column, each.coefficient.value),
        )
        for column, each, (which, _), p in zip(columns, found, chosen, adjusted, strict=True)
    ]


def partial(subjects: Sequence[SubjectMetrics], turn_4: Known) -> Partial:
    """Return Spearman's partial correlation of turn-4 FAR with CI given FAR' and HOC (section 7.2).

    df = n - 4, so p needs five subjects.
    """
    rows = [
        [turn_4.get(s.subject), s.ci_raw.value, s.far_prime.value, s.hoc.value] for s in subjects
    ]
    known = [[n for n in row if n is not None] for row in rows if None not in row]
    if reason := too_few(len(known)):
        nothing = Value(None, len(known), reason)
        return Partial(nothing, nothing, len(known) - FEWEST)
    far, ci, far_prime, hoc = (list(column) for column in zip(*known, strict=True))
    return correlation.partial_correlation(far, ci, [far_prime, hoc], "spearman")


def _design(facts: Mapping[str, Facts]) -> list[Correlate]:
    size = {
        name: math.log10(fact.parameters_b) if fact.parameters_b else None
        for name, fact in facts.items()
    }
    reasoning = {
        name: None if fact.reasoning is None else float(fact.reasoning)
        for name, fact in facts.items()
    }
    return [
        Correlate("log10 parameters", "pearson", "design", "with more parameters", size),
        Correlate("reasoning", "point-biserial", "design", "that reason", reasoning),
    ]


def _turn(number: int, turns: Mapping[int, Known]) -> Correlate:
    more = f"that score higher on turn {number}"
    return Correlate(f"turn-{number}-far", "spearman", "turns", more, turns.get(number, {}))


def _outside(facts: Mapping[str, Facts]) -> list[Correlate]:
    names = sorted({name for fact in facts.values() for name in fact.outside})
    return [
        Correlate(
            name,
            "spearman",
            "outside",
            f"that score higher on {name}",
            {subject: fact.outside.get(name) for subject, fact in facts.items()},
        )
        for name in names
    ]


def _correlate(column: Correlate, ci: Known, resamples: Resamples) -> Found:
    x, y = _paired(column.values, ci)
    if reason := too_few(len(x), "subjects with both"):
        nothing = Value(None, len(x), reason)
        return Found(nothing, nothing, Exact(nothing), no_bootstrap(len(x), reason))
    found = _METHODS[column.method](x, y)
    resampled = bootstrap_spearman if column.method == "spearman" else bootstrap_pearson
    draws, share = resamples.of("subjects", len(x)), resamples.most_undefined
    boot = resampled(x, y, draws, most_undefined=share)
    return Found(found.coefficient, found.p, found.exact, boot)


def _pearson(x: list[float], y: list[float]) -> correlation.Pearson:
    return correlation.pearson(x, y)


def _point_biserial(x: list[float], y: list[float]) -> correlation.Pearson:
    return correlation.point_biserial([int(flag) for flag in x], y)


_METHODS: dict[
    str, Callable[[list[float], list[float]], correlation.Pearson | correlation.Spearman]
] = {
    "pearson": _pearson,
    "point-biserial": _point_biserial,
    "spearman": correlation.spearman,
}


def _paired(x: Known, y: Known) -> tuple[list[float], list[float]]:
    """Return the pairs in the order of the subjects' names, which the resamples count on."""
    pairs = [(x.get(name), y[name]) for name in sorted(y)]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return [a for a, _ in known], [b for _, b in known]


def _chosen(found: Found) -> tuple[str, Value]:
    exact = found.exact.p.value is not None
    return ("exact", found.exact.p) if exact else ("t", found.p)


def _direction(column: Correlate, coefficient: float | None) -> str | None:
    if coefficient is None:
        return None
    if coefficient == 0:
        return f"none: subjects {column.more} have neither higher nor lower CI"
    sign, effect = ("negative", "lower") if coefficient < 0 else ("positive", "higher")
    return f"{sign}: subjects {column.more} have {effect} CI"
