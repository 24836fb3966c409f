"""The judges of a DDFT study as tables: are they usable, do they agree, what each one changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.protocols.ddft.analysis.schema import Analysis
from harness.protocols.ddft.analysis.schema_inference import AgreementIntervals
from harness.protocols.ddft.analysis.schema_jury import Jury, ScaleAgreement
from harness.results import Value
from harness.results.digits import listed
from harness.results.table import EstimatedValue, Table, TableCell, TableColumn, columns

SECTION = "jury"
SPREADS = (
    ("mean variance (ddof 0)", "variance"),
    ("mean variance (ddof 1)", "variance_ddof1"),
    ("mean SD (ddof 0)", "sd"),
    ("mean absolute deviation", "mean_absolute_deviation"),
)
ALPHA = "Krippendorff's alpha, interval"


def jury_tables(analysis: Analysis) -> list[Table]:
    """Return the tables on the judges."""
    agreements = [
        table
        for agreement in analysis.jury.agreements
        for table in (
            _agreement(analysis, agreement.heading, agreement.scales),
            _kappas(agreement.heading, agreement.scales),
        )
    ]
    jury = analysis.jury
    return [_validity(jury), *agreements, _families(jury), _left_out(jury)]


def _validity(jury: Jury) -> Table:
    names = columns(
        "judge",
        TableColumn("share usable", Value),
        TableColumn("mean asks", Value, digits=2, has_n=False),
        "what became of its judgements",
        "repaired",
    )
    rows: list[list[TableCell]] = [
        [judge.judge, judge.ok, judge.asks, counted(judge.states), counted(judge.repaired)]
        for judge in jury.validity
    ]
    about = "A reply that stays unusable after a second ask is missing, never a 0."
    return Table("Is each judge usable?", names, rows, about, SECTION)


def counted(counts: Mapping[str, int]) -> str:
    """Return counts by name as a list."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def _agreement(analysis: Analysis, heading: str, scales: Sequence[ScaleAgreement]) -> Table:
    rows: list[list[TableCell]] = [
        [name, *(getattr(scale.agreement, field) for scale in scales)] for name, field in SPREADS
    ]
    by_scale = [analysis.inference.agreement_on(heading, scale.scale) for scale in scales]
    both = list(zip(scales, by_scale, strict=True))
    rows.append([ALPHA, *(EstimatedValue(s.agreement.alpha, i.alpha) for s, i in both)])
    kinds = sorted({kind for scale in scales for kind in scale.agreement.icc})
    rows += [
        [kind, *(EstimatedValue(s.agreement.icc[kind], i.icc[kind]) for s, i in both)]
        for kind in kinds
    ]
    rows += [
        [f"mean variance of {name} answers", *(getattr(scale, name) for scale in scales)]
        for name in ("clear", "edge")
    ]
    at = analysis.thresholds
    about = (
        f"Clear answers: consensus FAR > {at.clear_above:g}; edge answers: between "
        f"{at.edge_above:g} and {at.edge_below:g}. Intervals of alpha and ICC: 95%, by the "
        "jackknife over whole subjects."
    )
    about += "".join(map(_constant, by_scale))
    names = columns(
        "measure", *(TableColumn(scale.scale.upper(), EstimatedValue) for scale in scales)
    )
    return Table(heading, names, rows, about, SECTION)


def _constant(intervals: AgreementIntervals) -> str:
    """Name the judges that gave one score to every answer, if any did."""
    if not intervals.constant:
        return ""
    judges = [f"{judge} ({score:g})" for judge, score in intervals.constant.items()]
    return f" Gave every answer the same {intervals.scale.upper()}: {listed(judges)}."


def _kappas(heading: str, scales: Sequence[ScaleAgreement]) -> Table:
    rows: list[list[TableCell]] = []
    for scale in scales:
        for binned in scale.kappas:
            place = [scale.scale.upper(), binned.bins, binned.weights]
            rows.append([*place, "mean of the pairs", binned.mean])
            rows += [
                [*place, f"{pair.first} and {pair.second}", pair.kappa] for pair in binned.pairs
            ]
    names = columns("scale", "bins", "weights", "judges", TableColumn("kappa", Value))
    title = f"{heading}: Cohen's kappa over bins"
    return Table(title, names, rows, _about_bins(scales), SECTION, is_folded=True)


def _about_bins(scales: Sequence[ScaleAgreement]) -> str:
    """Say where the bins are cut."""
    cuts = {
        binned.bins: ", ".join(f"{edge:g}" for edge in binned.edges)
        for scale in scales
        for binned in scale.kappas
    }
    return "; ".join(f"{bins}: cut at {edges}" for bins, edges in cuts.items())


def _families(jury: Jury) -> Table:
    names = columns(
        "scale",
        TableColumn("judges of the subject's family", Value, key="same_family"),
        TableColumn("other judges", Value, key="other_families"),
        TableColumn("difference on the same answer", Value, key="difference"),
    )
    rows: list[list[TableCell]] = [
        [family.scale.upper(), family.own, family.others, family.difference]
        for family in jury.families
    ]
    return Table("Do judges favour their own family?", names, rows, section=SECTION)


def _left_out(jury: Jury) -> Table:
    names = columns(
        "without",
        "phenotypes",
        TableColumn("share that changes", Value),
        TableColumn("tau of raw CI with all judges", Value, key="tau"),
    )
    rows: list[list[TableCell]] = [
        [
            judge.without,
            ", ".join(
                f"{subject.subject}: {subject.phenotype or 'undefined'}"
                for subject in judge.subjects
            ),
            judge.changed,
            judge.tau.coefficient,
        ]
        for judge in jury.left_out
    ]
    return Table("Each judge left out", names, rows, section=SECTION, has_findings_in_words=True)
