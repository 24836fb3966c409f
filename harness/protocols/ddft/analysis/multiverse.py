"""The ranking of subjects by CI under every combination of the rules that the paper leaves open.

It shows how much of a ranking is a choice (Steegen et al., Increasing Transparency Through a
Multiverse Analysis, 2016).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from harness.protocols.ddft.analysis.schema import Multiverse, RankedSubject, Universe
from harness.protocols.ddft.analysis.stability import (
    EMPTY_RULES,
    HOC_RULES,
    NORMALIZATIONS,
    THETAS,
    ci_under,
)
from harness.protocols.ddft.metrics import formulas as metrics
from harness.protocols.ddft.metrics.scoring import MetricRules
from harness.results import SubjectMetrics, Value


def multiverse(subjects: Sequence[SubjectMetrics], rules: MetricRules) -> Multiverse:
    """Rank the subjects under every combination; theta is 0.70, 0.80 and the study's own."""
    subjects = sorted(subjects, key=lambda subject: subject.subject)
    rows = [_universe(subjects, choice) for choice in _choices(rules)]
    return Multiverse(rows, _first(subjects, rows), _same(subjects, rows, rules))


def ranked(values: Sequence[tuple[str, Value]]) -> list[RankedSubject]:
    """Rank subjects by CI, the largest first; equal to 9 places is a shared rank, the better."""
    rounded = {
        name: round(value.value, metrics.PLACES)
        for name, value in values
        if value.value is not None
    }
    return [
        RankedSubject(
            name,
            value,
            None
            if name not in rounded
            else 1 + sum(other > rounded[name] for other in rounded.values()),
        )
        for name, value in values
    ]


def _rank(value: Value, known: Sequence[float]) -> int | None:
    if value.value is None:
        return None
    return 1 + sum(other > round(value.value, metrics.PLACES) for other in known)


def _choices(rules: MetricRules) -> list[MetricRules]:
    thetas = sorted({*THETAS, rules.theta})
    every = itertools.product(NORMALIZATIONS, EMPTY_RULES, HOC_RULES, thetas)
    return [
        rules._replace(normalization=normal, empty_far_prime=empty, hoc_rule=hoc, theta=theta)
        for normal, empty, hoc, theta in every
    ]


def _universe(subjects: Sequence[SubjectMetrics], rules: MetricRules) -> Universe:
    raw = [ci_under(subject, rules) for subject in subjects]
    values = metrics.normalized(raw, rules.normalization)
    names = [subject.subject for subject in subjects]
    return Universe(
        rules.normalization,
        rules.empty_far_prime,
        rules.hoc_rule,
        rules.theta,
        ranked(list(zip(names, values, strict=True))),
    )


def _first(subjects: Sequence[SubjectMetrics], rows: Sequence[Universe]) -> dict[str, Value]:
    ranks = {subject.subject: list[int | None]() for subject in subjects}
    for place in (place for row in rows for place in row.ranking):
        ranks[place.subject].append(place.rank)
    return {name: _share_first(found) for name, found in ranks.items()}


def _share_first(ranks: Sequence[int | None]) -> Value:
    if set(ranks) <= {None}:
        return Value(None, len(ranks), "no CI under any combination")
    return Value(sum(rank == 1 for rank in ranks) / len(ranks), len(ranks))


def _same(
    subjects: Sequence[SubjectMetrics], rows: Sequence[Universe], rules: MetricRules
) -> Value:
    own = _ranks(_universe(subjects, rules))
    if set(own) <= {None}:
        return Value(None, len(rows), "no subject has a CI under the study's own rules")
    return Value(sum(_ranks(row) == own for row in rows) / len(rows), len(rows))


def _ranks(row: Universe) -> list[int | None]:
    return [place.rank for place in row.ranking]
