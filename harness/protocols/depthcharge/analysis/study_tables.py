"""What a drill says as a whole, as tables: rankings, errors, other rules, every depth."""

from __future__ import annotations

from collections.abc import Sequence

from harness.protocols.depthcharge.analysis.schema import (
    DrillAnalysis,
    GridCell,
    RankedTarget,
    Target,
)
from harness.results import DrillResults, Interval, RunMetrics, Share, Value
from harness.results import table as tables
from harness.results.table import Table, TableColumn, columns

SECTION = "study"


def study_tables(results: DrillResults) -> list[Table]:
    """Return the tables on the study as a whole."""
    analysis: DrillAnalysis = results.analysis
    return [
        _rankings(analysis),
        _errors(analysis),
        _rises(results.runs),
        _smaller_n(analysis),
        _other_thetas(analysis, is_valid=results.valid),
        _smaller_q(analysis, is_valid=results.valid),
        _role_costs(analysis),
        _depths(results.runs),
    ]


def rank_of(place: GridCell | Target | RankedTarget, *, is_valid: bool) -> Value:
    """Return a rank from 1, or the reason why there is none; n is that of the EVD."""
    if not is_valid:
        return Value(None, 0, "the study is invalid")
    if place.short:
        return Value(None, 0, "short of facts")
    if place.rank is None:
        return Value(None, 0, place.evd.reason or "not ranked")
    return Value(place.rank, place.evd.n)


def priced(name: str, analysis: DrillAnalysis) -> str:
    """Return the name of a column of costs, with the currency where the study has prices."""
    return f"{name} ({analysis.currency})" if analysis.currency else name


def _rankings(analysis: DrillAnalysis) -> Table:
    names = columns("rankings", TableColumn("tau", Value))
    named = [
        (f"{ranking.domain}: EVD and accuracy", ranking.coefficient)
        for ranking in analysis.accuracy_rankings
    ]
    named += [
        (f"{pair.first} and {pair.second}: EVD", pair.coefficient)
        for pair in analysis.domain_rankings
    ]
    rows: list[list[tables.TableCell]] = [[name, tau] for name, tau in named]
    title = "Do rankings agree? Kendall's tau over targets"
    return Table(title, names, rows, section=SECTION, key="agreement-of-rankings")


def _errors(analysis: DrillAnalysis) -> Table:
    rows: list[list[tables.TableCell]] = [
        [grouping, share.name, share]
        for grouping, shares in (
            ("tier", analysis.errors_by_tier),
            ("type", analysis.errors_by_type),
        )
        for share in shares
    ]
    names = columns("by", "which", TableColumn("share", Share))
    return Table("Wrong answers", names, rows, section=SECTION)


def _rises(runs: Sequence[RunMetrics]) -> Table:
    rows: list[list[tables.TableCell]] = [
        [run.cell.name, rise.easier, rise.harder, rise.by] for run in runs for rise in run.rises
    ]
    names = columns("run", "easier tier", "harder tier", TableColumn("answered better by", float))
    title = "Where a harder tier was answered better"
    return Table(title, names, rows, section=SECTION, empty="In no run.")


def _smaller_n(analysis: DrillAnalysis) -> Table:
    names = columns(
        TableColumn("questions", int),
        "target",
        "domain",
        TableColumn("EVD as recorded", Value, key="recorded"),
        TableColumn("mean EVD", Value, key="evd"),
        TableColumn("SD within a run", Value, has_n=False, key="sd"),
        TableColumn("cut off by the run's end", Value, has_n=False, key="unfinished"),
    )
    rows: list[list[tables.TableCell]] = [
        [
            size.questions,
            drawn.target,
            drawn.domain,
            cell.evd,
            drawn.evd,
            drawn.sd,
            drawn.unfinished,
        ]
        for size in analysis.smaller_n
        for cell, drawn in zip(analysis.cells, size.cells, strict=True)
    ]
    about = "Over seeded subsamples of each run's recorded questions; n of the mean counts them."
    return Table("With fewer questions", names, rows, about, SECTION, is_folded=True)


def _other_thetas(analysis: DrillAnalysis, *, is_valid: bool) -> Table:
    names = columns(
        TableColumn("theta", float),
        "target",
        "domain",
        TableColumn("EVD as recorded", Value, key="recorded"),
        TableColumn("mean EVD", Value, key="evd"),
        TableColumn("rank", Value, digits=0, has_n=False),
    )
    rows: list[list[tables.TableCell]] = [
        [
            alternative.theta,
            ranked.target,
            ranked.domain,
            cell.evd,
            ranked.evd,
            rank_of(ranked, is_valid=is_valid),
        ]
        for alternative in analysis.other_thetas
        for cell, ranked in zip(analysis.cells, alternative.cells, strict=True)
    ]
    about = "EVD and rank under another theta, where the recording can say."
    return Table("With another theta", names, rows, about, SECTION, is_folded=True)


def _smaller_q(analysis: DrillAnalysis, *, is_valid: bool) -> Table:
    names = columns(
        TableColumn("depths a tier", int),
        "target",
        "domain",
        TableColumn("EVD as recorded", Value, key="recorded"),
        TableColumn("mean EVD", Value, key="evd"),
        TableColumn("rank", Value, digits=0, has_n=False),
    )
    rows: list[list[tables.TableCell]] = [
        [
            ablation.passes,
            ranked.target,
            ranked.domain,
            cell.evd,
            ranked.evd,
            rank_of(ranked, is_valid=is_valid),
        ]
        for ablation in analysis.smaller_q
        for cell, ranked in zip(analysis.cells, ablation.cells, strict=True)
    ]
    about = "EVD over the recorded answers of the first depths of each tier, where they can say."
    empty = "Each tier has one depth here: there are no fewer."
    title = "With fewer depths a tier"
    return Table(title, names, rows, about, SECTION, is_folded=True, empty=empty)


def _role_costs(analysis: DrillAnalysis) -> Table:
    names = columns(
        "target",
        "domain",
        "role",
        "model or source",
        TableColumn(priced("cost of a run", analysis), Value, digits=4, key="cost"),
        TableColumn("look-ups of a run", Value, digits=1, key="lookups"),
    )
    rows: list[list[tables.TableCell]] = []
    for cell in analysis.cells:
        place = [cell.target, cell.domain]
        rows += [[*place, cost.role, cost.model, cost.cost, None] for cost in cell.role_costs]
        rows += [[*place, "source", name, None, count] for name, count in cell.lookups.items()]
    about = "A model with several roles counts whole in each; no price list has searches."
    return Table("What the other roles cost", names, rows, about, SECTION, is_folded=True)


def _depths(runs: Sequence[RunMetrics]) -> Table:
    names = columns(
        "run",
        TableColumn("depth", int),
        "tier",
        TableColumn("A(d)", Share, key="accuracy"),
        TableColumn("95% interval (Wilson)", Interval, key="wilson"),
        TableColumn("S(d)", Value, has_n=False, key="survival"),
        TableColumn("planned", int),
        TableColumn("different facts", int),
        TableColumn("verdict missing", int),
        TableColumn("no fact found", int),
    )
    rows: list[list[tables.TableCell]] = [
        [
            run.cell.name,
            depth.depth,
            depth.tier,
            Share("", depth.correct, depth.accuracy),
            depth.wilson,
            depth.survival,
            depth.planned,
            depth.distinct,
            depth.missing,
            depth.unverifiable,
        ]
        for run in runs
        for depth in run.depths
    ]
    return Table("Every depth", names, rows, section=SECTION, is_folded=True, key="depths")
