"""Kendall's tau-b of rankings equals scipy's.

Tau-c and Kendall's W are not offered: rankings of models are compared by tau-b.
"""

from typing import Any

import pytest
from golden.cases import cases, same

from harness.stats import correlation, kendall

KNOWN = cases("rank")
RANKINGS = [case for case in KNOWN if "a" in case.values[0]["inputs"]]
LATTICE = [case for case in KNOWN if "discordant" in case.values[0]["inputs"]]


def test_every_case_but_one_is_tested() -> None:
    """Only Kendall's W is left out."""
    assert len(RANKINGS) + len(LATTICE) == len(KNOWN) - 1 == 7


@pytest.mark.parametrize("case", RANKINGS)
def test_rankings(case: dict[str, Any]) -> None:
    """Tau-b, its p, and Spearman's rho of two rankings agree."""
    a, b = case["inputs"]["a"], case["inputs"]["b"]
    expected, tolerance = case["expected"], case["tol"]
    found = kendall.kendall(a, b)
    assert same(found.coefficient.value, expected["tau_b"], tolerance)
    assert same(found.p.value, expected["p_auto"], tolerance)
    assert same(correlation.spearman(a, b).coefficient.value, expected["spearman"], tolerance)


@pytest.mark.parametrize("case", LATTICE)
def test_lattice(case: dict[str, Any]) -> None:
    """So many pairs out of order give this tau, by the count and by such a ranking."""
    n, discordant = case["inputs"]["n"], case["inputs"]["discordant"]
    expected, tolerance = case["expected"]["tau"], case["tol"]
    moved = [*range(1, discordant + 1), 0, *range(discordant + 1, n)]
    found = kendall.kendall(range(n), moved).coefficient.value
    assert same(kendall.untied_tau(discordant, n), expected, tolerance)
    assert same(found, expected, tolerance)
