"""What a DepthCharge study says beyond its runs: arXiv 2603.23514, results.

EVD by target and domain, rankings and whether domains and accuracy agree on them, differences, cost
and errors. Everything is sorted first, so the order of the runs changes no byte.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from msgspec import UNSET

from harness.asking.models.usage import spending
from harness.protocols.depthcharge.analysis.ablations import other_thetas, smaller_n, smaller_q
from harness.protocols.depthcharge.analysis.comparisons import by_branch, cell_spread, differences
from harness.protocols.depthcharge.analysis.grid import (
    Run,
    depths_of,
    grid,
    mean,
    mean_of_all,
    rank,
    to_rank,
)
from harness.protocols.depthcharge.analysis.schema import (
    AccuracyRanking,
    DomainPair,
    DrillAnalysis,
    GridCell,
    RoleCost,
    Target,
)
from harness.protocols.depthcharge.metrics import formulas as metrics
from harness.protocols.depthcharge.metrics.formulas import rounded
from harness.protocols.depthcharge.metrics.scoring import DrillMetricRules
from harness.results import DrillResults, Prices, Value
from harness.stats.fewest import too_few
from harness.stats.kendall import Kendall, kendall


def analyze(
    results: DrillResults,
    rules: DrillMetricRules,
    prices: Prices | None = None,
    planned: int = 0,
    roles: Mapping[str, str] | None = None,
) -> DrillAnalysis:
    """Analyse a scored study; costs need its price list.

    planned: how many runs make a target complete; one with fewer has no mean and no rank. roles:
    the models of the roles beside the target's, by role.
    """
    places = grid(results)
    runs = [run for place_runs in places.values() for run in place_runs]
    version = results.protocol_version
    cells = [
        _cell(*names, place_runs, prices, version, roles or {})
        for names, place_runs in places.items()
    ]
    for domain in _domains(cells):
        rank(_of(cells, domain))
    return DrillAnalysis(
        currency=prices.currency if prices else None,
        cells=cells,
        targets=_targets(cells, runs, planned, version),
        accuracy_rankings=_accuracy_rankings(cells, version),
        domain_rankings=_domain_rankings(cells, version),
        differences=differences(places, version),
        errors_by_tier=metrics.errors_by_tier(depths_of(runs)),
        errors_by_type=metrics.errors_by_type([p for run in runs for p in run.result.probes]),
        smaller_n=smaller_n(places, rules),
        other_thetas=other_thetas(places, rules),
        smaller_q=smaller_q(places, rules),
    )


def _cell(
    target: str,
    domain: str,
    runs: Sequence[Run],
    prices: Prices | None,
    version: int,
    roles: Mapping[str, str],
) -> GridCell:
    evd = mean([run.found.evd.value for run in runs])
    cost = mean_of_all([cost_of(run, prices) for run in runs])
    spread, recorded = cell_spread(runs), cell_spread(runs, by_branch)
    return GridCell(
        target=target,
        domain=domain,
        evd=evd,
        two_way_se=spread.se,
        two_way=spread.interval,
        rank=None,
        censored=sum(run.found.evd.censored for run in runs),
        accuracy=metrics.accuracy(depths_of(runs), version),
        cost=cost,
        evd_per_cost=per_cost(evd, cost),
        role_costs=[_role_cost(role, model, runs, prices) for role, model in roles.items()],
        lookups=_lookups(runs),
        short=sum(bool(run.found.short) for run in runs),
        se=recorded.se if version == 1 else UNSET,
        interval=recorded.interval if version == 1 else UNSET,
    )


def cost_of(run: Run, prices: Prices | None) -> Value:
    """Return what asking a run's target cost; a model with more roles counts with all of them.

    Null where the price or a count of tokens is unknown, or the target was asked nothing.
    """
    return _cost_of_model(run, run.result.cell.target, "target", prices)


def _cost_of_model(run: Run, model: str, role: str, prices: Prices | None) -> Value:
    costs = [spent.cost for spent in spending([run.result], prices).models if spent.model == model]
    return costs[0] if costs else Value(None, 0, f"the {role} was asked nothing")


def _role_cost(role: str, model: str, runs: Sequence[Run], prices: Prices | None) -> RoleCost:
    costs = [_cost_of_model(run, model, role, prices) for run in runs]
    return RoleCost(role=role, model=model, cost=mean_of_all(costs))


def _lookups(runs: Sequence[Run]) -> dict[str, Value]:
    """Return the mean number of look-ups a run took from each source; they have no price."""
    sources = sorted({source for run in runs for source in run.result.lookups})
    counts = {
        source: [run.result.lookups[source].lookups for run in runs if source in run.result.lookups]
        for source in sources
    }
    return {source: Value(sum(of) / len(runs), len(runs)) for source, of in counts.items()}


def per_cost(evd: Value, cost: Value) -> Value:
    """Return how much EVD a unit of currency bought; undefined where the cost is unknown or 0."""
    if evd.value is None:
        return evd
    if not cost.value:
        return Value(None, cost.n, cost.reason or "the cost is 0")
    return Value(evd.value / cost.value, evd.n)


def _targets(
    cells: Sequence[GridCell], runs: Sequence[Run], planned: int, version: int
) -> list[Target]:
    targets = []
    for name in sorted({cell.target for cell in cells}):
        its_cells = [cell for cell in cells if cell.target == name]
        its_runs = [run for run in runs if run.found.cell.target == name]
        depths = depths_of(its_runs)
        evd = mean([cell.evd for cell in its_cells])
        cost = mean_of_all([cell.cost for cell in its_cells])
        accuracy = metrics.accuracy(depths, version)
        if len(its_runs) < planned:
            reason = f"incomplete: {len(its_runs)} of {planned} runs"
            evd = cost = accuracy = Value(None, len(its_runs), reason)
        targets.append(
            Target(
                name,
                evd,
                None,
                accuracy,
                metrics.tiers(depths, version),
                cost,
                per_cost(evd, cost),
                sum(cell.short for cell in its_cells),
            )
        )
    rank(targets)
    return targets


def _accuracy_rankings(cells: Sequence[GridCell], version: int) -> list[AccuracyRanking]:
    rankings = []
    for domain in _domains(cells):
        tau = _tau([(cell.evd, cell.accuracy) for cell in to_rank(_of(cells, domain))])
        recorded = tau if version == 1 else UNSET
        rankings.append(AccuracyRanking(domain, tau.coefficient, recorded))
    return rankings


def _domain_rankings(cells: Sequence[GridCell], version: int) -> list[DomainPair]:
    pairs = []
    for first, second in itertools.combinations(_domains(cells), 2):
        evd_in_second = {cell.target: cell.evd for cell in to_rank(_of(cells, second))}
        both = [
            (c.evd, evd_in_second[c.target])
            for c in to_rank(_of(cells, first))
            if c.target in evd_in_second
        ]
        tau = _tau(both)
        recorded = tau if version == 1 else UNSET
        pairs.append(DomainPair(first, second, tau.coefficient, recorded))
    return pairs


def _tau(pairs: Sequence[tuple[Value, Value]]) -> Kendall:
    """Correlate the pairs of which both are known, told apart to 9 places; null for too few."""
    defined = [
        (rounded(x.value), rounded(y.value))
        for x, y in pairs
        if x.value is not None and y.value is not None
    ]
    if reason := too_few(len(defined), "targets with both"):
        return Kendall(
            Value(None, len(defined), reason), Value(None, len(defined), reason), "undefined"
        )
    return kendall([x for x, _ in defined], [y for _, y in defined])


def _domains(cells: Sequence[GridCell]) -> list[str]:
    return sorted({cell.domain for cell in cells})


def _of(cells: Sequence[GridCell], domain: str) -> list[GridCell]:
    return [cell for cell in cells if cell.domain == domain]
