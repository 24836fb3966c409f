"""From finished runs to results: validity, what is counted, and what no order changes."""

from random import Random

import msgspec
import pytest
from depthcharge.finished_runs import (
    RULES,
    asked,
    counted,
    missing,
    probes_of,
    run_of,
    unverifiable,
)
from depthcharge.honesty import check_honest
from depthcharge.simulated_runs import TIERS, drill, independent

from harness.protocols.depthcharge.metrics import probes as probe_rows
from harness.protocols.depthcharge.metrics.scoring import by_branch, run_metrics, score_study
from harness.results import (
    DrillResults,
    Interval,
    Price,
    Prices,
    RunKey,
    RunMetrics,
    RunResult,
    Usage,
    Value,
    canonical,
)

KEY = RunKey("target", "Medicine")


def simulated(seed: int = 1, key: RunKey = KEY) -> RunResult:
    return run_of(probes_of(drill(independent(TIERS), Random(seed))), key)


@pytest.mark.parametrize(("wrong", "valid"), [(5, True), (6, False)])
def test_too_many_missing_verdicts_make_a_study_invalid(wrong: int, valid: bool) -> None:
    """Above the limit of 5 in 100 verdicts the study is invalid and says so; at it, it is not."""
    probes = [asked(1, n, n, n % 2 == 0) for n in range(1, 101 - wrong)]
    probes += [missing(1, n) for n in range(101 - wrong, 101)]
    probes += [unverifiable(1, n) for n in range(101, 151)]
    found = score_study("made", 1, [run_of(probes, KEY)], RULES)
    assert found.valid is valid
    assert found.missing.states == {"ok": 100 - wrong, "prose": wrong}
    assert (found.missing.judgements, found.missing.missing) == (100, wrong)
    reason = "6 of 100 verdicts are missing (6.0%), 5.0% are allowed"
    assert found.invalid_reason == (None if valid else reason)


def test_no_order_changes_a_byte() -> None:
    """Runs, probes and usage in any order give the same metrics."""
    cells = [simulated(n, RunKey("target", "Medicine", n)) for n in range(1, 5)]
    first = canonical(score_study("made", 1, cells, RULES))
    chance = Random(3)
    mixed = [
        msgspec.structs.replace(
            cell,
            probes=chance.sample(cell.probes, len(cell.probes)),
            usage=dict(reversed(cell.usage.items())),
        )
        for cell in chance.sample(cells, len(cells))
    ]
    again = score_study("made", 1, mixed, RULES)
    for cell, whole in zip(again.cells, sorted(cells, key=lambda c: c.cell), strict=True):
        cell.probes, cell.usage = whole.probes, whole.usage
    assert canonical(again) == first


def test_other_runs_change_nothing_of_a_run() -> None:
    """A run's metrics are the same alone and among others: its draws are its own."""
    alone = run_metrics(simulated(), RULES)
    others = [simulated(), simulated(2, RunKey("other", "Law"))]
    assert alone in score_study("made", 2, others, RULES).runs


def test_a_run_has_its_metrics() -> None:
    """The intervals hold the estimate, and the bound is EVD with what is left."""
    run = simulated()
    found = run_metrics(run, RULES)
    evd = found.evd
    assert (found.stop, found.final_survival) == ("theta", found.depths[-1].survival)
    assert evd.censored
    assert evd.at_most.value == pytest.approx((evd.value.value or 0) + (evd.left.value or 0))
    independent = evd.if_questions_were_independent
    for interval in (
        evd.two_way,
        independent.binomial,
        independent.restopped,
        independent.jeffreys,
    ):
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low < (evd.value.value or 0) < interval.high
    assert (evd.two_way_se.n, independent.binomial_se.n) == (30, evd.value.n)
    assert found.shortfall == 0
    check_honest(found, RunMetrics)


@pytest.mark.parametrize(("correct", "censored"), [([0], False), ([30] * 15, True), ([5], True)])
def test_a_run_is_censored_where_more_may_follow(correct: list[int], censored: bool) -> None:
    """Below theta and at the greatest depth it is; where S is 0 nothing is left."""
    found = run_metrics(run_of(counted(correct), KEY), RULES)
    assert found.evd.censored is censored
    bound = None if len(correct) == 15 else pytest.approx(correct[0] / 30 * 15)
    assert found.evd.at_most.value == bound
    check_honest(found, RunMetrics)


def test_a_run_without_a_question_is_undefined_throughout() -> None:
    """Nothing is 0: every number is null with its reason."""
    found = run_metrics(run_of([unverifiable(1, n) for n in range(1, 31)], KEY), RULES)
    nothing = "nothing was asked at depth 1"
    assert found.stop == "no path left"
    assert found.evd.value == found.evd.two_way_se == Value(None, 0, nothing)
    assert found.evd.if_questions_were_independent.binomial == Interval(None, None, 0.95, nothing)
    assert found.final_survival.reason == nothing
    assert found.shortfall == 30
    check_honest(found, RunMetrics)


def test_a_run_that_ends_without_paths_does_not_go_on_in_resamples() -> None:
    """Where a depth had no facts at all, the error is that of the depths before."""
    probes = [*counted([27, 24]), *(unverifiable(3, n) for n in range(1, 31))]
    found = run_metrics(run_of(probes, KEY), RULES)
    assert found.stop == "no path left"
    assert found.evd.censored
    assert (found.evd.two_way.high or 9) <= 2
    check_honest(found, RunMetrics)


def test_answers_are_counted_by_branch() -> None:
    """A row a branch that was asked, by its place; missing verdicts do not count."""
    probes = [asked(1, 1, 9, True), asked(1, 2, 4, False), missing(1, 3)]
    probes += [asked(2, 1, 9, True), asked(2, 2, 9, False)]
    counts = by_branch(probes, 2)
    assert counts.asked.tolist() == [[1, 0], [1, 2]]
    assert counts.correct.tolist() == [[0, 0], [1, 1]]


def test_spending_is_by_model() -> None:
    """Tokens and cost of all runs are summed; a model without a price leaves the total null."""
    cell = simulated()
    cell.usage = {"target": Usage(10, 1_000_000, 500_000), "helper": Usage(1, 10, 10)}
    prices = Prices("2026-01-01", "USD", {"target": Price(1.0, 2.0)})
    spent = score_study("made", 1, [cell], RULES, prices).spending
    assert [model.cost.value for model in spent.models] == [None, 2.0]
    assert spent.total.reason == "the cost of 1 models is unknown"


def test_results_are_read_back() -> None:
    """results.json holds the whole form, rules among it."""
    found = score_study("made", 3, [simulated()], RULES)
    assert found.rules == RULES._asdict()
    assert (found.protocol, found.protocol_version) == ("depthcharge", 3)
    check_honest(found, DrillResults)


def test_one_row_a_probe() -> None:
    """The CSV has every probe, unverifiable ones too, in order, whatever the order of the runs."""
    second = run_of([unverifiable(1, 2), asked(1, 1, 1, True)], RunKey("a", "Law"))
    rows = list(probe_rows.rows([simulated(), second]))
    assert rows == list(probe_rows.rows([second, simulated()]))
    assert len(rows) == 2 + len(simulated().probes)
    assert all(len(row) == len(probe_rows.HEADER) == 20 for row in rows)
    first = rows[0]
    assert first[:8] == ("a", "Law", 1, 1, 1, 1, 1, 1)
    assert (first.state, first.correct, first.error_type) == ("asked", True, None)
    assert (rows[1].state, rows[1].correct, rows[1].verdict) == ("unverifiable", None, None)
