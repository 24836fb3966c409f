"""What a drill found: how deep each target's knowledge holds, run by run and as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.report.digits import Notes
from harness.report.drill_figures import figures
from harness.report.section import Grid, Section, figures_section
from harness.results import DrillResults, RunMetrics, Share, Value

CENSORED = "+"


def results(found: DrillResults) -> Section:
    """Give EVD with its intervals, by target and domain."""
    about = (
        "EVD is the sum of S(d), the share of questions that hold down to depth d. Its interval "
        "resamples whole branches, since the questions of a branch hang together. A + says that a "
        "run ended before its knowledge did: EVD is at least that."
    )
    parts = [_cells(found), _targets(found), _differences(found), _runs(found), _spreads(found)]
    return Section("results", "Results", about, parts)


def drawn(found: DrillResults, bands: Any) -> Section:
    """Give the figures."""
    return figures_section(figures(found, bands))


def study_level(found: DrillResults) -> Section:
    """Give rankings, errors, and what other rules would have given."""
    parts = [
        _rankings(found),
        _errors(found),
        _rises(found),
        _smaller_n(found),
        _other_thetas(found),
        _depths(found.runs),
    ]
    return Section("study", "The study as a whole", "", parts)


def _rank(rank: int | None, short: int) -> str:
    if short:
        return "none: short of facts"
    return "" if rank is None else str(rank)


def _evd(evd: Value, censored: int, notes: Notes) -> str:
    """Give an EVD, marked where it may be more."""
    if evd.value is None or not censored:
        return notes.number(evd)
    return f"{evd.value:.3f}{CENSORED} (n={evd.n:,})"


def _cells(found: DrillResults) -> Grid:
    notes, unit = Notes(), found.analysis.currency or "unit of cost"
    rows = [
        [
            part.target,
            part.domain,
            _evd(part.evd, part.censored, notes),
            notes.interval(part.two_way),
            notes.bare(part.two_way_se),
            _rank(part.rank, part.short),
            notes.number(part.accuracy),
            notes.number(part.cost, 4),
            notes.number(part.evd_per_cost),
        ]
        for part in found.analysis.cells
    ]
    columns = (
        "target", "domain", "EVD", "95% interval", "standard error", "rank in the domain",
        "accuracy", f"cost of a run, in {unit}", f"EVD per {unit}",
    )  # fmt: skip
    return Grid("EVD by target and domain", columns, rows, notes=notes.said)


def _targets(found: DrillResults) -> Grid:
    notes = Notes()
    rows = [
        [
            part.target,
            notes.number(part.evd),
            _rank(part.rank, part.short),
            notes.number(part.accuracy),
            notes.number(part.evd_per_cost),
        ]
        for part in found.analysis.targets
    ]
    columns = ("target", "mean EVD of its domains", "rank", "accuracy", "EVD per unit of cost")
    return Grid("Targets", columns, rows, notes=notes.said)


def _differences(found: DrillResults) -> Grid:
    notes = Notes()
    rows = [
        [
            part.domain,
            f"{part.first} less {part.second}",
            notes.number(part.difference),
            notes.interval(part.two_way),
            _apart(part.two_way),
        ]
        for part in found.analysis.differences
    ]
    columns = ("domain", "targets", "difference of EVD", "95% interval", "told apart")
    return Grid("Differences", columns, rows, notes=notes.said)


def _apart(interval: Any) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return "no" if interval.low <= 0 <= interval.high else "yes"


def _runs(found: DrillResults) -> Grid:
    notes = Notes()
    rows = [
        [
            part.cell.name,
            part.stop,
            str(len(part.depths)),
            _evd(part.evd.value, part.evd.censored, notes),
            notes.bare(part.evd.exclusive),
            notes.bare(part.evd.left),
            notes.bare(part.final_survival),
            notes.bare(part.median_survival_depth, 0),
            notes.bare(part.deepest_correct, 0),
            notes.number(part.accuracy),
            f"{part.shortfall:,}",
            ", ".join(map(str, part.short)),
        ]
        for part in found.runs
    ]
    columns = (
        "run", "ended by", "depths", "EVD", "without the last S", "left at most", "last S",
        "median survival depth", "deepest right answer", "accuracy", "questions short",
        "short at depths",
    )  # fmt: skip
    return Grid("Runs", columns, rows, notes=notes.said)


def _spreads(found: DrillResults) -> Grid:
    notes = Notes()
    rows = [
        [
            part.cell.name,
            notes.number(part.evd.two_way_se),
            notes.interval(part.evd.two_way),
            notes.number(part.evd.seed_spread),
        ]
        for part in found.runs
    ]
    columns = ("run", "standard error", "95% interval", "another seed moves a bound by (SD)")
    about = "Whole branches resampled, widened for facts that several questions share."
    return Grid("How sure EVD is", columns, rows, about, notes.said, folded=True)


def _rankings(found: DrillResults) -> Grid:
    notes, analysis = Notes(), found.analysis
    named = [
        (f"{part.domain}: EVD and accuracy", part.coefficient)
        for part in analysis.accuracy_rankings
    ]
    named += [
        (f"{part.first} and {part.second}: EVD", part.coefficient)
        for part in analysis.domain_rankings
    ]
    rows = [[name, notes.number(coefficient)] for name, coefficient in named]
    title = "Do rankings agree? Kendall's tau over targets"
    return Grid(title, ("rankings", "tau"), rows, notes=notes.said)


def _errors(found: DrillResults) -> Grid:
    notes, analysis = Notes(), found.analysis
    rows = [
        [what, part.name, notes.share(part)]
        for what, parts in (("tier", analysis.errors_by_tier), ("type", analysis.errors_by_type))
        for part in parts
    ]
    return Grid("Wrong answers", ("by", "which", "share"), rows, notes=notes.said)


def _rises(found: DrillResults) -> Grid:
    rows = [
        [run.cell.name, rise.easier, rise.harder, f"{rise.by:.3f}"]
        for run in found.runs
        for rise in run.rises
    ]
    columns = ("run", "easier tier", "harder tier", "answered better by")
    return Grid("Where a harder tier was answered better", columns, rows)


def _smaller_n(found: DrillResults) -> Grid:
    notes = Notes()
    rows = [
        [
            f"{size.questions}",
            f"{part.target}, {part.domain}",
            notes.number(part.evd),
            notes.bare(part.sd),
            notes.bare(part.unfinished),
        ]
        for size in found.analysis.smaller_n
        for part in size.cells
    ]
    columns = ("questions", "cell", "mean EVD", "SD within a run", "share cut off by the run's end")
    about = "Over seeded subsamples of each run's questions; n counts them."
    return Grid("With fewer questions", columns, rows, about, notes.said, folded=True)


def _other_thetas(found: DrillResults) -> Grid:
    notes = Notes()
    rows = [
        [
            f"{other.theta:g}",
            f"{part.target}, {part.domain}",
            notes.number(part.evd),
            _rank(part.rank, part.short),
        ]
        for other in found.analysis.other_thetas
        for part in other.cells
    ]
    columns = ("theta", "cell", "mean EVD", "rank")
    return Grid("With another theta", columns, rows, notes=notes.said, folded=True)


def _depths(runs: Sequence[RunMetrics]) -> Grid:
    notes, rows = Notes(), []
    for run in runs:
        for depth in run.depths:
            rows.append(
                [
                    run.cell.name,
                    f"{depth.depth}, {depth.tier}",
                    notes.share(Share("", depth.correct, depth.accuracy)),
                    notes.interval(depth.wilson),
                    notes.bare(depth.survival),
                    f"{depth.distinct:,}",
                ]
            )
    columns = ("run", "depth, tier", "A(d)", "95% interval (Wilson)", "S(d)", "different facts")
    return Grid("Every depth", columns, rows, notes=notes.said, folded=True)
