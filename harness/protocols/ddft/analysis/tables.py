"""A DDFT study's results as tables: its subjects first, then the study as a whole, the jury."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from harness.protocols.ddft.analysis.glossary import glossary
from harness.protocols.ddft.analysis.jury_tables import jury_tables
from harness.protocols.ddft.analysis.resampled import resampled
from harness.protocols.ddft.analysis.schema import Profile
from harness.protocols.ddft.analysis.study_tables import study_tables
from harness.results import Interval, Results, SubjectMetrics, Value
from harness.results.digits import plural
from harness.results.glossary import defined
from harness.results.table import EstimatedValue, Noted, Table, TableCell, TableColumn, columns

UNDEFINED = "undefined"
ABOUT_SUBJECTS = ("FAR", "SAS", "HOC", "CRI", "FAR'", "SAS'", "CI")


def tables(results: Results) -> list[Table]:
    """Return the tables of a study."""
    return [
        _subjects(results),
        _profiles(results),
        _means(results),
        *study_tables(results),
        *jury_tables(results.analysis),
        _turns(results),
    ]


def _subjects(results: Results) -> Table:
    normalization = results.rules["normalization"]
    names = columns(
        "subject",
        "arm",
        TableColumn("HOC", Value),
        TableColumn("HOC (onset)", Value),
        TableColumn("CRI", Value),
        TableColumn("FAR'", Value),
        TableColumn("SAS'", Value),
        TableColumn("CI raw", EstimatedValue),
        TableColumn(f"CI ({normalization})", Value, key="ci"),
        "phenotype",
        TableColumn("probability of the phenotype", Value, key="phenotype_probability"),
        TableColumn("danger zone", Value),
    )
    profiles = {profile.subject: profile for profile in results.analysis.profiles}
    rows = [
        _subject(metrics, profiles.get(metrics.subject))
        if metrics.arm == results.analysis.arm
        else _subject(metrics, None)
        for metrics in results.subjects
    ]
    about = defined(glossary(results.rules), *ABOUT_SUBJECTS)
    return Table("Subjects", names, rows, about)


def _subject(metrics: SubjectMetrics, profile: Profile | None) -> list[TableCell]:
    phenotype = metrics.phenotype or UNDEFINED
    return [
        metrics.subject,
        metrics.arm,
        metrics.hoc,
        metrics.hoc_onset,
        metrics.cri,
        metrics.far_prime,
        metrics.sas_prime,
        _estimate(metrics.ci_raw, profile),
        metrics.ci,
        phenotype,
        _probability(metrics.phenotype, profile),
        metrics.danger_zone,
    ]


def _probability(phenotype: str | None, profile: Profile | None) -> Value | None:
    """Return how probable a phenotype is, which only the arm that is analysed has."""
    if profile is None:
        return None
    if phenotype is None:
        resamples = profile.probabilities[UNDEFINED].n
        return Value(None, resamples, "the phenotype is undefined")
    return profile.probabilities[phenotype]


def _estimate(ci_raw: Value, profile: Profile | None) -> Value | EstimatedValue | Noted:
    """Return raw CI with its interval, which only the arm that is analysed has."""
    if profile is None or ci_raw.value is None:
        return ci_raw
    interval = resampled(profile.ci_raw)
    if isinstance(interval, Interval):
        return EstimatedValue(ci_raw, interval)
    return Noted(EstimatedValue(ci_raw, profile.ci_raw.interval), interval.note)


def _profiles(results: Results) -> Table:
    profiles = results.analysis.profiles
    turns = max((len(profile.turns) for profile in profiles), default=0)
    names = columns(
        "subject",
        *(
            TableColumn(f"T{turn} FAR", Value, key=f"turn_{turn}_far")
            for turn in range(1, turns + 1)
        ),
        TableColumn("fall of FAR", Value),
        TableColumn("fall of SAS", Value),
        "degradation",
        "failure mode",
    )
    rows: list[list[TableCell]] = [
        [
            profile.subject,
            *profile.turns,
            *[None] * (turns - len(profile.turns)),
            profile.far_fall,
            profile.sas_fall,
            profile.degradation or UNDEFINED,
            profile.failure_mode or UNDEFINED,
        ]
        for profile in profiles
    ]
    about = (
        "Mean FAR by turn, T1 the first, and how far the means fall from the lowest level to the "
        f"highest. {defined(glossary(results.rules), 'degrader', 'coupled collapse')}"
    )
    return Table("How subjects degrade", names, rows, about)


def _means(results: Results) -> Table:
    analysis = results.analysis
    names = columns(
        "mean of",
        TableColumn("value", Value),
        TableColumn("95% over subjects", Interval, key="over_subjects"),
        TableColumn("95% over concepts", Interval, key="over_concepts"),
        TableColumn("95% over sessions (Wilson)", Interval, key="over_sessions"),
    )
    rows: list[list[TableCell]] = [
        [
            mean.scale.upper(),
            mean.mean,
            resampled(mean.over_subjects),
            resampled(mean.over_concepts),
            None,
        ]
        for mean in analysis.grand_means
    ]
    follow, below = analysis.follow_up, analysis.thresholds.informative_below
    sessions = f"sessions with turn-4 FAR below {below:g}"
    rows.append([sessions, follow.informative, None, None, follow.interval])
    rows.append(["turn-5 FAR of these sessions", follow.far, None, None, None])
    return Table("Over the whole study", names, rows)


def _turns(results: Results) -> Table:
    judged = Counter(
        plural(turn.n_judges, "judge") for cell in results.cells for turn in cell.turns
    )
    traps = Counter(cell.trap_source for cell in results.cells)
    rows = [*_counts("answers judged by", judged), *_counts("trap questions from", traps)]
    names = columns("what", "which", TableColumn("count", int))
    return Table("Turns", names, rows, section="coverage")


def _counts(title: str, counts: Mapping[str, int]) -> Iterator[list[TableCell]]:
    for name, count in sorted(counts.items()):
        yield [title, name, count]
