"""A study's results as tables for people, each number with its n or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from harness.protocols.depthcharge.analysis.schema import Analysis, Cell, Ranked, Target
from harness.results import TIERS, DrillResults, RunMetrics, Share, Value
from harness.results.fallback_tables import fallback_tables
from harness.results.table import Table, answers_table, between, number

AnyRanked = TypeVar("AnyRanked", Cell, Target, Ranked)


def tables(found: DrillResults) -> list[Table]:
    """Give the tables, the study's first, each run's after them."""
    analysis = found.analysis if found.valid else _without_ranks(found.analysis)
    return [
        _evd(analysis),
        _targets(analysis),
        _tiers(analysis),
        _rankings(analysis),
        _differences(analysis),
        _errors(analysis),
        _smaller_n(analysis),
        _other_thetas(analysis),
        _runs(found.runs),
        _spreads(found.runs),
        _depths(found.runs),
        *answers_table(found.answers),
        *fallback_tables(found.fallbacks),
    ]


def _without_ranks(analysis: Analysis) -> Analysis:
    """Return an analysis in which nothing has a rank: an invalid study ranks nothing."""
    thetas = [replace(part, cells=_unranked(part.cells)) for part in analysis.other_thetas]
    return replace(
        analysis,
        cells=_unranked(analysis.cells),
        targets=_unranked(analysis.targets),
        other_thetas=thetas,
    )


def _unranked(ranked: Sequence[AnyRanked]) -> list[AnyRanked]:
    return [replace(each, rank=None) for each in ranked]


def _depth(value: Value) -> str:
    return f"null ({value.reason})" if value.value is None else f"{value.value:.0f}"


def _counted(part: Share) -> str:
    return f"{part.count} of {part.share.n}" + (
        "" if part.share.value is None else f" = {part.share.value:.3f}"
    )


def _evd(analysis: Analysis) -> Table:
    domains = sorted({cell.domain for cell in analysis.cells})
    by_place = {(cell.target, cell.domain): cell for cell in analysis.cells}
    rows = [
        [
            part.target,
            *(_cell(by_place.get((part.target, domain))) for domain in domains),
            number(part.evd) + _place(part.rank, part.short),
        ]
        for part in analysis.targets
    ]
    title = (
        "EVD: mean over runs, 95% interval by paths, #rank (+: a run ended before knowledge did)"
    )
    return Table(title, ["target", *domains, "mean of domains"], rows)


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "not in the study"
    if cell.evd.value is None:
        return number(cell.evd)
    more = "+" if cell.censored else ""
    mean = f"{cell.evd.value:.3f}{more} (n={cell.evd.n})"
    return f"{mean} {between(cell.interval)}{_place(cell.rank, cell.short)}"


def _place(rank: int | None, short: int) -> str:
    if short:
        return " no rank: short of facts"
    return "" if rank is None else f" #{rank}"


def _targets(analysis: Analysis) -> Table:
    unit = analysis.currency or "unit"
    columns = ("target", "domain", "EVD", "accuracy", f"cost a run ({unit})", f"EVD per {unit}")
    rows = []
    for cell in analysis.cells:
        numbers = (cell.evd, cell.accuracy, cell.cost, cell.evd_per_cost)
        rows.append([cell.target, cell.domain, *map(number, numbers)])
    for part in analysis.targets:
        numbers = (part.evd, part.accuracy, part.cost, part.evd_per_cost)
        rows.append([part.target, "all", *map(number, numbers)])
    return Table("EVD beside accuracy and the cost of asking the target", columns, rows)


def _tiers(analysis: Analysis) -> Table:
    rows = []
    for part in analysis.targets:
        of = {tier.name: _counted(tier) for tier in part.tiers}
        rows.append([part.target, *(of.get(name, "not come to") for name in TIERS)])
    return Table("Accuracy by tier, all domains", ["target", *TIERS], rows)


def _rankings(analysis: Analysis) -> Table:
    rows = [
        [f"{pair.first} and {pair.second}", number(pair.tau.coefficient), number(pair.tau.p)]
        for pair in analysis.domain_rankings
    ]
    rows += [
        [f"{one.domain}: EVD and accuracy", number(one.tau.coefficient), number(one.tau.p)]
        for one in analysis.accuracy_rankings
    ]
    return Table("Agreement of rankings", ("rankings", "Kendall's tau", "p"), rows)


def _differences(analysis: Analysis) -> Table:
    rows = [
        [
            f"{one.first} - {one.second}",
            one.domain,
            number(one.difference),
            number(one.se),
            between(one.interval),
        ]
        for one in analysis.differences
    ]
    columns = ("targets", "domain", "difference of EVD", "SE", "95% interval")
    return Table("Differences, each target on questions of its own", columns, rows)


def _errors(analysis: Analysis) -> Table:
    rows = [["tier", part.name, _counted(part)] for part in analysis.errors_by_tier]
    rows += [["type", part.name, _counted(part)] for part in analysis.errors_by_type]
    return Table("Wrong answers", ("by", "", "share"), rows)


def _smaller_n(analysis: Analysis) -> Table:
    sizes = [f"N = {part.questions}" for part in analysis.smaller_n]
    rows = []
    for place, cell in enumerate(analysis.cells):
        drawn = [part.cells[place] for part in analysis.smaller_n]
        texts = [number(one.evd) + _deviation(one.sd) for one in drawn]
        rows.append([cell.target, cell.domain, number(cell.evd), *texts])
    title = "EVD with fewer questions: mean and SD over subsamples of the recorded answers"
    return Table(title, ["target", "domain", "as recorded", *sizes], rows)


def _deviation(sd: Value) -> str:
    return "" if sd.value is None else f" SD {sd.value:.3f}"


def _other_thetas(analysis: Analysis) -> Table:
    thetas = [f"theta {part.theta:g}" for part in analysis.other_thetas]
    rows = []
    for place, cell in enumerate(analysis.cells):
        others = [part.cells[place] for part in analysis.other_thetas]
        texts = [number(other.evd) + _place(other.rank, other.short) for other in others]
        rows.append([cell.target, cell.domain, number(cell.evd), *texts])
    title = "EVD and rank with another theta, where the recording can say"
    return Table(title, ["target", "domain", "as recorded", *thetas], rows)


def _runs(runs: Sequence[RunMetrics]) -> Table:
    columns = (
        *("run", "stop", "EVD", "without the S below theta", "at most"),
        *(
            "median survival depth",
            "deepest correct",
            "tiers that rise",
            "questions short",
            "short at",
        ),
    )
    rows = []
    for run in runs:
        evd = run.evd
        numbers = map(number, (evd.value, evd.exclusive, evd.at_most))
        depths = map(_depth, (run.median_survival_depth, run.deepest_correct))
        rise = ", ".join(f"{rise.harder} +{rise.by:.3f}" for rise in run.rises) or "none"
        rows.append(
            [run.cell.name, run.stop, *numbers, *depths, rise, str(run.shortfall), _short(run)]
        )
    return Table("Runs", columns, rows)


def _short(run: RunMetrics) -> str:
    return f"depth {', '.join(map(str, run.short))}" if run.short else ""


def _spreads(runs: Sequence[RunMetrics]) -> Table:
    columns = ("run", "SE by paths", "by paths", "binomial", "binomial, restopped", "Jeffreys")
    rows = []
    for run in runs:
        evd = run.evd
        intervals = (evd.clustered, evd.binomial, evd.restopped, evd.jeffreys)
        rows.append([run.cell.name, number(evd.clustered_se), *map(between, intervals)])
    return Table("How sure each EVD is: 95% intervals, the one by paths first", columns, rows)


def _depths(runs: Sequence[RunMetrics]) -> Table:
    rows = [
        [
            run.cell.name,
            str(depth.depth),
            depth.tier,
            f"{depth.asked} of {depth.planned}",
            str(depth.distinct),
            f"{depth.missing} / {depth.unverifiable}",
            number(depth.accuracy),
            between(depth.wilson),
            number(depth.survival),
        ]
        for run in runs
        for depth in run.depths
    ]
    columns = (
        "run",
        "depth",
        "tier",
        "verdicts",
        "facts",
        "missing / no fact",
        "A(d)",
        "95% Wilson",
        "S(d)",
    )
    return Table("Survival", columns, rows)
