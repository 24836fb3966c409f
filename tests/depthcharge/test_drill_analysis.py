"""The study-level analysis: rankings, cost, differences and ablations, and what it cannot say."""

import itertools
import math
from collections.abc import Sequence
from functools import cache
from random import Random

import msgspec
import numpy as np
import pytest
import scipy.stats
from depthcharge.finished_runs import RULES, counted, run_of, scored, study, unverifiable
from depthcharge.honesty import check_honest
from depthcharge.simulated_runs import TIERS, independent, uneven

from harness.protocols.depthcharge.analysis import ablations
from harness.protocols.depthcharge.analysis.ablations import evd_at
from harness.protocols.depthcharge.analysis.analyze import analyze
from harness.protocols.depthcharge.analysis.schema import DrillAnalysis, GridCell
from harness.protocols.depthcharge.analysis.tables import tables
from harness.protocols.depthcharge.metrics.scoring import DrillMetricRules
from harness.results import DrillResults, Price, Prices, RunKey, RunResult, Usage, Value, canonical

WORLDS = {
    "best": independent([0.97] * 6 + [0.6] * 9),
    "good": uneven(TIERS, 1.0),
    "middling": independent([0.95] * 3 + [0.5] * 12),
    "poor": independent([0.9, 0.6] + [0.3] * 13),
}
PRICES = Prices(
    "2026-01-01",
    "USD",
    {"best": Price(10.0, 20.0), "good": Price(1.0, 2.0), "helper": Price(0.1, 0.1)},
)


@cache
def made() -> DrillResults:
    return study(WORLDS, prices=PRICES)


def analysis(found: DrillResults) -> DrillAnalysis:
    assert isinstance(found.analysis, DrillAnalysis)
    return found.analysis


def evds(found: DrillResults, target: str, domain: str) -> list[float]:
    places = [run for run in found.runs if run.cell.target == target and run.cell.domain == domain]
    return [run.evd.value.value or 0.0 for run in places]


def runs_of(found: DrillResults, cell: GridCell) -> list[RunResult]:
    place = cell.target, cell.domain
    return [run for run in found.cells if (run.cell.target, run.cell.domain) == place]


def at(cells: Sequence[GridCell], target: str, domain: str) -> GridCell:
    return next(c for c in cells if (c.target, c.domain) == (target, domain))


def of_counts(correct: dict[str, list[int]], rules: DrillMetricRules = RULES) -> list[RunResult]:
    return [run_of(counted(part), RunKey(name, "Law"), rules) for name, part in correct.items()]


def test_every_number_says_what_it_rests_on() -> None:
    """Nothing is undefined without a reason, and what is written is read back."""
    check_honest(analysis(made()), DrillAnalysis)


def test_no_order_changes_a_byte() -> None:
    """Runs in any order give the same analysis."""
    found = made()
    mixed = Random(1).sample(found.cells, len(found.cells))
    assert canonical(scored(mixed, prices=PRICES)) == canonical(found)


def test_a_cell_is_the_mean_of_its_runs() -> None:
    """Its EVD is the mean over repeats, its accuracy pooled, its interval around the mean."""
    found = made()
    for cell in analysis(found).cells:
        runs = evds(found, cell.target, cell.domain)
        assert cell.evd.value == pytest.approx(np.mean(runs))
        assert cell.evd.n == len(runs) == 2
        assert cell.two_way.low is not None
        assert cell.two_way.high is not None
        assert cell.two_way.low < (cell.evd.value or 0) < cell.two_way.high
        assert cell.accuracy.n == sum(len(run.probes) for run in runs_of(found, cell))
        assert cell.censored == 2


def test_the_error_of_two_runs_is_smaller_than_of_one() -> None:
    """The variance of a mean of two is a quarter of the sum of both."""
    found = made()
    cell = at(analysis(found).cells, "good", "Law")
    runs = [run for run in found.runs if run.cell.name.startswith("good--law")]
    first, second = (run.evd.two_way_se.value or 0.0 for run in runs)
    assert cell.two_way_se.value == pytest.approx((first**2 + second**2) ** 0.5 / 2)
    alone = scored([c for c in found.cells if c.cell == RunKey("good", "Law", 1)])
    single = analysis(alone).cells[0]
    assert (single.two_way_se, single.two_way) == (
        alone.runs[0].evd.two_way_se,
        alone.runs[0].evd.two_way,
    )


def test_targets_are_ranked_in_each_domain() -> None:
    """The larger EVD has the better rank; equal ones share it, and null has none."""
    found = made()
    for domain in ("Law", "Medicine"):
        here = {name: at(analysis(found).cells, name, domain).evd.value or 0 for name in WORLDS}
        order = sorted(here, key=lambda name: -here[name])
        assert [at(analysis(found).cells, name, domain).rank for name in order] == [1, 2, 3, 4]
    cells = of_counts({"a": [25, 12], "b": [25, 12], "c": [20, 3]})
    cells.append(run_of([unverifiable(1, 1)], RunKey("d", "Law")))
    assert [cell.rank for cell in analysis(scored(cells)).cells] == [1, 1, 3, None]


def test_the_ranks_do_not_turn_on_rounding() -> None:
    """0.6 + (0.6)(10/30) and 0.8 differ as floats and are one rank."""
    cells = analysis(scored(of_counts({"a": [18, 10, 0], "b": [24, 0]}))).cells
    assert cells[0].evd.value != cells[1].evd.value
    assert [cell.rank for cell in cells] == [1, 1]


def test_rankings_are_compared_by_scipys_tau() -> None:
    """Between domains over the targets of both, and between EVD and accuracy in each."""
    found = made()
    cells = analysis(found).cells
    columns = {d: [at(cells, name, d) for name in WORLDS] for d in ("Law", "Medicine")}
    both = [[cell.evd.value for cell in column] for column in columns.values()]
    pair = analysis(found).domain_rankings[0]
    assert (pair.first, pair.second) == ("Law", "Medicine")
    assert pair.coefficient.value == pytest.approx(scipy.stats.kendalltau(*both).statistic)
    for one in analysis(found).accuracy_rankings:
        column = columns[one.domain]
        known = scipy.stats.kendalltau(
            [cell.evd.value for cell in column], [cell.accuracy.value for cell in column]
        )
        assert one.coefficient.value == pytest.approx(known.statistic)
        assert one.coefficient.n == 4


def test_too_few_targets_have_no_rankings_to_compare() -> None:
    """Below four targets tau is undefined; with one there is no difference either."""
    found = analysis(study({name: WORLDS[name] for name in ("best", "good", "poor")}))
    for ranking in (found.domain_rankings[0], found.accuracy_rankings[0]):
        why = "3 targets with both, at least 4 are needed"
        assert ranking.coefficient == Value(None, 3, why)
    assert analysis(study({"good": WORLDS["good"]})).differences == []


def test_a_target_whose_runs_are_not_all_there_has_no_rank() -> None:
    """A mean over other domains is not compared with one over all."""
    found = made()
    some = [run for run in found.cells if run.cell != RunKey("best", "Law", 1)]
    whole = scored(some)
    targets = {part.target: part for part in analyze(whole, RULES, planned=4).targets}
    nothing = Value(None, 3, "incomplete: 3 of 4 runs")
    best = targets["best"]
    assert (best.evd, best.accuracy, best.cost, best.rank) == (nothing, nothing, nothing, None)
    assert {targets[name].rank for name in ("good", "middling", "poor")} == {1, 2, 3}


def test_targets_are_compared_in_every_domain() -> None:
    """Each pair once, with the difference of means and an interval that says how sure it is."""
    found = made()
    pairs = [(one.domain, one.first, one.second) for one in analysis(found).differences]
    names = list(itertools.combinations(sorted(WORLDS), 2))
    assert pairs == [(domain, *pair) for domain in ("Law", "Medicine") for pair in names]
    clear = analysis(found).differences[pairs.index(("Law", "best", "poor"))]
    law = [np.mean(evds(found, name, "Law")) for name in ("best", "poor")]
    assert clear.difference.value == pytest.approx(law[0] - law[1])
    assert clear.difference.n == 4
    assert (clear.two_way.low or 0) > 0


def test_a_difference_without_errors_keeps_its_value() -> None:
    """Where no two branches of a run differ the difference is there, its interval is not."""
    cells = of_counts({"all": [30] * 15, "some": [25, 12, 3]})
    found = analysis(scored(cells)).differences[0]
    assert found.difference.value is not None
    assert found.two_way_se.reason == found.two_way.reason
    assert "no two branches differ" in str(found.two_way_se.reason)
    cells.append(run_of([unverifiable(1, 1)], RunKey("none", "Law")))
    missing = analysis(scored(cells)).differences[0]
    assert missing.difference.reason == "nothing was asked at depth 1"


def test_cost_is_the_targets_own() -> None:
    """EVD per dollar divides by what asking the target cost in a run."""
    found = made()
    cell = at(analysis(found).cells, "good", "Law")
    sizes = [len(run.probes) for run in runs_of(found, cell)]
    costs = [PRICES.models["good"].of(100 * size, 50 * size) for size in sizes]
    assert cell.cost.value == pytest.approx(np.mean(costs))
    assert cell.evd_per_cost.value == pytest.approx((cell.evd.value or 0) / np.mean(costs))
    assert analysis(found).currency == "USD"


def test_an_unknown_cost_is_null() -> None:
    """No price, no count of tokens, no cost, or no question: each says which."""
    found = analysis(made())
    assert at(found.cells, "poor", "Law").evd_per_cost.reason == "no price"
    run = run_of(counted([25, 12, 3]), RunKey("good", "Law"))
    for usage, price, reason in (
        ({"good": Usage(30, 10, 10, 2)}, Price(1, 1), "2 answers name no tokens"),
        ({"good": Usage(30, 10, 10)}, Price(0, 0), "the cost is 0"),
        ({"helper": Usage(30, 10, 10)}, Price(1, 1), "the target was asked nothing"),
    ):
        run.usage = usage
        part = analysis(scored([run], prices=Prices("2026-01-01", "USD", {"good": price})))
        assert part.cells[0].evd_per_cost.reason == reason
        assert part.targets[0].evd_per_cost.reason == reason


def test_a_target_is_the_mean_of_its_domains() -> None:
    """EVD is averaged over domains, accuracy and tiers are pooled over all answers."""
    found = made()
    part = next(one for one in analysis(found).targets if one.target == "poor")
    cells = [cell for cell in analysis(found).cells if cell.target == "poor"]
    assert part.evd.value == pytest.approx(np.mean([cell.evd.value for cell in cells]))
    assert part.evd.n == 2
    depths = [depth for r in found.runs if r.cell.target == "poor" for depth in r.depths]
    assert part.accuracy.n == sum(depth.asked for depth in depths)
    assert sum(tier.count for tier in part.tiers) == sum(depth.correct for depth in depths)
    assert [one.rank for one in analysis(found).targets] == [1, 2, 3, 4]


def test_errors_are_pooled_over_the_study() -> None:
    """By tier and by type they sum to the study's wrong answers."""
    found = made()
    wrong = sum(depth.asked - depth.correct for run in found.runs for depth in run.depths)
    for parts in (analysis(found).errors_by_tier, analysis(found).errors_by_type):
        assert sum(part.count for part in parts) == wrong
        assert {part.share.n for part in parts} == {wrong}


def test_another_theta_is_answered_where_the_recording_can() -> None:
    """Higher ones stop earlier; lower ones hold where the run ended below them, or elsewhere."""
    run = scored(of_counts({"a": [24, 20, 15, 10]})).runs[0]  # S 0.8, 0.533, 0.267, 0.089
    sums = np.cumsum([0.8, 0.8 * 2 / 3, 0.8 / 3, 0.8 / 9])
    assert evd_at(run, 0.9, 0.2).value == pytest.approx(sums[0])
    assert evd_at(run, 0.5, 0.2).value == pytest.approx(sums[2])
    assert evd_at(run, 0.1, 0.2) == evd_at(run, 0.2, 0.2) == run.evd.value
    unknown = evd_at(run, 0.05, 0.2)
    assert unknown.reason == "stopped at depth 4 by theta 0.2; would have gone on"
    run.stop = "max depth"
    assert evd_at(run, 0.05, 0.2) == run.evd.value


def test_other_thetas_rank_again() -> None:
    """Every theta but the study's has each cell's EVD and rank; unknown ones have none."""
    found = analysis(scored(of_counts({"a": [24, 20, 15, 10], "b": [30, 12, 14]})))
    assert [part.theta for part in found.other_thetas] == [0.05, 0.1, 0.3, 0.4, 0.5]
    assert [cell.rank for cell in found.other_thetas[0].cells] == [None, None]
    assert [cell.rank for cell in found.other_thetas[1].cells] == [1, None]
    assert [cell.rank for cell in found.other_thetas[4].cells] == [1, 2]


def test_fewer_questions_are_subsamples_without_replacement() -> None:
    """At one depth the mean is A(1), and the deviation the hypergeometric one."""
    rules = RULES._replace(theta=0.5)
    found = analysis(scored(of_counts({"a": [12]}, rules), rules))
    assert [part.questions for part in found.smaller_n] == [5, 10, 15, 20]
    for part in found.smaller_n:
        known = scipy.stats.hypergeom(30, 12, part.questions)
        cell = part.cells[0]
        assert cell.evd.value == pytest.approx(0.4, abs=0.02)
        assert cell.sd.value == pytest.approx(known.std() / part.questions, rel=0.1)
        cut = float(known.sf(math.ceil(part.questions / 2) - 1))  # S >= theta: the run cannot go on
        assert cell.unfinished.value == pytest.approx(cut, abs=0.05)


def test_fewer_questions_vary_more() -> None:
    """The smaller N, the larger the deviation; a depth with fewer answers keeps them all."""
    deviations = [part.cells[1].sd.value or 0 for part in analysis(made()).smaller_n]
    assert deviations == sorted(deviations, reverse=True)
    short = scored([run_of(counted([6, 2], 8), RunKey("a", "Law"))])
    whole = analysis(short).smaller_n[-1].cells[0]
    assert whole.evd.value == pytest.approx(short.runs[0].evd.value.value)
    assert whole.sd.value == 0
    assert whole.evd.n == ablations.DRAWS


def test_a_small_study_has_no_smaller_n() -> None:
    """Only sizes below the study's own N are there."""
    rules = RULES._replace(questions=10)
    found = study({"good": WORLDS["good"]}, repeats=1, rules=rules)
    assert [part.questions for part in analysis(found).smaller_n] == [5]


def test_a_study_without_any_question_is_null_throughout() -> None:
    """Runs that found no fact give an analysis that says so."""
    cells = [run_of([unverifiable(1, 1)], RunKey(name, "Law", n)) for name in "ab" for n in (1, 2)]
    found = scored(cells)
    check_honest(analysis(found), DrillAnalysis)
    assert analysis(found).cells[0].two_way.reason == "nothing was asked at depth 1"
    assert all(len(row) == len(table.columns) for table in tables(found) for row in table.rows)


def test_tables_show_every_cell_and_run() -> None:
    """Each row has a cell for each column; every target, domain and run is named."""
    found = made()
    shown = tables(found)
    for table in shown:
        assert all(len(row) == len(table.columns) for row in table.rows), table.title
    texts = msgspec.json.encode([table.rows for table in shown]).decode()
    for run in found.runs:
        assert run.cell.name in texts
    assert {row[1] for row in shown[0].rows} == {"Law", "Medicine"}
    [depths] = [table for table in shown if table.key == "depths"]
    assert len(depths.rows) == sum(len(run.depths) for run in found.runs)
