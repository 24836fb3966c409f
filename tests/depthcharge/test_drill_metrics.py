"""DepthCharge's metrics where the definitions leave room for mistakes."""

from random import Random

import pytest
from depthcharge.finished_runs import (
    RULES,
    asked,
    counted,
    depths_of,
    missing,
    probes_of,
    unverifiable,
)
from depthcharge.simulated_runs import TIERS, drill, uneven

from harness.protocols.depthcharge.metrics import formulas as metrics
from harness.results import Rise, Value


def test_s_that_is_theta_is_not_below_it() -> None:
    """(18/30)(10/30) is 0.2, whichever comes first, and does not stop a run; 0.199 does."""
    for correct in ([18, 10, 30, 15], [10, 18, 30, 15]):
        assert metrics.administered(metrics.known(depths_of(correct)), 0.2) == 4
    assert metrics.administered([0.6, 0.199], 0.2) == 2
    assert metrics.administered([0.6, 0.2], 0.2) is None


def test_the_extremes() -> None:
    """Everything right to depth 15 has EVD 15, nothing right at depth 1 has EVD 0."""
    perfect, none = depths_of([30] * 15), depths_of([0])
    assert metrics.evd(perfect) == metrics.evd_exclusive(perfect, 0.2) == Value(15.0, 450)
    assert metrics.median_survival_depth(perfect) == Value(None, 15, "S stays above 0.5")
    assert metrics.deepest_correct(perfect) == Value(15.0, 450)
    assert metrics.evd(none) == metrics.evd_exclusive(none, 0.2) == Value(0.0, 30)
    assert metrics.median_survival_depth(none) == Value(1.0, 1)
    assert metrics.deepest_correct(none) == Value(None, 30, "no answer is right")


def test_a_half_is_reached_by_what_equals_it() -> None:
    """S(2) = (5/6)(3/5) is 0.5 but for rounding, and the median."""
    assert metrics.median_survival_depth(depths_of([25, 18])) == Value(2.0, 2)


def test_a_missing_verdict_is_no_wrong_answer() -> None:
    """Nor is a question without a fact: A(d) is of those that were asked, and the rest is said."""
    probes = [*counted([15], 20), *(missing(1, number) for number in range(21, 26))]
    probes += [unverifiable(1, number) for number in range(26, 31)]
    depth = metrics.curve(probes, 1, 30, 3)[0]
    assert (depth.asked, depth.missing, depth.unverifiable, depth.planned) == (20, 5, 5, 30)
    assert depth.accuracy == Value(0.75, 20)
    assert metrics.shortfall([depth]) == 10
    assert sum(part.count for part in metrics.errors_by_type(probes)) == 5


def test_a_slot_counts_by_its_last_deal() -> None:
    """One that was dealt anew and then asked is asked, once; one never asked is unverifiable."""
    probes = [unverifiable(1, 1), asked(1, 1, 7, True, deal=2), missing(1, 2)]
    probes += [unverifiable(1, 2, deal=2), unverifiable(1, 3), unverifiable(1, 3, deal=2)]
    depth = metrics.curve(probes[::-1], 1, 3, 3)[0]
    assert (depth.asked, depth.missing, depth.unverifiable) == (1, 0, 2)
    assert depth.accuracy == Value(1.0, 1)


def test_where_nothing_was_asked_all_is_undefined() -> None:
    """A(d) and S are null with the reason; EVD ends before, and what is left is bounded."""
    probes = [*counted([24, 20]), *(unverifiable(3, number) for number in range(1, 31))]
    depths = metrics.curve(probes, 3, 30, 3)
    nothing = "nothing was asked at depth 3"
    assert depths[2].accuracy == depths[2].survival == Value(None, 0, nothing)
    assert depths[2].wilson.reason == "no observations"
    assert metrics.evd(depths).value == pytest.approx(0.8 + 0.8 * 2 / 3)
    assert metrics.left(depths, 15).value == pytest.approx(0.8 * 2 / 3 * 13)
    unknown = Value(None, 2, "S is undefined from depth 3")
    assert metrics.median_survival_depth(depths) == unknown
    empty = metrics.curve(probes[-30:], 1, 30, 3)
    assert metrics.evd(empty) == metrics.left(empty, 15)
    assert metrics.evd(empty) == Value(None, 0, "nothing was asked at depth 1")
    assert metrics.accuracy(empty) == Value(None, 0, "nothing was asked")
    assert metrics.median_survival_depth(empty) == Value(None, 0, "S is undefined from depth 1")


def test_what_is_left_is_bounded_or_said_to_be_unknown() -> None:
    """Below theta at depth d at most S(d)(15 - d) is left; at 15 unknown; after 0 nothing."""
    assert metrics.left(depths_of([15, 9]), 15).value == pytest.approx(0.15 * 13)
    assert metrics.left(depths_of([30] * 15), 15).reason == "unknown beyond depth 15, the greatest"
    assert metrics.left(depths_of([27, 0]), 15) == Value(0.0, 30)


def test_tiers_are_pooled_and_may_rise() -> None:
    """Each tier's answers count alike; a harder one that is answered better is named."""
    depths = depths_of([27, 24, 21, 30, 15], [30, 30, 30, 30, 20])
    found = metrics.tiers(depths)
    assert [(part.name, part.count, part.share) for part in found] == [
        ("COMMON", 72, Value(0.8, 90)),
        ("TEXTBOOK", 45, Value(0.9, 50)),
    ]
    rise = metrics.rises(found)[0]
    assert rise == Rise("COMMON", "TEXTBOOK", rise.by)
    assert rise.by == pytest.approx(0.1)
    assert metrics.rises(found[::-1]) == []
    assert metrics.accuracy(depths) == Value(117 / 140, 140)


def test_rounding_is_no_rise() -> None:
    """Two tiers that are equal but for floats keep their order."""
    first, second = metrics.tiers(depths_of([10, 10, 10, 30], [30, 30, 30, 90]))
    assert first.share.value == pytest.approx(1 / 3)
    assert metrics.rises([first, second]) == []


def test_errors_are_shared_out() -> None:
    """By tier and by type they sum to all wrong answers; a run without has none to share."""
    probes = counted([27, 24, 21, 20])
    by_tier = metrics.errors_by_tier(metrics.curve(probes, 4, 30, 3))
    assert [(part.name, part.count, part.share.n) for part in by_tier] == [
        ("COMMON", 18, 28),
        ("TEXTBOOK", 10, 28),
    ]
    by_type = metrics.errors_by_type(probes)
    assert [part.name for part in by_type] == ["conflation", "fabrication", "omission"]
    assert sum(part.count for part in by_type) == 28
    assert sum(part.share.value or 0 for part in by_type) == pytest.approx(1)
    assert metrics.errors_by_type(counted([30])) == []
    none = metrics.errors_by_tier(depths_of([30]))[0]
    assert none.share == Value(None, 0, "no answer is wrong")


@pytest.mark.parametrize("seed", range(20))
def test_what_holds_of_every_run(seed: int) -> None:
    """S never rises, EVD is at least its part above theta and at most its depths."""
    probes = probes_of(drill(uneven(TIERS, 1.5), Random(seed)))
    depths = metrics.curve(probes, probes[-1].depth, 30, RULES.passes)
    survival = metrics.known(depths)
    assert survival == sorted(survival, reverse=True)
    evd, exclusive = metrics.evd(depths).value, metrics.evd_exclusive(depths, 0.2).value
    assert exclusive is not None
    assert evd is not None
    assert 0 <= exclusive <= evd <= len(depths)
    assert evd - exclusive == pytest.approx(survival[-1] if survival[-1] < 0.2 else 0)


def test_the_median_s_cut_can_be_set() -> None:
    """S of 0.9, 0.6 and 0.3: a half is first passed at depth 3, seven tenths at depth 2."""
    depths = depths_of([27, 20, 15])
    assert metrics.median_survival_depth(depths).value == 3
    assert metrics.median_survival_depth(depths, 0.7).value == 2
    assert metrics.median_survival_depth(depths, 0.1).reason == "S stays above 0.1"


def test_questions_without_a_verdict_were_put() -> None:
    """The reason counts them; version 1 goes on saying that nothing was asked."""
    probes = [missing(1, number) for number in range(1, 12)]
    depths = metrics.curve(probes, 1, 12, 3)
    reason = "11 questions were put at depth 1, none has a verdict"
    assert metrics.evd(depths) == metrics.left(depths, 3) == Value(None, 0, reason)
    assert metrics.accuracy(depths).reason == "11 questions were put, none has a verdict"
    assert metrics.tiers(depths)[0].share.reason == (
        "11 questions were put in COMMON, none has a verdict"
    )
    older = metrics.curve(probes, 1, 12, 3, version=1)
    assert metrics.evd(older).reason == "nothing was asked at depth 1"
    assert metrics.accuracy(older, 1).reason == "nothing was asked"
    assert metrics.tiers(older, 1)[0].share.reason == "nothing was asked in COMMON"
