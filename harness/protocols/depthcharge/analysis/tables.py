"""A drill's results as tables: EVD by target and domain first, then the study as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.protocols.depthcharge.analysis.glossary import glossary
from harness.protocols.depthcharge.analysis.schema import DrillAnalysis
from harness.protocols.depthcharge.analysis.study_tables import priced, rank_of, study_tables
from harness.results import TIERS, DrillResults, Interval, RunMetrics, Share, Value
from harness.results.depthcharge import ASKED
from harness.results.glossary import defined
from harness.results.table import EstimatedValue, Table, TableCell, TableColumn, columns

CENSORED = "+"
AT_LEAST = "at least this: a run ended before its knowledge did"
MOST_ROWS = 12  # that a page shows without being asked


def tables(results: DrillResults) -> list[Table]:
    """Return the tables of a study."""
    analysis: DrillAnalysis = results.analysis
    return [
        _cells(results),
        _targets(analysis, is_valid=results.valid),
        _tiers(analysis),
        _differences(analysis),
        _runs(results.runs),
        _errors_of_evd(results.runs),
        *study_tables(results),
        _slots(results),
        _lookups(results),
        _unasked(results),
    ]


def _evd(evd: Value, interval: Interval, *, is_censored: bool) -> EstimatedValue:
    """Return an EVD, marked where it may be more."""
    return (
        EstimatedValue(evd, interval, CENSORED, AT_LEAST)
        if is_censored
        else EstimatedValue(evd, interval)
    )


def _cells(results: DrillResults) -> Table:
    analysis: DrillAnalysis = results.analysis
    names = columns(
        "target",
        "domain",
        TableColumn("EVD", EstimatedValue),
        TableColumn("standard error", Value, has_n=False, key="se"),
        TableColumn("rank in the domain", Value, digits=0, has_n=False, key="rank"),
        TableColumn("runs cut short", int),
        TableColumn("accuracy", Value),
        TableColumn(priced("cost of a run", analysis), Value, digits=4, key="cost"),
        TableColumn(priced("EVD per cost", analysis), Value, key="evd_per_cost"),
    )
    rows: list[list[TableCell]] = [
        [
            cell.target,
            cell.domain,
            _evd(cell.evd, cell.two_way, is_censored=cell.censored > 0),
            cell.two_way_se,
            rank_of(cell, is_valid=results.valid),
            cell.censored,
            cell.accuracy,
            cell.cost,
            cell.evd_per_cost,
        ]
        for cell in analysis.cells
    ]
    about = f"{defined(glossary(results.rules), 'EVD', 'S(d)', '+')} n of EVD counts runs."
    return Table("EVD by target and domain", names, rows, about)


def _targets(analysis: DrillAnalysis, *, is_valid: bool) -> Table:
    names = columns(
        "target",
        TableColumn("mean EVD of its domains", Value, key="evd"),
        TableColumn("rank", Value, digits=0, has_n=False),
        TableColumn("accuracy", Value),
        TableColumn(priced("cost of a run", analysis), Value, digits=4, key="cost"),
        TableColumn(priced("EVD per cost", analysis), Value, key="evd_per_cost"),
    )
    rows: list[list[TableCell]] = [
        [
            target.target,
            target.evd,
            rank_of(target, is_valid=is_valid),
            target.accuracy,
            target.cost,
            target.evd_per_cost,
        ]
        for target in analysis.targets
    ]
    return Table("Targets", names, rows)


def _tiers(analysis: DrillAnalysis) -> Table:
    names = columns("target", *(TableColumn(tier, Share) for tier in TIERS))
    not_reached = Value(None, 0, "no run came to this tier")
    rows: list[list[TableCell]] = []
    for target in analysis.targets:
        shares = {tier.name: tier for tier in target.tiers}
        rows.append(
            [target.target, *(shares.get(tier, Share(tier, 0, not_reached)) for tier in TIERS)]
        )
    return Table("Accuracy by tier, over all domains", names, rows, key="accuracy-by-tier")


def _differences(analysis: DrillAnalysis) -> Table:
    names = columns(
        "domain",
        "target",
        "less target",
        TableColumn("difference of EVD", EstimatedValue, key="difference"),
        TableColumn("standard error", Value, has_n=False, key="se"),
        "told apart",
    )
    rows: list[list[TableCell]] = [
        [
            difference.domain,
            difference.first,
            difference.second,
            EstimatedValue(difference.difference, difference.two_way),
            difference.two_way_se,
            _is_apart(difference.two_way),
        ]
        for difference in analysis.differences
    ]
    about = "Each target answered questions of its own."
    empty = "There are no two targets with a run in the same domain."
    return Table("Differences between targets", names, rows, about, empty=empty)


def _is_apart(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return "no" if interval.low <= 0 <= interval.high else "yes"


def _runs(runs: Sequence[RunMetrics]) -> Table:
    names = columns(
        "run",
        "ended by",
        TableColumn("depths", int),
        TableColumn("EVD", EstimatedValue),
        TableColumn("without the S below theta", Value, has_n=False, key="evd_exclusive"),
        TableColumn("at most", Value, has_n=False, key="evd_at_most"),
        TableColumn("left at most", Value, has_n=False),
        TableColumn("last S", Value, has_n=False),
        TableColumn("median survival depth", Value, digits=0, has_n=False),
        TableColumn("deepest right answer", Value, digits=0, has_n=False),
        TableColumn("accuracy", Value),
        TableColumn("questions short", int),
        "short at depths",
    )
    return Table("Runs", names, [_run(run) for run in runs])


def _run(run: RunMetrics) -> list[TableCell]:
    evd = run.evd
    return [
        run.cell.name,
        run.stop,
        len(run.depths),
        _evd(evd.value, evd.two_way, is_censored=evd.censored),
        evd.exclusive,
        evd.at_most,
        evd.left,
        run.final_survival,
        run.median_survival_depth,
        run.deepest_correct,
        run.accuracy,
        run.shortfall,
        ", ".join(map(str, run.short)),
    ]


def _errors_of_evd(runs: Sequence[RunMetrics]) -> Table:
    names = columns(
        "run",
        TableColumn("standard error", Value, key="se"),
        TableColumn("95% interval", Interval, key="evd"),
        TableColumn("another seed moves a bound by (SD)", Value, digits=4, key="seed_spread"),
    )
    rows: list[list[TableCell]] = [
        [run.cell.name, run.evd.two_way_se, run.evd.two_way, run.evd.seed_spread] for run in runs
    ]
    about = (
        "Whole branches resampled, widened for facts that several questions share; n counts "
        "branches, that of the seed's spread resamples."
    )
    return Table("How sure EVD is", names, rows, about, is_folded=True)


def _slots(results: DrillResults) -> Table:
    names = columns(
        "run",
        *(
            TableColumn(name, int)
            for name in ("depths", "planned", "with a verdict", "verdict missing")
        ),
        TableColumn("no fact found", int),
    )
    rows: list[list[TableCell]] = [
        [
            run.cell.name,
            len(run.depths),
            *(
                sum(getattr(depth, name) for depth in run.depths)
                for name in ("planned", "asked", "missing", "unverifiable")
            ),
        ]
        for run in results.runs
    ]
    return Table("Questions", names, rows, section="coverage")


def _lookups(results: DrillResults) -> Table:
    names = columns(
        "run",
        "source",
        *(TableColumn(name, int) for name in ("look-ups", "found", "without an answer")),
    )
    rows: list[list[TableCell]] = [
        [cell.cell.name, source, lookups.lookups, lookups.found, lookups.failed]
        for cell in results.cells
        for source, lookups in cell.lookups.items()
    ]
    is_long = len(rows) > MOST_ROWS
    return Table("Look-ups", names, rows, section="coverage", is_folded=is_long)


def _unasked(results: DrillResults) -> Table:
    counts = Counter(
        (cell.cell.target, probe.state, str(probe.verdict or probe.reason))
        for cell in results.cells
        for probe in cell.probes
        if probe.state != ASKED
    )
    names = columns("target", "what became of the slot", "why", TableColumn("count", int))
    rows: list[list[TableCell]] = [[*place, count] for place, count in sorted(counts.items())]
    about = "Every deal of a slot counts: one without a fact is dealt anew."
    empty = "Every slot has a verdict."
    return Table("Slots without a verdict", names, rows, about, "coverage", empty=empty)
