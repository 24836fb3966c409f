"""What another jury changes for each subject, as a table."""

from __future__ import annotations

from harness.protocols.ddft.metrics.scoreboard import CI_RAW, FAR, SAS, scoreboard
from harness.results import Results, Value
from harness.results.table import Table, TableCell, TableColumn, columns

METRICS = (FAR, SAS, CI_RAW)


def jury_table(before: Results, after: Results) -> Table:
    """Return each subject's metrics under both juries, of studies that share their dialogues."""
    old, new = _values(before), _values(after)
    rows: list[list[TableCell]] = [
        [
            subject.subject,
            subject.arm,
            *(
                values[subject.subject, subject.arm, metric.id]
                for metric in METRICS
                for values in (old, new)
            ),
            f"{subject.phenotype or 'undefined'} -> {other.phenotype or 'undefined'}",
        ]
        for subject, other in zip(before.subjects, after.subjects, strict=True)
    ]
    names = (
        TableColumn(f"{metric.name} {when}", Value)
        for metric in METRICS
        for when in ("before", "after")
    )
    return Table("What the jury changes", columns("subject", "arm", *names, "phenotype"), rows)


def _values(results: Results) -> dict[tuple[str, str, str], Value]:
    return {
        (scored.model, scored.place, scored.metric.id): scored.value
        for scored in scoreboard(results)
    }
