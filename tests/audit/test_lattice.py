"""What untied rankings can give: the formula against all rankings there are."""

import re
from fractions import Fraction
from itertools import permutations

import pytest
from audit.claim_text import finding, verdict
from scipy.stats import kendalltau, spearmanr

from harness.audit.lattice import lattice
from harness.audit.printed import Span, point, printed

EVERYTHING = Span(-1, 1)


def square(order: tuple[int, ...]) -> int:
    return sum((place - rank) ** 2 for place, rank in enumerate(order))


def swaps(order: tuple[int, ...]) -> int:
    n = len(order)
    return sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))


@pytest.mark.parametrize("n", range(2, 9))
def test_the_lattice_is_what_all_rankings_give(n: int) -> None:
    """Every sum of d^2, and every number of pairs out of order, of all n! rankings: no more."""
    orders = list(permutations(range(n)))
    assert {each.total for each in lattice("spearman", n).within(EVERYTHING)} == {
        square(order) for order in orders
    }
    assert {each.total for each in lattice("kendall", n).within(EVERYTHING)} == {
        swaps(order) for order in orders
    }


@pytest.mark.parametrize("order", [(0, 2, 1, 3, 5, 4), (5, 4, 3, 2, 1, 0), (2, 0, 4, 1, 5, 3)])
def test_the_coefficients_are_those_of_scipy(order: tuple[int, ...]) -> None:
    """rho of a sum of d^2, tau of pairs out of order."""
    n = len(order)
    for method, total, coefficient in (
        ("spearman", square(order), spearmanr(range(n), order).statistic),
        ("kendall", swaps(order), kendalltau(range(n), order).statistic),
    ):
        found = [each for each in lattice(method, n).within(EVERYTHING) if each.total == total]
        assert float(found[0].value) == pytest.approx(coefficient)


def test_large_n_needs_no_enumeration() -> None:
    """The values near a printed one come out at once."""
    found = lattice("spearman", 1000).within(Span(Fraction("0.12345"), Fraction("0.12346")))
    assert found
    assert all(0.12345 <= each.value <= 0.12346 for each in found)


@pytest.mark.parametrize("method", ["spearman", "kendall"])
@pytest.mark.parametrize("n", [1800, 5400, 10**9])
def test_any_number_of_items_comes_back(method: str, n: int) -> None:
    """Few values are shown and the rest counted; above the exact tests p is the usual one."""
    found = finding("attainable", "0.50", method=method, n=n)
    assert (found.verdict, "more values" in found.why) == ("possible", True)
    assert verdict("p_value", "< 0.001", method=method, n=n, coefficient="0.5") == "reproduced*"


@pytest.mark.parametrize("method", ["spearman", "kendall"])
@pytest.mark.parametrize("n", range(2, 8))
@pytest.mark.parametrize("bound", ["", "<", "<=", ">", ">="])
def test_the_rest_is_counted_as_if_listed(method: str, n: int, bound: str) -> None:
    """Shown and not shown are together all values that could have been printed so."""
    known = lattice(method, n)
    every = known.within(EVERYTHING)
    assert known.count(EVERYTHING) == len(every)
    for text in ("0.5", "-0.5", "0", "1", "-1", "0.3"):
        claimed = printed(f"{bound} {text}")
        fitting = [each for each in every if claimed.allows(point(each.value))]
        found = finding("attainable", claimed.text, method=method, n=n, ties="none")
        more = re.search(r"or (\d+) more", found.why)
        values = found.recomputed.split(" or ") if found.recomputed else []
        assert len(values) + int(more[1] if more else 0) == len(fitting)


def test_a_coefficient_that_is_there_names_its_sum() -> None:
    """rho = -0.817 of nine: sum of d^2 = 218."""
    found = finding("attainable", "-0.817", method="spearman", n=9)
    assert found.verdict == "possible"
    assert "218" in found.why


def test_one_that_is_not_there_names_its_neighbours() -> None:
    """rho = 0.12 of six lies between 0.086 and 0.143; ties decide whether that contradicts."""
    found = finding("attainable", "0.12", method="spearman", n=6)
    assert found.verdict == "not checkable"
    assert "not attainable without ties (nearest 0.08571 and 0.1429)" in found.why
    assert verdict("attainable", "0.12", method="spearman", n=6, ties="none") == "contradicted"


def test_ties_could_make_what_untied_rankings_cannot() -> None:
    """One tied pair among six gives rho = 0.116, printed 0.12: no false accusation."""
    y = [1.0, 2.0, 3.5, 3.5, 5.0, 6.0]
    found = {round(spearmanr(order, y).statistic, 2) for order in permutations(range(6))}
    assert 0.12 in found


def test_a_bound_is_attainable_where_a_value_beyond_it_is() -> None:
    """tau > 0.90 of nine leaves 0.944 and 1."""
    assert finding("attainable", "> 0.90", method="kendall", n=9).recomputed == "1.00 or 0.9444"
    assert verdict("attainable", "> 1", method="kendall", n=9, ties="none") == "contradicted"


def test_no_coefficient_is_beyond_1() -> None:
    """1.5 has one neighbour."""
    assert "(nearest 1.0)" in finding("attainable", "1.5", method="kendall", n=9).why
