"""DDFT's metrics where the definitions leave room for mistakes."""

import itertools

import pytest

from harness.protocols.ddft.metrics import formulas as metrics
from harness.results import Value


def test_the_order_of_the_judges_decides_nothing() -> None:
    """The mean of 0.6, 0.7 and 0.8 passes theta 0.7 in every order, though floats disagree."""
    hocs = {
        metrics.hoc([(0.5, metrics.mean(order))], 0.7).value
        for order in itertools.permutations((0.6, 0.7, 0.8))
    }
    assert hocs == {0.5}


def test_max_and_onset_differ_on_a_curve_that_recovers() -> None:
    """The largest passing level is not the first crossing."""
    curve = [(0.0, 0.9), (0.25, 0.5), (0.5, 0.8), (0.75, 0.2)]
    assert metrics.hoc(curve, 0.7).value == 0.5
    assert metrics.hoc(curve, 0.7, "onset").value == 0.0


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("clip", [1.0, 0.5, 0.1]), ("max", [1.0, 0.25, 0.05]), ("minmax", [1.0, 0.4 / 1.9, 0.0])],
)
def test_normalization_is_by_the_named_rule(rule: str, expected: list[float]) -> None:
    """Each rule gives its own values, and an undefined CI stays undefined."""
    raw = [Value(2.0, 1), Value(0.5, 1), Value(0.1, 1), Value(None, 0, "empty FAR'")]
    normal = metrics.normalized(raw, rule)
    assert [value.value for value in normal[:3]] == pytest.approx(expected)
    assert normal[3].reason == "empty FAR'"


@pytest.mark.parametrize(
    ("ci", "label"),
    [
        (0.61, "Robust"),
        (0.60, "Competent"),
        (0.31, "Competent"),
        (0.30, "Brittle"),
        (0.0, "Brittle"),
        (0.1 + 0.2, "Brittle"),
        (None, None),
    ],
)
def test_phenotype_bounds(ci: float | None, label: str | None) -> None:
    """Robust is above 0.60, Competent above 0.30; a bound belongs to the lower class."""
    assert metrics.phenotype(ci) == label


def test_a_study_may_name_its_own_cuts() -> None:
    """FAR' and SAS' are means of the answers on their side of a cut, phenotypes begin at theirs."""
    pairs = [(0.75, 0.6), (0.25, 0.4), (0.1, 0.9)]
    assert metrics.far_prime(pairs) == Value(0.25, 1)
    assert metrics.far_prime(pairs, incoherent_below=0.65) == Value(0.5, 2)
    assert metrics.sas_prime(pairs) == Value(0.5, 2)
    assert metrics.sas_prime(pairs, factual_above=0.3) == Value(0.6, 1)
    assert [metrics.phenotype(ci, 0.9, 0.5) for ci in (0.91, 0.9, 0.5)] == [
        "Robust",
        "Competent",
        "Brittle",
    ]


def test_danger_zone_is_strict_on_both_sides() -> None:
    """A response at a threshold is outside; without responses the share is undefined."""
    pairs = [(0.4, 0.6), (0.5, 0.9), (0.1, 0.5), (0.0, 1.0)]
    assert metrics.danger_zone(pairs, 0.5, 0.5) == Value(0.5, 4)
    assert metrics.danger_zone([], 0.5, 0.5).value is None
