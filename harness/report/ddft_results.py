"""What a DDFT study found of each subject, and of its concepts and domains."""

from __future__ import annotations

from typing import Any

from harness.report.ddft_figures import figures
from harness.report.digits import Notes
from harness.report.section import Grid, Section, figures_section
from harness.results import Results, SubjectMetrics

NO_PHENOTYPE = "undefined"


def results(found: Results) -> Section:
    """Give the subjects' metrics with their intervals."""
    about = (
        "By the rules of the study file. Intervals are 95% percentile bootstrap intervals: for a "
        "subject's CI and the probability of its phenotype over blocks of concept and turn, for "
        "means over whole subjects or whole concepts."
    )
    return Section("results", "Results", about, [_subjects(found), _profiles(found), _means(found)])


def drawn(found: Results) -> Section:
    """Give the figures."""
    return figures_section(figures(found))


def study_level(found: Results) -> Section:
    """Give what the study says as a whole."""
    about = (
        "Over subjects with a complete grid; undefined below four. A negative coefficient of a "
        "turn's FAR says that being right there goes with a lower CI."
    )
    parts = [
        _correlations(found),
        _predictions(found),
        _domains(found),
        _variances(found),
        _concepts(found),
        _stability(found),
        *_arms(found),
        _retest(found),
        _first_places(found),
        _multiverse(found),
    ]
    return Section("study", "The study as a whole", about, parts)


def _subjects(found: Results) -> Grid:
    notes, profiles = Notes(), {part.subject: part for part in found.analysis.profiles}
    columns = (
        "subject", "HOC", "HOC (onset)", "CRI", "FAR'", "SAS'", "CI raw", "95% interval",
        f"CI ({found.rules['normalization']})", "phenotype", "its probability", "danger zone",
    )  # fmt: skip
    rows = []
    for part in found.subjects:
        profile = profiles.get(part.subject) if part.arm == found.analysis.arm else None
        values = (part.hoc, part.hoc_onset, part.cri, part.far_prime, part.sas_prime, part.ci_raw)
        rows.append(
            [
                subject_name(part, found),
                *map(notes.number, values),
                notes.bootstrap(profile.ci_raw) if profile else "",
                notes.number(part.ci),
                part.phenotype or NO_PHENOTYPE,
                notes.number(profile.probabilities[part.phenotype or NO_PHENOTYPE])
                if profile
                else "",
                notes.number(part.danger_zone),
            ]
        )
    return Grid("Subjects", columns, rows, notes=notes.said)


def subject_name(part: SubjectMetrics, found: Results) -> str:
    """Give a subject's name, with its arm where that is not the one analysed."""
    return part.subject if part.arm == found.analysis.arm else f"{part.subject} ({part.arm})"


def _profiles(found: Results) -> Grid:
    notes, profiles = Notes(), found.analysis.profiles
    turns = max((len(part.turns) for part in profiles), default=0)
    columns = (
        "subject",
        *(f"T{turn} FAR" for turn in range(1, turns + 1)),
        "fall of FAR",
        "fall of SAS",
        "degradation",
        "failure mode",
    )
    rows = [
        [
            part.subject,
            *(notes.number(turn) for turn in part.turns),
            *[""] * (turns - len(part.turns)),
            notes.number(part.far_fall),
            notes.number(part.sas_fall),
            part.degradation or NO_PHENOTYPE,
            part.failure_mode or NO_PHENOTYPE,
        ]
        for part in profiles
    ]
    about = "Mean FAR by turn, and how far the means fall from the lowest level to the highest."
    return Grid("How subjects degrade", columns, rows, about, notes.said)


def _means(found: Results) -> Grid:
    notes = Notes()
    rows = [
        [
            part.scale.upper(),
            notes.number(part.mean),
            notes.bootstrap(part.over_subjects),
            notes.bootstrap(part.over_concepts),
        ]
        for part in found.analysis.grand_means
    ]
    follow, below = found.analysis.follow_up, found.analysis.thresholds.informative_below
    wilson = f"{notes.interval(follow.interval)} (Wilson)"
    sessions = f"sessions with turn-4 FAR below {below:g}"
    rows.append([sessions, notes.number(follow.informative), wilson, ""])
    rows.append(["their turn-5 FAR", notes.number(follow.far), "", ""])
    columns = ("mean of", "value", "over subjects", "over concepts")
    return Grid("Over the whole study", columns, rows, notes=notes.said)


def _correlations(found: Results) -> Grid:
    notes, groups = Notes(), found.analysis.correlations
    columns = (
        "variable", "coefficient", "95% interval", "p (t)", "p (exact)", "Holm", "detectable",
        "direction",
    )  # fmt: skip
    parts = [*groups.design, *groups.turns, *groups.outside, groups.turn_4_apart]
    rows = [_correlation(part, notes) for part in parts]
    partial, name = groups.turn_4_partial, "turn 4, given FAR' and HOC (partial)"
    numbers = [notes.number(partial.coefficient), "", notes.bare(partial.p)]
    rows.append([name, *numbers, "", "", "", ""])
    about = "Detectable: the smallest |coefficient| that this n shows at alpha 0.05 with power 0.8."
    return Grid("Correlations with raw CI", columns, rows, about, notes.said)


def _correlation(part: Any, notes: Notes) -> list[str]:
    name = f"{part.name} ({part.method})"
    if part.coefficient.value is None:
        return [name, notes.number(part.coefficient), *[""] * 6]
    return [
        name,
        notes.number(part.coefficient),
        notes.bootstrap(part.bootstrap),
        notes.bare(part.p),
        notes.bare(part.exact.p),
        notes.bare(part.holm),
        notes.bare(part.detectable),
        part.direction or "",
    ]


def _predictions(found: Results) -> Grid:
    notes = Notes()
    rows = [
        [
            f"{part.name}: {part.claim}",
            notes.estimate(part.estimate, part.interval),
            f"{part.verdict} ({part.rule})",
            f"{part.paper_verdict} ({part.paper_rule})",
        ]
        for part in found.analysis.predictions
    ]
    columns = ("prediction", "estimate", "by our rule", "by the paper's rule")
    return Grid("The paper's predictions", columns, rows, notes=notes.said)


def _domains(found: Results) -> Grid:
    notes = Notes()
    rows = [
        [part.domain, notes.number(part.far), notes.bootstrap(part.over_subjects)]
        for part in found.analysis.domains.means
    ]
    columns = ("domain", "mean FAR", "over subjects")
    return Grid("FAR by domain", columns, rows, notes=notes.said)


def _variances(found: Results) -> Grid:
    notes, domains = Notes(), found.analysis.domains
    repeated = domains.repeated_measures
    columns = ("analysis", "F", "df", "p", "p corrected", "eta squared")
    rows = [
        [
            name,
            notes.number(anova.f),
            f"{anova.df}, {anova.df_error}",
            notes.bare(anova.p),
            corrected,
            notes.bare(anova.eta_squared),
        ]
        for name, anova, corrected in (
            ("pooled turns (the paper's)", domains.pooled_turns, ""),
            ("repeated measures", repeated.anova, notes.bare(repeated.p_corrected)),
        )
    ]
    return Grid("Do domains differ?", columns, rows, domains.why_they_differ, notes.said)


def _concepts(found: Results) -> Grid:
    notes = Notes()
    rows = [
        [part.concept, part.domain, notes.number(part.far), notes.number(part.far_variance, 4)]
        for part in found.analysis.concepts
    ]
    columns = ("concept", "domain", "mean FAR", "variance over subjects and levels")
    return Grid("Concepts", columns, rows, notes=notes.said)


def _stability(found: Results) -> Grid:
    notes = Notes()
    rows = [
        [part.alternative, notes.number(part.tau.coefficient), notes.bare(part.tau.p)]
        for part in found.analysis.stability
    ]
    title = "How stable the ranking is: Kendall's tau with raw CI under another rule"
    return Grid(title, ("rule", "tau", "p"), rows, notes=notes.said)


def _arms(found: Results) -> list[Grid]:
    grids = []
    for arm in found.analysis.arms:
        notes = Notes()
        rows = [
            [part.subject, *map(notes.number, (part.paper, part.arm, part.difference))]
            for part in arm.subjects
        ]
        rows.append(["mean over subjects", "", "", notes.number(arm.difference)])
        columns = ("subject", "paper's arm", arm.arm, "difference")
        grids.append(Grid(f"Turn-4 FAR in the arm {arm.arm}", columns, rows, notes=notes.said))
    return grids


def _retest(found: Results) -> Grid:
    notes = Notes()
    rows = [
        [part.scale.upper(), notes.number(part.icc), notes.number(part.mean_difference)]
        for part in found.analysis.retest
    ]
    columns = ("scale", "ICC(1,1) over repeats", "mean difference")
    return Grid("Test and retest", columns, rows, notes=notes.said)


def _first_places(found: Results) -> Grid:
    notes, multiverse = Notes(), found.analysis.multiverse
    rows = [[name, notes.number(share)] for name, share in sorted(multiverse.first.items())]
    rows.append(["the study's own ranking", notes.number(multiverse.same_ranking)])
    about = (
        "Of all combinations of the rules that the paper leaves open: the share in which a subject "
        "is first, alone or with others, and in which the ranking is the study's own."
    )
    columns = ("who is first", "share")
    return Grid("How much of the ranking is a choice", columns, rows, about, notes.said)


def _multiverse(found: Results) -> Grid:
    rows = []
    for row in found.analysis.multiverse.rows:
        ranked = [f"{place.rank}. {place.subject}" for place in row.ranking if place.rank]
        rule = (row.normalization, row.empty_far_prime, row.hoc_rule, f"{row.theta:g}")
        rows.append([*rule, ", ".join(ranked) or NO_PHENOTYPE])
    columns = ("normalization", "empty FAR'", "HOC rule", "theta", "ranking")
    return Grid("The ranking under every combination", columns, rows, folded=True)
