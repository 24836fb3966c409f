"""From finished runs to results: the metrics of each run, and whether the study is valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from harness.asking.models.usage import spending
from harness.asking.replies.reply_count import shares, summed
from harness.protocols.depthcharge.metrics import formulas as metrics
from harness.protocols.depthcharge.metrics import uncertainty
from harness.protocols.depthcharge.metrics.uncertainty import Counts, Questions, Stop, TwoWaySpread
from harness.results import (
    EVD,
    Depth,
    DrillResults,
    Fallbacks,
    Missing,
    Passes,
    Prices,
    Probe,
    RunMetrics,
    RunResult,
    Value,
)
from harness.results.answers import AnswerCounts, count_answers
from harness.results.depthcharge import ASKED, MISSING, OF_TARGET, IfIndependent
from harness.results.fallbacks import share_of
from harness.stats.seeds import seeded

BY_THETA = "theta"


class DrillMetricRules(NamedTuple):
    """The study file's choices that numbers depend on.

    questions: N at every depth. passes: Q depths a tier, of all or by tier. missing_limit: the
    share of missing verdicts above which the study is invalid. unverifiable_limit: the share of a
    depth's slots without a fact above which a run is short, from version 2 on.
    survival_cut: of the median survival depth.
    """

    questions: int
    passes: Passes
    theta: float
    max_depth: int
    missing_limit: float
    seed: int
    unverifiable_limit: float = 0.20
    survival_cut: float = metrics.HALF


def score_study(
    name: str,
    version: int,
    cells: Sequence[RunResult],
    rules: DrillMetricRules,
    prices: Prices | None = None,
) -> DrillResults:
    """Compute the metrics of a study's runs, in the order of their names; without the analysis."""
    cells = sorted(cells, key=lambda cell: cell.cell)
    missing, answers = count_missing(cells, rules.missing_limit), answers_of(cells)
    limit = rules.unverifiable_limit if version > 1 else None
    runs = [run_metrics(cell, rules, limit, version) for cell in cells]
    limits = answers.faults(rules.missing_limit) if version > 1 else []
    reason = "; ".join(filter(None, [*limits, missing.fault("verdicts")])) or _without_numbers(
        runs, version
    )
    return DrillResults(
        study=name,
        protocol="depthcharge",
        protocol_version=version,
        valid=not reason,
        invalid_reason=reason or None,
        notices=notices(runs, rules),
        rules=rules._asdict(),
        missing=missing,
        spending=spending(cells, prices),
        runs=runs,
        analysis=None,
        cells=list(cells),
        fallbacks=_fallbacks(cells),
        answers=answers,
    )


def answers_of(cells: Sequence[RunResult]) -> AnswerCounts:
    """Count the targets' answers by kind, those that are missing apart."""
    return count_answers(
        (cell.cell.target, probe.answer_state, str(probe.verdict).startswith(OF_TARGET))
        for cell in cells
        for probe in cell.probes
        if probe.answer_state is not None
    )


def _fallbacks(cells: Sequence[RunResult]) -> Fallbacks:
    deals = [probe.deal for cell in cells for probe in cell.probes]
    later = sum(deal > 1 for deal in deals)
    anew = share_of("questions dealt anew", later, len(deals), "nothing was dealt")
    replies = summed(cells)
    return Fallbacks([anew, *shares(replies)], replies)


def notices(runs: Sequence[RunMetrics], rules: DrillMetricRules) -> list[str]:
    """Return what has to be said before any number: the runs whose sources ran out of facts."""
    short = [run for run in runs if run.short]
    if not short:
        return []
    first = short[0]
    depth = first.depths[first.short[0] - 1]
    return [
        f"{len(short)} of {len(runs)} runs are short of facts and get no rank, the first is "
        f"{first.cell.name}: at depth {depth.depth} {depth.unverifiable} of {depth.planned} "
        f"questions had none ({rules.unverifiable_limit:.1%} are allowed)"
    ]


def _without_numbers(runs: Sequence[RunMetrics], version: int) -> str:
    """Name the runs that say nothing of their targets: no question was put, or none judged."""
    lacking = [run for run in runs if not run.depths[0].asked]
    judged_none = [run for run in lacking if run.depths[0].missing and version > 1]
    asked_nothing = [run for run in lacking if run not in judged_none]
    groups = (("asked nothing", asked_nothing), ("have no verdict at depth 1", judged_none))
    return "; ".join(
        f"{len(group)} of {len(runs)} runs {what}, the first is {group[0].cell.name}"
        for what, group in groups
        if group
    )


def count_missing(cells: Sequence[RunResult], limit: float) -> Missing:
    """Count the evaluator's verdicts, and those that are not usable, by what became of them."""
    probes = [probe for cell in cells for probe in cell.probes if probe.state in (ASKED, MISSING)]
    missing = sum(probe.state == MISSING for probe in probes)
    states = Counter(str(probe.verdict) for probe in probes)
    share = missing / len(probes) if probes else 0.0
    return Missing(len(probes), missing, share, limit, dict(sorted(states.items())))


def run_metrics(
    run: RunResult,
    rules: DrillMetricRules,
    limit: float | None = None,
    version: int = metrics.VERDICTS_NAMED,
) -> RunMetrics:
    """Compute the metrics of one run.

    limit: the share of slots without a fact, null: none. version: of the protocol.
    """
    depths = metrics.curve(run.probes, run.depths, rules.questions, rules.passes, version)
    parts = metrics.tiers(depths, version)
    return RunMetrics(
        cell=run.cell,
        stop=run.stop,
        depths=depths,
        evd=expected_valid_depth(run, depths, rules, version),
        median_survival_depth=metrics.median_survival_depth(depths, rules.survival_cut),
        deepest_correct=metrics.deepest_correct(depths),
        final_survival=depths[-1].survival,
        accuracy=metrics.accuracy(depths, version),
        tiers=parts,
        rises=metrics.rises(parts),
        errors_by_tier=metrics.errors_by_tier(depths),
        errors_by_type=metrics.errors_by_type(run.probes),
        shortfall=metrics.shortfall(depths),
        short=metrics.short_depths(depths, limit),
    )


def expected_valid_depth(
    run: RunResult,
    depths: Sequence[Depth],
    rules: DrillMetricRules,
    version: int = metrics.VERDICTS_NAMED,
) -> EVD:
    """Return a run's EVD with its errors, and the bound on what is left."""
    value, left = metrics.evd(depths), metrics.left(depths, rules.max_depth)
    at_most = left
    if value.value is not None and left.value is not None:
        at_most = Value(value.value + left.value, value.n)
    asked = sum(depth.survival.value is not None for depth in depths)
    stop = Stop(rules.theta, rules.max_depth if run.stop == BY_THETA else asked)
    reason = value.reason or ""
    independent = IfIndependent(*_if_independent(run, depths[:asked], rules, stop, reason))
    spread = _two_way(run, asked, rules, stop, reason)
    evd = EVD(
        value=value,
        exclusive=metrics.evd_exclusive(depths, rules.theta),
        two_way_se=spread.se,
        two_way=spread.interval,
        seed_spread=spread.seed_spread,
        if_questions_were_independent=independent,
        censored=left.value != 0,
        left=left,
        at_most=at_most,
    )
    return _of_version_1(evd, run, asked, rules, stop) if version == 1 else evd


def _of_version_1(evd: EVD, run: RunResult, asked: int, rules: DrillMetricRules, stop: Stop) -> EVD:
    """Return an EVD with the errors that results of version 1 recorded."""
    spread = uncertainty.undefined(0, evd.value.reason or "")
    if asked:
        generator = seeded(rules.seed, f"clustered|{run.cell.name}")
        spread = uncertainty.clustered(by_branch(run.probes, asked), stop, generator)
    independent = msgspec.structs.asdict(evd.if_questions_were_independent)
    return msgspec.structs.replace(
        evd, clustered_se=spread.se, clustered=spread.interval, **independent
    )


def _two_way(
    run: RunResult, asked: int, rules: DrillMetricRules, stop: Stop, reason: str
) -> TwoWaySpread:
    if not asked:
        return TwoWaySpread(*uncertainty.undefined(0, reason), Value(None, 0, reason))
    generator = seeded(rules.seed, f"two-way|{run.cell.name}")
    return uncertainty.clustered_by_branch_and_fact(
        questions_of(run.probes, asked), stop, generator
    )


def _if_independent(
    run: RunResult, depths: Sequence[Depth], rules: DrillMetricRules, stop: Stop, reason: str
) -> list[Any]:
    """Return the errors of EVD over the depths where something was asked, in the form's order."""
    asked, correct = [depth.asked for depth in depths], [depth.correct for depth in depths]
    if not asked:
        return [*uncertainty.undefined(0, reason)] * 3
    generator = seeded(rules.seed, f"jeffreys|{run.cell.name}")
    spreads = (
        uncertainty.binomial(correct, asked, rules.seed),
        uncertainty.binomial(correct, asked, rules.seed, stop),
        uncertainty.jeffreys(correct, asked, generator),
    )
    return [part for spread in spreads for part in spread]


def questions_of(probes: Sequence[Probe], depths: int) -> Questions:
    """Return the questions with a verdict; one without a mark of its fact has one of its own."""
    answers = [probe for probe in probes if probe.state == ASKED and probe.depth <= depths]
    branches = {branch: place for place, branch in enumerate(sorted({a.branch for a in answers}))}
    facts: dict[str | int, int] = {}
    for place, answer in enumerate(answers):
        facts.setdefault(place if answer.fact is None else answer.fact, len(facts))
    return Questions(
        depth=np.array([a.depth - 1 for a in answers]),
        branch=np.array([branches[a.branch] for a in answers]),
        fact=np.array([facts[i if a.fact is None else a.fact] for i, a in enumerate(answers)]),
        correct=np.array([a.correct is True for a in answers], dtype=np.int64),
    )


def by_branch(probes: Sequence[Probe], depths: int) -> Counts:
    """Count the answers of each branch at each depth, in the order of the branches' places."""
    answers = [probe for probe in probes if probe.state == ASKED and probe.depth <= depths]
    rows = {branch: row for row, branch in enumerate(sorted({a.branch for a in answers}))}
    counts = Counts(*(np.zeros((len(rows), depths), dtype=np.int64) for _ in range(2)))
    for answer in answers:
        place = rows[answer.branch], answer.depth - 1
        counts.asked[place] += 1
        counts.correct[place] += answer.correct is True
    return counts
