"""Bounds of variances: never below what ratings can do, and reached; labels told apart."""

import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement
from pathlib import Path

import pytest
from audit.claim_text import finding, verdict

GRID = [step / 20 for step in range(21)]
Ratings = Sequence[float]


def triples() -> Iterator[Ratings]:
    return combinations_with_replacement(GRID, 3)


def from_mean(ratings: Ratings) -> float:
    centre = statistics.fmean(ratings)
    return statistics.fmean(abs(rating - centre) for rating in ratings)


def from_median(ratings: Ratings) -> float:
    centre = statistics.median(ratings)
    return statistics.fmean(abs(rating - centre) for rating in ratings)


@pytest.mark.parametrize(
    ("keys", "largest"),
    [
        ({"raters": 3}, "0.2222"),
        ({"raters": 3, "mean": ["0.4", "0.6"]}, "0.1867"),
        ({"raters": 3, "mean": ["0.9", "1"]}, "0.0200"),
        ({"raters": 2}, "0.2500"),
        ({"raters": 5, "mean": ["0.4", "0.6"]}, "0.2400"),
        ({}, "0.2500"),
        ({"mean": ["0.8", "1"]}, "0.1600"),
        ({"scale": ["1", "5"], "raters": 2}, "4.0000"),
    ],
)
def test_the_largest_variance_is_possible_and_no_more(
    keys: dict[str, object], largest: str
) -> None:
    """The bound itself is possible; with ddof 1 more is, as a convention."""
    assert verdict("moment_bound", largest, **keys) == "possible"
    over = f"{float(largest) + 0.0002:.4f}"
    assert verdict("moment_bound", over, **keys) == "reproduced*"
    n = keys.get("raters", 2)
    assert isinstance(n, int)
    far = f"{float(largest) * n / (n - 1) + 0.0002:.4f}"
    assert verdict("moment_bound", far, **keys) == "contradicted"


def test_no_ratings_pass_the_bound() -> None:
    """Over a grid of all triples with a mean from 0.4 to 0.6 the largest variance is 0.187."""
    among = [each for each in triples() if 0.4 <= statistics.fmean(each) <= 0.6]
    largest = max(statistics.pvariance(each) for each in among)
    assert largest == pytest.approx(0.56 / 3)
    assert verdict("moment_bound", "0.19", raters=3, mean=["0.4", "0.6"]) == "possible"
    found = finding("moment_bound", "0.370", raters=3, mean=["0.4", "0.6"])
    assert found.verdict == "contradicted"
    assert "as a standard deviation possible" in found.why


@pytest.mark.parametrize("deviation", [from_mean, from_median])
def test_every_item_keeps_to_the_bounds(deviation: Callable[[Ratings], float]) -> None:
    """Of each triple and of means over random items, the pair is possible; beyond it is not."""
    draw = random.Random(1)
    items = [each for each in triples() if deviation(each) > 0]
    for sample in [[each] for each in items[::60]] + [draw.sample(items, 5) for _ in range(20)]:
        m = statistics.fmean(map(deviation, sample))
        v = statistics.fmean(map(statistics.pvariance, sample))
        keys = {"deviation": f"{m:.9f}"}
        assert verdict("dispersion_pair", f"{v:.9f}", **keys) in ("possible", "reproduced*")
        if deviation is from_mean:
            assert verdict("dispersion_pair", f"{v:.9f}", **keys) == "possible"
            assert 9 / 8 * m**2 - 1e-12 <= v <= m / 2 + 1e-12
        else:
            assert 3 / 2 * m**2 - 1e-12 <= v <= 2 / 3 * m + 1e-12


def test_the_bounds_are_reached() -> None:
    """By (0, 1, 1) beside items without spread, from above; by (0, 1, 2) / 2 alone, from below."""
    share = 0.27
    edge = [(0.0, 1.0, 1.0)]
    m, v = share * from_mean(edge[0]), share * statistics.pvariance(edge[0])
    assert v == pytest.approx(m / 2)
    m, v = from_mean((0.2, 0.5, 0.8)), statistics.pvariance((0.2, 0.5, 0.8))
    assert v == pytest.approx(1.5 * m**2)
    m, v = from_mean((0.2, 0.5, 0.5)), statistics.pvariance((0.2, 0.5, 0.5))
    assert v == pytest.approx(9 / 8 * m**2)
    m, v = from_median((0.0, 0.5, 1.0)), statistics.pvariance((0.0, 0.5, 1.0))
    assert v == pytest.approx(1.5 * m**2)


def test_a_pair_names_its_convention() -> None:
    """0.12 beside 0.104: from the mean at most 0.0625, from the median with ddof 1 it can be."""
    found = finding("dispersion_pair", "0.104", deviation="0.12")
    assert found.verdict == "reproduced*"
    assert "only with deviations from the median, ddof 1" in found.why
    assert "0.01488 to 0.0625" in found.why
    assert verdict("dispersion_pair", "0.14", deviation="0.12") == "contradicted"
    assert verdict("dispersion_pair", "0.010", deviation="0.12") == "contradicted"
    assert verdict("dispersion_pair", "0.1", deviation="0.50") == "contradicted"
    assert verdict("dispersion_pair", "0.5", deviation="0.5", scale=["0", "2"]) == "possible"


RATINGS = "item,judge,score\na,x,1\na,y,0\na,z,1\nb,x,0.5\nb,y,0.6\nb,z,\nc,x,0\nc,y,\nc,z,\n"


def test_a_variance_that_is_a_standard_deviation_is_named(tmp_path: Path) -> None:
    """By the ratings: both labels, both ddof; items with one rating are left out."""
    data = tmp_path / "r.csv"
    data.write_text(RATINGS)
    keys = {"data": data, "columns": ["score"], "per": ["item"]}
    rows = [[1.0, 0.0, 1.0], [0.5, 0.6]]
    variance = statistics.fmean([statistics.pvariance(row) for row in rows])
    sd = statistics.fmean([statistics.pstdev(row) for row in rows])
    corrected = statistics.fmean([statistics.variance(row) for row in rows])
    of = "dispersion_label"
    assert verdict(of, f"{variance:.4f}", label="variance", ddof=0, **keys) == "reproduced"
    assert verdict(of, f"{variance:.4f}", label="variance", **keys) == "reproduced*"
    assert verdict(of, f"{corrected:.4f}", label="variance", **keys) == "reproduced*"
    assert verdict(of, f"{corrected:.4f}", label="variance", ddof=0, **keys) == "contradicted"
    wrong = finding(of, f"{sd:.4f}", label="variance", ddof=0, **keys)
    assert wrong.verdict == "contradicted"
    assert wrong.why.startswith("it is the mean standard deviation")
    swapped = finding(of, f"{variance:.4f}", label="sd", ddof=0, **keys)
    assert swapped.why.startswith("it is the mean variance")
    assert "nor the" in finding(of, "0.9", label="sd", ddof=0, **keys).why


@pytest.mark.parametrize("label", ["variance", "sd"])
@pytest.mark.parametrize("rows", ["a,0.1\nb,0.2\n", "a,\na,\n"])
def test_single_ratings_have_no_spread(tmp_path: Path, label: str, rows: str) -> None:
    """One rating of each item, or none at all, is not checkable."""
    data = tmp_path / "r.csv"
    data.write_text(f"item,score\n{rows}")
    keys = {"data": data, "columns": ["score"], "per": ["item"]}
    found = finding("dispersion_label", "0.1", label=label, **keys)
    assert found.verdict == "not checkable"
    assert found.why == "the data have fewer than two ratings of each item"


@pytest.mark.parametrize("n", range(2, 8))
def test_the_bound_is_that_over_all_counts_at_the_top(n: int) -> None:
    """For any range of means: of k ratings at the top of the scale, and of the range's ends."""
    for low, high in combinations_with_replacement([step / 10 for step in range(11)], 2):
        counts = [k / n for k in range(n + 1) if low - 1e-12 <= k / n <= high + 1e-12]
        most = max(spread_out(mean, n) for mean in (low, high, *counts))
        found = finding("moment_bound", "9", raters=n, mean=[str(low), str(high)])
        assert float(found.recomputed.removeprefix("at most ")) == pytest.approx(most, rel=1e-3)


def spread_out(mean: float, n: int) -> float:
    ones = int(mean * n + 1e-12)
    return statistics.pvariance(
        [1.0] * ones + [mean * n - ones] * (ones < n) + [0.0] * (n - ones - 1)
    )


def test_any_number_of_raters_comes_back() -> None:
    """A billion raters need no list of a billion means."""
    assert verdict("moment_bound", "0.25", raters=10**9) == "possible"


def test_by_the_scale_alone_only_the_impossible_is_told() -> None:
    """0.4 of three ratings in [0, 1] is no variance, 0.1 may be either."""
    found = finding("dispersion_label", "0.40", label="variance", raters=3)
    assert (found.verdict, "standard deviation" in found.why) == ("contradicted", True)
    assert verdict("dispersion_label", "0.10", label="variance", raters=3) == "not checkable"
