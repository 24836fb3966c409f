"""What must not change a digit, and what must change in a known way."""

from dataclasses import asdict
from itertools import permutations
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.stats import agreement, correlation, kappa, kendall, variance
from harness.stats.agreement import Scores

SEEDS = range(5)


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def written(value: Any) -> bytes:
    """Give a result's every digit."""
    return msgspec.json.encode(value)


def table(seed: int, missing: bool = True) -> list[list[float | None]]:
    """Give the scores of 30 items by three judges, some missing."""
    draws = generator(seed)
    scores = np.clip(draws.uniform(size=(30, 1)) + draws.normal(scale=0.1, size=(30, 3)), 0, 1)
    holes = draws.uniform(size=scores.shape) < (0.05 if missing else 0)
    return [
        [None if hole else float(score) for score, hole in zip(*both, strict=True)]
        for both in zip(scores, holes, strict=True)
    ]


def by_judges(scores: Scores, order: tuple[int, ...]) -> list[list[float | None]]:
    return [[row[judge] for judge in order] for row in scores]


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_rows_changes_no_byte(seed: int) -> None:
    """Correlations of the same pairs in any order are the same bytes."""
    draws = generator(seed)
    rows = draws.normal(size=(8, 4)) * 10.0 ** draws.integers(-3, 3, size=4)

    def all_of(order: Any) -> bytes:
        x, y, *given = rows[order].T
        partial = [correlation.partial_correlation(x, y, given, m) for m in ("pearson", "spearman")]
        results = [correlation.pearson(x, y), correlation.spearman(x, y), kendall.kendall(x, y)]
        return written([*results, *partial])

    first = all_of(np.arange(8))
    assert all(all_of(draws.permutation(8)) == first for _ in range(20))


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_judges_and_items_changes_no_byte(seed: int) -> None:
    """Agreement is the same bytes whoever is called the first judge, and whatever came first."""
    scores = table(seed)
    first = written(agreement.agreement(scores))
    for order in permutations(range(3)):
        assert written(agreement.agreement(by_judges(scores, order))) == first
    shuffled = [scores[i] for i in generator(seed).permutation(len(scores))]
    assert written(agreement.agreement(shuffled)) == first


@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_judges_changes_no_kappa(seed: int, weights: kappa.Weights) -> None:
    """The mean kappa and Fleiss' kappa are the same bytes in any order of the judges."""
    scores = table(seed)

    def both(order: tuple[int, ...]) -> bytes:
        bins = kappa.binned(by_judges(scores, order), kappa.EDGES["fifths"])
        return written([kappa.pairwise_kappa(bins, 5, weights).mean, kappa.fleiss(bins)])

    assert len({both(order) for order in permutations(range(3))}) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_order_changes_no_f(seed: int) -> None:
    """F is the same bytes in any order of groups, of subjects, of numbers."""
    draws = generator(seed)
    rows = draws.normal(size=(6, 5)).tolist()
    first = written([variance.one_way(rows), variance.repeated_measures(rows)])
    for _ in range(10):
        subjects = [rows[i] for i in draws.permutation(6)]
        groups = [list(draws.permutation(row)) for row in subjects]
        again = [variance.one_way(groups), variance.repeated_measures(subjects)]
        assert written(again) == first


@pytest.mark.parametrize("seed", SEEDS)
def test_ranks_only(seed: int) -> None:
    """Spearman and Kendall see ranks: a monotone change of a column changes no byte."""
    x, y = generator(seed).normal(size=(2, 9))
    for method in (correlation.spearman, kendall.kendall):
        assert written(method(np.exp(x), y**3)) == written(method(x, y))


@pytest.mark.parametrize("seed", SEEDS)
def test_signs(seed: int) -> None:
    """Turning a column round turns the coefficient round and leaves p; swapping changes nothing."""
    x, y = generator(seed).normal(size=(2, 9))
    for method in (correlation.pearson, correlation.spearman, kendall.kendall):
        found, turned, swapped = method(x, y), method(-x, y), method(y, x)
        assert turned.coefficient.value == pytest.approx(-(found.coefficient.value or 0))
        assert turned.p.value == pytest.approx(found.p.value)
        assert written(swapped) == written(found)


def test_agreement_is_as_wide_as_the_scale() -> None:
    """Alpha, ICC and kappa of judges who agree entirely are 1, and their spread is 0."""
    scores = [[0.1, 0.1, 0.1], [0.7, 0.7, 0.7], [0.3, 0.3, 0.3]]
    found = asdict(agreement.agreement(scores))
    assert found["variance"].value == found["sd"].value == 0
    assert found["alpha"].value == 1
    assert all(value.value == pytest.approx(1) for value in found["icc"].values())
    bins = kappa.binned(scores, kappa.EDGES["fifths"])
    assert kappa.pairwise_kappa(bins, 5).mean.value == kappa.fleiss(bins).value == 1


def test_scores_at_an_edge() -> None:
    """A sum that is 0.8 but for rounding is in the bin that starts at 0.8."""
    assert kappa.binned([[0.1 + 0.7, 0.8, 1.0, 0.0]], kappa.EDGES["fifths"]) == [[4, 4, 4, 0]]
