"""What a study's numbers show, by intervals that cover: docs/statistics.md has how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.protocols.ddft.analysis import tested
from harness.protocols.ddft.analysis.correlates import TRAP, TURNS
from harness.protocols.ddft.analysis.domains import by_concept, by_domain
from harness.protocols.ddft.analysis.evaluations import SCALES, Evaluation
from harness.protocols.ddft.analysis.levels import falls_by_concept, subject_inference
from harness.protocols.ddft.analysis.schema import Correlation, Correlations, Facts
from harness.protocols.ddft.analysis.schema_inference import (
    AgreementIntervals,
    CorrelationInterval,
    Inference,
    MeanIntervals,
)
from harness.protocols.ddft.analysis.sessions import INFORMATIVE_BELOW
from harness.protocols.ddft.metrics.formulas import PLACES, mean_value
from harness.protocols.ddft.metrics.scoring import MetricRules
from harness.results import Interval, SubjectMetrics, Value
from harness.stats.columns import mean
from harness.stats.correlation import FEWEST_RANKED, fisher_interval, spearman_interval
from harness.stats.fewest import where_enough
from harness.stats.means import ClusteredMean, crossed_mean, mean_of, welch
from harness.stats.proportions import korn_graubard


def inference(
    rows: Sequence[Evaluation],
    subjects: Sequence[SubjectMetrics],
    correlations: Correlations,
    facts: Mapping[str, Facts],
    domain_of: Mapping[str, str],
    rules: MetricRules,
    agreement: list[AgreementIntervals],
) -> Inference:
    """Return what the complete subjects' evaluations show; agreement: of all the judges."""
    groups = [*correlations.design, *correlations.turns, *correlations.outside]
    intervals = [
        _correlation(correlation, subjects, facts)
        for correlation in (*groups, correlations.turn_4_apart)
    ]
    turn_4 = correlations.turns[TRAP - 1]
    rho = next(correlation.interval for correlation in intervals if correlation.name == turn_4.name)
    names = sorted({row.subject for row in rows})
    of = {name: [row for row in rows if row.subject == name] for name in names}
    return Inference(
        bound=tested.BOUND,
        without_ci=_without_ci(subjects),
        correlations=intervals,
        means=[_means(rows, scale) for scale in SCALES],
        domains=_domains(rows, domain_of),
        informative=_informative(rows),
        subjects=[subject_inference(name, of[name], rules) for name in names],
        predictions=[
            tested.dissociation(subjects),
            tested.cognitive_load(_falls(of)),
            tested.bottleneck(turn_4, rho, len(TURNS)),
            tested.domain_general(_complete(by_domain(rows, domain_of))),
        ],
        agreement=agreement,
    )


def _without_ci(subjects: Sequence[SubjectMetrics]) -> dict[str, int]:
    """Return how many subjects have no CI, by the reason: they are in no correlation."""
    reasons = Counter(
        subject.ci_raw.reason or "undefined" for subject in subjects if subject.ci_raw.value is None
    )
    return dict(sorted(reasons.items()))


def _correlation(
    correlation: Correlation, subjects: Sequence[SubjectMetrics], facts: Mapping[str, Facts]
) -> CorrelationInterval:
    rho, n = correlation.coefficient.value, correlation.coefficient.n
    no_flag = Value(None, n, "not a flag")
    if correlation.method == "point-biserial":
        difference = _by_flag(subjects, facts)
        return CorrelationInterval(correlation.name, difference.interval, difference.mean)
    if rho is None or n < FEWEST_RANKED:
        reason = correlation.coefficient.reason or f"fewer than {FEWEST_RANKED} pairs"
        return CorrelationInterval(correlation.name, Interval(None, None, reason=reason), no_flag)
    interval = spearman_interval if correlation.method == "spearman" else fisher_interval
    return CorrelationInterval(correlation.name, interval(rho, n), no_flag)


def _by_flag(subjects: Sequence[SubjectMetrics], facts: Mapping[str, Facts]) -> ClusteredMean:
    ci: dict[bool, list[float]] = {True: [], False: []}
    for subject in subjects:
        fact = facts.get(subject.subject)
        if fact is not None and fact.reasoning is not None and subject.ci_raw.value is not None:
            ci[fact.reasoning].append(subject.ci_raw.value)
    return welch(ci[True], ci[False])


def _complete(table: Mapping[str, Mapping[str, float]]) -> list[list[float]]:
    """Return the rows of a table that have every column, in the order of the columns."""
    names = sorted({name for row in table.values() for name in row})
    return [[row[name] for name in names] for row in table.values() if len(row) == len(names)]


def _means(rows: Sequence[Evaluation], scale: str) -> MeanIntervals:
    table = _complete(by_concept(rows, scale))
    table = [row for row in table if row]
    across = [list(column) for column in zip(*table, strict=True)]
    by_subject, by_concept_mean = ([mean(row) for row in side] for side in (table, across))
    both = crossed_mean(table).interval
    return MeanIntervals(
        scale=scale,
        mean=mean_value([value for row in table for value in row], "no subject has every concept"),
        over_subjects=_interval(by_subject, "subjects"),
        over_concepts=_interval(by_concept_mean, "concepts"),
        over_both=where_enough(both, min(len(table), len(across)), "subjects or concepts"),
    )


def _interval(values: Sequence[float], what: str) -> Interval:
    return where_enough(mean_of(values).interval, len(values), what)


def _domains(rows: Sequence[Evaluation], domain_of: Mapping[str, str]) -> dict[str, Interval]:
    table = by_domain(rows, domain_of)
    names = sorted({name for row in table.values() for name in row})
    return {
        name: _interval([row[name] for row in table.values() if name in row], "subjects")
        for name in names
    }


def _informative(rows: Sequence[Evaluation]) -> Interval:
    """Return the interval of the share of informative sessions, clustered by subject."""
    counts: dict[str, list[bool]] = {}
    for row in rows:
        if row.turn == TRAP and row.far is not None:
            counts.setdefault(row.subject, []).append(round(row.far, PLACES) < INFORMATIVE_BELOW)
    pairs = [(sum(flags), len(flags)) for _, flags in sorted(counts.items())]
    return where_enough(korn_graubard(pairs), len(pairs), "subjects")


def _falls(of: Mapping[str, Sequence[Evaluation]]) -> list[list[float]]:
    """Return how much further FAR falls than SAS, a row a subject and a column a concept."""
    levels = sorted({row.level for rows in of.values() for row in rows})
    if len(levels) < 2:
        return []
    table = []
    for rows in of.values():
        far, sas = (falls_by_concept(rows, scale, levels) for scale in SCALES)
        if len(far) == len(sas):
            table.append([a - b for a, b in zip(far, sas, strict=True)])
    longest = max(map(len, table), default=0)
    return [row for row in table if len(row) == longest]
