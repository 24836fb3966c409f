"""What a DDFT study says as a whole, as tables."""

from __future__ import annotations

from harness.protocols.ddft.analysis.schema import Analysis, ArmComparison, Correlation, Universe
from harness.protocols.ddft.analysis.schema_inference import CorrelationInterval
from harness.results import Interval, Results, Value
from harness.results.table import EstimatedValue, Table, TableCell, TableColumn, columns

SECTION = "study"
INVALID = "the study is invalid"


def study_tables(results: Results) -> list[Table]:
    """Return the tables on correlations, predictions, domains, concepts and rankings."""
    analysis: Analysis = results.analysis
    return [
        _correlations(analysis),
        _predictions(analysis),
        _domains(analysis),
        _variances(analysis),
        _turns(analysis),
        _concepts(analysis),
        _danger(analysis),
        _stability(analysis),
        *(_arm(arm) for arm in analysis.arms),
        _retest(analysis),
        _first_places(analysis, is_valid=results.valid),
        _multiverse(analysis, is_valid=results.valid),
    ]


def _correlations(analysis: Analysis) -> Table:
    names = columns(
        "variable",
        "method",
        TableColumn("coefficient", Value),
        TableColumn("95% interval", Interval, key="interval"),
        TableColumn("p (t)", Value, has_n=False),
        TableColumn("p (exact)", Value, has_n=False),
        TableColumn("Holm", Value, has_n=False),
        TableColumn("detectable", Value, has_n=False),
        "direction",
    )
    groups = analysis.correlations
    correlations = [*groups.design, *groups.turns, *groups.outside, groups.turn_4_apart]
    intervals = {interval.name: interval for interval in analysis.inference.correlations}
    rows = [_correlation(correlation, intervals[correlation.name]) for correlation in correlations]
    partial = groups.turn_4_partial
    name = "turn 4, given FAR' and HOC"
    blanks = [None] * 4
    rows.append([name, "partial", partial.coefficient, None, partial.p, *blanks])
    about = (
        "Detectable: the smallest |coefficient| that this n shows at alpha 0.05 with power 0.8. "
        "The interval of a flag is that of the difference of mean CI." + _without_ci(analysis)
    )
    return Table("Correlations with raw CI", names, rows, about, SECTION)


def _without_ci(analysis: Analysis) -> str:
    """Return how many subjects are in no correlation, and why; "" for none."""
    reasons = analysis.inference.without_ci
    if not reasons:
        return ""
    total = analysis.complete_subjects.n
    words = "; ".join(f"{count}: {reason}" for reason, count in reasons.items())
    return f" {sum(reasons.values())} of {total} subjects are left out without a CI ({words})."


def _correlation(correlation: Correlation, inferred: CorrelationInterval) -> list[TableCell]:
    beginning: list[TableCell] = [correlation.name, correlation.method, correlation.coefficient]
    if correlation.coefficient.value is None:
        return [*beginning, *[None] * 6]
    return [
        *beginning,
        inferred.interval,
        correlation.p,
        correlation.exact.p,
        correlation.holm,
        correlation.detectable,
        correlation.direction or "",
    ]


def _predictions(analysis: Analysis) -> Table:
    names = columns(
        "prediction",
        TableColumn("estimate", EstimatedValue),
        "by our rule",
        "what it could show",
        "by the paper's rule",
    )
    rows: list[list[TableCell]] = [
        [
            f"{prediction.name}: {prediction.claim}",
            EstimatedValue(test.estimate, test.interval),
            f"{test.verdict} ({test.rule})",
            test.could_show,
            f"{prediction.paper_verdict} ({prediction.paper_rule})",
        ]
        for prediction, test in zip(
            analysis.predictions, analysis.inference.predictions, strict=True
        )
    ]
    return Table(
        "The paper's predictions", names, rows, section=SECTION, has_findings_in_words=True
    )


def _domains(analysis: Analysis) -> Table:
    names = columns(
        "domain",
        TableColumn("mean FAR", Value),
        TableColumn("95% over subjects", Interval, key="over_subjects"),
    )
    rows: list[list[TableCell]] = [
        [mean.domain, mean.far, analysis.inference.domains[mean.domain]]
        for mean in analysis.domains.means
    ]
    return Table("FAR by domain", names, rows, section=SECTION)


def _variances(analysis: Analysis) -> Table:
    names = columns(
        "analysis",
        TableColumn("F", Value),
        "df",
        TableColumn("p", Value, has_n=False),
        TableColumn("p corrected", Value, has_n=False),
        TableColumn("eta squared", Value, has_n=False),
    )
    domains = analysis.domains
    repeated = domains.repeated_measures
    rows: list[list[TableCell]] = [
        [name, anova.f, f"{anova.df}, {anova.df_error}", anova.p, corrected, anova.eta_squared]
        for name, anova, corrected in (
            ("pooled turns (the paper's)", domains.pooled_turns, None),
            ("repeated measures", repeated.anova, repeated.p_corrected),
        )
    ]
    return Table("Do domains differ?", names, rows, domains.why_they_differ, SECTION)


def _turns(analysis: Analysis) -> Table:
    names = columns(
        "turn",
        TableColumn("mean FAR", Value),
        TableColumn("mean SAS", Value),
        TableColumn("variance of FAR", Value),
        TableColumn("its ratio to turn 1's", Value, has_n=False, key="ratio_to_turn_1"),
    )
    rows: list[list[TableCell]] = [
        [str(turn.turn), turn.far, turn.sas, turn.far_variance, turn.ratio_to_turn_1]
        for turn in analysis.turns
    ]
    return Table("Turn by turn", names, rows, section=SECTION, is_folded=True)


def _concepts(analysis: Analysis) -> Table:
    names = columns(
        "concept",
        "domain",
        TableColumn("mean FAR", Value),
        TableColumn("variance over subjects and levels", Value, digits=4, key="far_variance"),
    )
    rows: list[list[TableCell]] = [
        [concept.concept, concept.domain, concept.far, concept.far_variance]
        for concept in analysis.concepts
    ]
    return Table("Concepts", names, rows, section=SECTION)


def _danger(analysis: Analysis) -> Table:
    rows: list[list[TableCell]] = [
        [phenotype.phenotype, phenotype.danger_zone] for phenotype in analysis.danger_by_phenotype
    ]
    names = columns(
        "phenotype", TableColumn("mean danger zone of its subjects", Value, key="danger")
    )
    return Table("The danger zone by phenotype", names, rows, section=SECTION, is_folded=True)


def _stability(analysis: Analysis) -> Table:
    names = columns("rule", TableColumn("tau", Value))
    rows: list[list[TableCell]] = [
        [alternative.alternative, alternative.tau.coefficient] for alternative in analysis.stability
    ]
    title = "How stable the ranking is: Kendall's tau with raw CI under another rule"
    return Table(title, names, rows, section=SECTION, key="stability")


def _arm(comparison: ArmComparison) -> Table:
    names = columns(
        "subject",
        TableColumn("paper's arm", Value, key="paper"),
        TableColumn(comparison.arm, Value, key="arm"),
        TableColumn("difference", Value),
    )
    rows: list[list[TableCell]] = [
        [subject.subject, subject.paper, subject.arm, subject.difference]
        for subject in comparison.subjects
    ]
    rows.append(["mean over subjects", None, None, comparison.difference])
    title = f"Turn-4 FAR in the arm {comparison.arm}"
    return Table(title, names, rows, section=SECTION)


def _retest(analysis: Analysis) -> Table:
    names = columns(
        "scale",
        TableColumn("ICC(1,1) over repeats", Value, key="icc_1_1"),
        TableColumn("mean difference", Value),
    )
    rows: list[list[TableCell]] = [
        [retest.scale.upper(), retest.icc, retest.mean_difference] for retest in analysis.retest
    ]
    return Table("Test and retest", names, rows, section=SECTION)


def _first_places(analysis: Analysis, *, is_valid: bool) -> Table:
    multiverse = analysis.multiverse
    shares = [*sorted(multiverse.first.items())]
    shares.append(("the study's own ranking", multiverse.same_ranking))
    rows: list[list[TableCell]] = [
        [name, share if is_valid else Value(None, 0, INVALID)] for name, share in shares
    ]
    about = (
        "Of all combinations of the rules that the paper leaves open: the share in which a subject "
        "is first, alone or with others, and in which the ranking is the study's own."
    )
    names = columns("who is first", TableColumn("share", Value))
    return Table("How much of the ranking is a choice", names, rows, about, SECTION)


def _multiverse(analysis: Analysis, *, is_valid: bool) -> Table:
    universes = analysis.multiverse.rows
    empty = ""
    if not is_valid:
        empty, universes = f"There is no ranking: {INVALID}.", []
    elif not any(place.rank for universe in universes for place in universe.ranking):
        empty = f"No subject has a CI under any of {len(universes)} combinations of rules."
        universes = []
    names = columns(
        "normalization", "empty FAR'", "HOC rule", TableColumn("theta", float), "ranking"
    )
    rows: list[list[TableCell]] = [
        [
            universe.normalization,
            universe.empty_far_prime,
            universe.hoc_rule,
            universe.theta,
            _ranking(universe),
        ]
        for universe in universes
    ]
    title = "Multiverse: the ranking under every combination of rules"
    return Table(title, names, rows, section=SECTION, is_folded=True, key="multiverse", empty=empty)


def _ranking(universe: Universe) -> str:
    ranked = [f"{place.rank}. {place.subject}" for place in universe.ranking if place.rank]
    return ", ".join(ranked) or "undefined"
