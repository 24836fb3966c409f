"""FAR by domain and over whole subjects and concepts, of subjects with a complete grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.protocols.ddft.analysis.evaluations import SCALES, Evaluation, grouped
from harness.protocols.ddft.analysis.resamples import Resamples
from harness.protocols.ddft.analysis.schema import ConceptPower, DomainMean, Domains, GrandMean
from harness.protocols.ddft.metrics.formulas import mean, mean_value
from harness.results import Value
from harness.stats.columns import squares
from harness.stats.fewest import too_few
from harness.stats.variance import Anova, RepeatedAnova, one_way, repeated_measures

WHY_THEY_DIFFER = (
    "The pooled analysis counts every turn as an observation of its own, though the turns of a "
    "dialogue, and the dialogues of a subject, are not independent: its error holds the "
    "differences between subjects, turns and levels, and its degrees of freedom are far too many. "
    "The repeated-measures analysis has one mean for each subject and domain, takes the "
    "differences between subjects out of the error, and counts subjects."
)

Table = dict[str, dict[str, float]]


def compare_domains(
    evaluations: Sequence[Evaluation], domain_of: Mapping[str, str], resamples: Resamples
) -> Domains:
    """Compare domains by pooled turns (section 4.2) and by repeated measures on subjects.

    Repeated measures: subject x concept means, averaged within a domain (the paper has one concept
    in each); subjects without a mean in some domain are left out; undefined below four.
    """
    pooled = grouped((domain_of[e.concept], e.far) for e in evaluations)
    names = sorted(pooled)
    table = by_domain(evaluations, domain_of)
    rows = [[row[name] for name in names] for row in table.values() if len(row) == len(names)]
    return Domains(
        means=[_domain_mean(name, pooled[name], table, resamples) for name in names],
        pooled_turns=one_way([sorted(pooled[name]) for name in names]),
        repeated_measures=_repeated(rows, len(names)),
        why_they_differ=WHY_THEY_DIFFER,
    )


def by_concept(evaluations: Sequence[Evaluation], scale: str) -> Table:
    """Return each subject's mean in each concept, by subject; concepts without a score absent."""
    groups = grouped(((e.subject, e.concept), e.score(scale)) for e in evaluations)
    table: Table = {subject: {} for subject in sorted({subject for subject, _ in groups})}
    for (subject, concept), scores in sorted(groups.items()):
        if (value := mean(scores)) is not None:
            table[subject][concept] = value
    return table


def by_domain(evaluations: Sequence[Evaluation], domain_of: Mapping[str, str]) -> Table:
    """Return each subject's mean FAR in each domain: the mean of its concepts' means."""
    concepts = by_concept(evaluations, "far")
    table: Table = {}
    for subject, row in concepts.items():
        groups = grouped((domain_of[concept], value) for concept, value in row.items())
        table[subject] = {name: mean(values) or 0.0 for name, values in sorted(groups.items())}
    return table


def grand_means(evaluations: Sequence[Evaluation], resamples: Resamples) -> list[GrandMean]:
    """Return the mean of the subject x concept table on each scale, and how far it can be trusted.

    Whole subjects are resampled for other subjects, whole concepts for other concepts; turns of
    one dialogue are never taken for independent. Subjects without every concept are left out.
    """
    return [_grand_mean(by_concept(evaluations, scale), scale, resamples) for scale in SCALES]


def concept_power(
    evaluations: Sequence[Evaluation], domain_of: Mapping[str, str]
) -> list[ConceptPower]:
    """Return each concept's power to tell subjects and levels apart (section 4.2, criterion 4).

    The variance (ddof 1) of the mean FAR of each subject at each level, over turns and repeats.
    """
    groups = grouped(((e.concept, e.subject, e.level), e.far) for e in evaluations)
    means = grouped((key[0], mean(scores)) for key, scores in groups.items())
    return [
        ConceptPower(
            concept, domain_of[concept], mean_value(values, "no judgement"), variance(values)
        )
        for concept, values in sorted(means.items())
    ]


def variance(values: Sequence[float]) -> Value:
    """Return the variance (ddof 1) with its n; undefined below two values."""
    if len(values) < 2:
        return Value(None, len(values), "fewer than two values")
    return Value(squares(values) / (len(values) - 1), len(values))


def _domain_mean(
    name: str, pooled: Sequence[float], table: Table, resamples: Resamples
) -> DomainMean:
    means = [row[name] for row in table.values() if name in row]
    return DomainMean(name, mean_value(pooled, "no judgement"), resamples.mean(means, "subjects"))


def _repeated(rows: Sequence[Sequence[float]], columns: int) -> RepeatedAnova:
    reason = too_few(len(rows), "subjects with every domain")
    if reason is None:
        return repeated_measures(rows)
    nothing = Value(None, len(rows), reason)
    df, df_error = max(0, columns - 1), max(0, columns - 1) * max(0, len(rows) - 1)
    anova = Anova(nothing, nothing, nothing, df, df_error, None, None)
    return RepeatedAnova(anova, nothing, nothing)


def _grand_mean(table: Table, scale: str, resamples: Resamples) -> GrandMean:
    concepts = sorted({concept for row in table.values() for concept in row})
    whole = [row for row in table.values() if concepts and len(row) == len(concepts)]
    rows = [[row[name] for name in concepts] for row in whole]
    across = [list(column) for column in zip(*rows, strict=True)]
    return GrandMean(
        scale=scale,
        mean=mean_value([value for row in rows for value in row], "no subject has every concept"),
        over_subjects=resamples.mean(rows, "subjects"),
        over_concepts=resamples.mean(across, "concepts"),
    )
