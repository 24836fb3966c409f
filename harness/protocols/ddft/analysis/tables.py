"""A DDFT study's results as tables: its subjects first, then the study as a whole, the jury."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from harness.protocols.ddft.analysis.glossary import glossary
from harness.protocols.ddft.analysis.jury_tables import jury_tables
from harness.protocols.ddft.analysis.schema_inference import SubjectInference
from harness.protocols.ddft.analysis.study_tables import study_tables
from harness.results import Interval, Results, SubjectMetrics, Value
from harness.results.digits import plural
from harness.results.glossary import defined
from harness.results.table import Table, TableCell, TableColumn, columns

UNDEFINED = "undefined"
ABOUT_SUBJECTS = ("FAR", "SAS", "HOC", "CRI", "FAR'", "SAS'", "CI")


def tables(results: Results) -> list[Table]:
    """Return the tables of a study."""
    return [
        _subjects(results),
        _levels(results),
        _sides(results),
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
        TableColumn("CI raw", Value),
        TableColumn(f"CI ({normalization})", Value, key="ci"),
        "phenotype",
        "phenotypes in the interval of CI",
        TableColumn("danger zone", Value),
    )
    inferred = {subject.subject: subject for subject in results.analysis.inference.subjects}
    rows = [
        _subject(metrics, inferred.get(metrics.subject))
        if metrics.arm == results.analysis.arm
        else _subject(metrics, None)
        for metrics in results.subjects
    ]
    about = defined(glossary(results.rules), *ABOUT_SUBJECTS)
    return Table("Subjects", names, rows, about)


def _subject(metrics: SubjectMetrics, inferred: SubjectInference | None) -> list[TableCell]:
    return [
        metrics.subject,
        metrics.arm,
        metrics.hoc,
        metrics.hoc_onset,
        metrics.cri,
        metrics.far_prime,
        metrics.sas_prime,
        metrics.ci_raw,
        metrics.ci,
        metrics.phenotype or UNDEFINED,
        ", ".join(inferred.phenotypes) if inferred else "",
        metrics.danger_zone,
    ]


def _levels(results: Results) -> Table:
    theta = results.rules["theta"]
    names = columns(
        "subject",
        TableColumn("level", float),
        TableColumn("mean FAR", Value, key="far"),
        TableColumn("standard error", Value, has_n=False, key="se"),
        TableColumn(f"confidence that it reaches {theta:g}", Value, has_n=False, key="confidence"),
        "may be on either side",
    )
    rows: list[list[TableCell]] = [
        [
            subject.subject,
            level.level,
            level.far,
            level.se,
            level.confidence,
            "yes" if level.near_theta else "no",
        ]
        for subject in results.analysis.inference.subjects
        for level in subject.levels
    ]
    about = (
        "Confidence: one-sided, by t over concepts. Either side: theta lies in the 95% interval, "
        "of all levels of the subject together."
    )
    return Table("Levels and theta", names, rows, about, is_folded=True)


def _sides(results: Results) -> Table:
    names = columns(
        "subject", "HOC may be", TableColumn("95% interval of CI raw", Interval, key="ci_raw")
    )
    rows: list[list[TableCell]] = [
        [subject.subject, "undefined" if side.hoc is None else f"{side.hoc:g}", side.ci_raw]
        for subject in results.analysis.inference.subjects
        for side in subject.sides
    ]
    about = (
        "A row for every HOC that the levels leave open; the rows of a subject together hold its "
        "CI in 95 of 100 studies. Below four concepts there is none."
    )
    return Table("How certain CI is", names, rows, about)


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
        TableColumn("95% over concepts", Interval, key="far_fall_interval"),
        TableColumn("fall of SAS", Value),
        "degradation",
    )
    inferred = {subject.subject: subject for subject in results.analysis.inference.subjects}
    rows: list[list[TableCell]] = [
        [
            profile.subject,
            *profile.turns,
            *[None] * (turns - len(profile.turns)),
            profile.far_fall,
            _fall_interval(inferred.get(profile.subject)),
            profile.sas_fall,
            _fall_class(inferred.get(profile.subject)),
        ]
        for profile in profiles
    ]
    about = (
        "Mean FAR by turn, T1 the first, and how far the means fall from the lowest level to the "
        f"highest. {defined(glossary(results.rules), 'degrader')}"
    )
    return Table("How subjects degrade", names, rows, about)


def _fall_interval(inferred: SubjectInference | None) -> Interval | None:
    return inferred.fall_interval if inferred else None


def _fall_class(inferred: SubjectInference | None) -> str:
    return (inferred.fall_class if inferred else None) or UNDEFINED


def _means(results: Results) -> Table:
    analysis = results.analysis
    names = columns(
        "mean of",
        TableColumn("value", Value),
        TableColumn("95% over subjects", Interval, key="over_subjects"),
        TableColumn("95% over concepts", Interval, key="over_concepts"),
        TableColumn("95% over both", Interval, key="over_both"),
    )
    rows: list[list[TableCell]] = [
        [
            mean.scale.upper(),
            mean.mean,
            mean.over_subjects,
            mean.over_concepts,
            mean.over_both,
        ]
        for mean in analysis.inference.means
    ]
    follow, below = analysis.follow_up, analysis.thresholds.informative_below
    sessions = f"sessions with turn-4 FAR below {below:g}"
    rows.append([sessions, follow.informative, analysis.inference.informative, None, None])
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
