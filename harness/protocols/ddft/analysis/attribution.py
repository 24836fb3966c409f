"""What changed a subject's CI and phenotype: one part at a time put in from the other recording."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.protocols.ddft.metrics import formulas as metrics
from harness.results import Results, SubjectMetrics, Value
from harness.results.digits import number
from harness.results.table import Table, TableCell, TableColumn, columns

PARTS = {"HOC": "hoc", "CRI": "cri", "FAR'": "far_prime", "SAS'": "sas_prime"}
NORMALIZATION = "normalization"


class Swap(msgspec.Struct):
    """A subject's CI and phenotype if only this part were as it is in the other recording.

    part: one of the equation's, "normalization" (the rule, the other subjects it looks at, cuts),
    "nothing" or "everything". before, after: the part in either recording. changes: whether the
    phenotype becomes another than it was.
    """

    subject: str
    arm: str
    part: str
    before: Value | str
    after: Value | str
    ci: Value
    phenotype: str | None
    changes: bool


def swaps(before: Results, after: Results) -> list[Swap]:
    """Return the swaps of every subject and arm that both have."""
    later = {(subject.subject, subject.arm): subject for subject in after.subjects}
    return [
        swap
        for subject in before.subjects
        if (same_subject := later.get((subject.subject, subject.arm))) is not None
        for swap in _of_subject(before, after, subject, same_subject)
    ]


def _of_subject(
    before: Results, after: Results, old_metrics: SubjectMetrics, new_metrics: SubjectMetrics
) -> list[Swap]:
    def swap(
        name: str, old: Value | str, new: Value | str, ci: Value, by: Results = before
    ) -> Swap:
        kind = metrics.phenotype(ci.value, *_phenotype_cuts(by))
        return Swap(
            old_metrics.subject,
            old_metrics.arm,
            name,
            old,
            new,
            ci,
            kind,
            kind != old_metrics.phenotype,
        )

    raw, rules = (old_metrics.ci_raw, new_metrics.ci_raw), (_rule(before), _rule(after))
    swapped = [
        swap(
            name,
            getattr(old_metrics, field),
            getattr(new_metrics, field),
            _normal(before, old_metrics, mixed),
        )
        for name, field in PARTS.items()
        for mixed in [_with(old_metrics, new_metrics, field)]
    ]
    return [
        swap("nothing", *raw, _normal(before, old_metrics, raw[0])),
        *swapped,
        swap(NORMALIZATION, *rules, _normal(after, new_metrics, raw[0]), after),
        swap("everything", *raw, _normal(after, new_metrics, raw[1]), after),
    ]


def _phenotype_cuts(results: Results) -> tuple[float, float]:
    """Return the cuts of the phenotypes, those of the paper where the results name none."""
    robust = results.rules.get("robust_above", metrics.ROBUST_ABOVE)
    return robust, results.rules.get("competent_above", metrics.COMPETENT_ABOVE)


def _rule(results: Results) -> str:
    return str(results.rules["normalization"])


def _with(old_metrics: SubjectMetrics, new_metrics: SubjectMetrics, swapped: str) -> Value:
    """Return raw CI of the old metrics with one of the new."""
    values = [
        getattr(new_metrics if field == swapped else old_metrics, field) for field in PARTS.values()
    ]
    return metrics.ci_raw(*values)


def _normal(results: Results, subject: SubjectMetrics, raw: Value) -> Value:
    """Normalize a raw CI in a subject's place among the others of its arm, by the study's rule."""
    arm = [metrics_of for metrics_of in results.subjects if metrics_of.arm == subject.arm]
    values = [
        raw if metrics_of.subject == subject.subject else metrics_of.ci_raw for metrics_of in arm
    ]
    place = [metrics_of.subject for metrics_of in arm].index(subject.subject)
    return metrics.normalized(values, _rule(results))[place]


def swap_table(swaps: Sequence[Swap], before: str, after: str) -> Table:
    """Return the swaps as a table; before, after: the names of the two recordings."""
    rows: list[list[TableCell]] = [
        [
            f"{swap.subject} ({swap.arm})",
            swap.part,
            _part_cell(swap.before),
            _part_cell(swap.after),
            swap.ci,
            (swap.phenotype or "undefined") + (" *" if swap.changes else ""),
        ]
        for swap in swaps
    ]
    names = columns(
        "subject", "taken over", before, after, TableColumn("CI then", Value), "phenotype"
    )
    title = "What changed the phenotype: one part at a time taken over (*: another phenotype)"
    return Table(title, names, rows)


def _part_cell(term: Value | str) -> str:
    return term if isinstance(term, str) else number(term)
