"""The study-level analysis as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from harness.protocols.ddft.analysis.schema_jury import ScaleAgreement
from harness.results import Results
from harness.results.fallback_tables import fallback_tables
from harness.results.table import Table, answers_table, number


def tables(found: Results) -> list[Table]:
    """Give the tables, each number with its n or the reason why there is none."""
    return [
        _subjects(found),
        *answers_table(found.answers),
        _correlations(found),
        *_agreements(found),
        _predictions(found),
        _multiverse(found),
        *fallback_tables(found.fallbacks),
    ]


def _subjects(found: Results) -> Table:
    columns = ("subject", "HOC", "CRI", "FAR'", "SAS'", "CI raw", "CI", "phenotype", "danger zone")
    rows = []
    for part in found.subjects:
        name = part.subject if part.arm == "paper" else f"{part.subject} ({part.arm})"
        values = (part.hoc, part.cri, part.far_prime, part.sas_prime, part.ci_raw, part.ci)
        label = part.phenotype or "undefined"
        rows.append([name, *map(number, values), label, number(part.danger_zone)])
    return Table("Subjects", columns, rows)


def _correlations(found: Results) -> Table:
    groups = found.analysis.correlations
    columns = ("variable", "coefficient", "p (t)", "p (exact)", "Holm", "direction")
    rows = []
    for part in [*groups.design, *groups.turns, *groups.outside]:
        row = [f"{part.name} ({part.method})", number(part.coefficient)]
        if part.coefficient.value is not None:
            numbers = (part.p, part.exact.p, part.holm)
            row += [*map(number, numbers), part.direction or "-"]
        rows.append(row)
    return Table("Correlations with CI (raw)", columns, rows)


def _agreements(found: Results) -> list[Table]:
    """Give the agreement between models, and how far the phrasings of one model agree."""
    return [_agreement(part.heading, part.scales) for part in found.analysis.jury.agreements]


def _agreement(heading: str, scales: Sequence[ScaleAgreement]) -> Table:
    rows = []
    for part in scales:
        agreement = part.agreement
        values = (
            agreement.variance,
            agreement.mean_absolute_deviation,
            agreement.alpha,
            agreement.icc["ICC(A,1)"],
        )
        rows.append([part.scale.upper(), *map(number, values)])
    columns = ("scale", "mean variance", "MAD", "alpha (interval)", "ICC(A,1)")
    return Table(heading, columns, rows)


def _predictions(found: Results) -> Table:
    rows = [
        [part.name, number(part.estimate), part.verdict, part.paper_verdict]
        for part in found.analysis.predictions
    ]
    return Table("Predictions", ("prediction", "estimate", "by our rule", "by the paper's"), rows)


def _multiverse(found: Results) -> Table:
    title = "Multiverse: the ranking under every combination of rules"
    columns = ("normalization", "empty FAR'", "HOC rule", "theta", "ranking")
    rows = []
    for row in found.analysis.multiverse.rows:
        ranked = [f"{place.rank}. {place.subject}" for place in row.ranking if place.rank]
        rule = (row.normalization, row.empty_far_prime, row.hoc_rule, f"{row.theta:g}")
        rows.append([*rule, ", ".join(ranked)])
    if not found.valid:
        return Table(f"{title}: none, as the study is invalid", columns, [])
    if not any(row[-1] for row in rows):
        return Table(f"{title}: no subject has a CI under any of {len(rows)}", columns, [])
    return Table(title, columns, [[*row[:-1], row[-1] or "undefined"] for row in rows])
