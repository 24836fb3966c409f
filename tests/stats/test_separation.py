"""AUC and balanced accuracy against libraries, and how often their intervals hold the truth."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from statsmodels.stats.proportion import confint_proportions_2indep

from harness.stats.separation import auc, balanced_accuracy


@pytest.mark.parametrize("seed", range(20))
def test_the_area_is_scikit_learns(seed: int) -> None:
    """The AUC is scikit-learn's, with ties and without."""
    random = np.random.default_rng(seed)
    scores = [np.round(random.normal(size=9), seed % 3), np.round(random.normal(size=7), seed % 3)]
    labels = [1] * 9 + [0] * 7
    reference = roc_auc_score(labels, np.concatenate(scores))
    found = auc(scores[0].tolist(), scores[1].tolist())
    assert found.value.value == pytest.approx(reference, abs=1e-12)
    assert found.value.n == 16


def quartic(area: float, m: int, n: int, z: float) -> list[float]:
    """Return the roots of the polynomial that the R package auRoc solves for method 5."""
    s = (m + n) / 2 - 1
    a, b, c, mn = -1 - 2 * s, 1 + 2 * s, 2 + s, m * n
    coefficients = [
        -mn + z**2 * a,
        mn * (1 + 2 * area) - z**2 * (a - b),
        mn * (2 - 2 * area - area**2) - z**2 * (b - c),
        mn * (area**2 - 4 * area) - z**2 * c,
        mn * 2 * area**2,
    ]
    roots = np.roots(coefficients)
    return sorted(float(r.real) for r in roots if abs(r.imag) < 1e-9 and 0 < r.real < 1)


@pytest.mark.parametrize(("wins", "m", "n"), [(70, 10, 9), (44, 8, 8), (200, 16, 16), (13, 5, 9)])
def test_the_interval_is_newcombes(wins: int, m: int, n: int) -> None:
    """The limits are the roots of the equation as the R package auRoc writes it out."""
    high = [float(place) for place in range(m)]
    pairs, low = wins, list[float]()
    for _ in range(n):  # each low score loses against as many high ones as are still to be lost to
        lost = min(m, pairs)
        pairs -= lost
        low.append(m - lost - 0.5)
    found = auc(high, low)
    assert found.value.value == pytest.approx(wins / (m * n))
    expected = quartic(wins / (m * n), m, n, float(norm.ppf(0.975)))
    assert [found.interval.low, found.interval.high] == pytest.approx(expected, abs=1e-6)


def test_groups_that_are_apart_keep_an_interval() -> None:
    """Of 8 and 8 that are wholly apart it is 0.756 to 1, and upside down the mirror of that."""
    high, low = [0.8] * 8, [0.2] * 8
    apart, upside_down = auc(high, low).interval, auc(low, high).interval
    assert apart.low == pytest.approx(0.756, abs=1e-3) and apart.high == 1
    assert upside_down.high == pytest.approx(1 - (apart.low or 0)) and upside_down.low == 0


def test_an_empty_group_has_no_area() -> None:
    """Without a score in one group, AUC and balanced accuracy are undefined, with the reason."""
    assert auc([], [0.5]).value.reason == "one of the two groups has no score"
    assert balanced_accuracy(0, 0, 3, 4).value.reason == "one of the two groups has no verdict"


@pytest.mark.parametrize("counts", [(7, 9, 5, 8), (9, 9, 8, 8), (0, 6, 2, 7)])
def test_balanced_accuracy_is_that_of_the_libraries(counts: tuple[int, int, int, int]) -> None:
    """The mean is scikit-learn's, and the limits are statsmodels' of the difference, halved."""
    hits, positives, rejections, negatives = counts
    said = [1] * hits + [0] * (positives - hits) + [0] * rejections + [1] * (negatives - rejections)
    reference = balanced_accuracy_score([1] * positives + [0] * negatives, said)
    found = balanced_accuracy(*counts)
    assert found.value.value == pytest.approx(reference)
    limits = confint_proportions_2indep(
        hits, positives, negatives - rejections, negatives, method="newcomb"
    )
    expected = [(limit + 1) / 2 for limit in limits]
    assert [found.interval.low, found.interval.high] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("area", [0.5, 0.75, 0.95])
@pytest.mark.parametrize("steps", [None, 11], ids=["smooth", "eleven values"])
def test_the_interval_covers(area: float, steps: int | None) -> None:
    """Over 1,000 drawn gold sets of 16 and 16 the AUC's interval holds the truth 9 times in 10."""
    random = np.random.default_rng(2026)
    shift = float(norm.ppf(area)) * 2**0.5
    high, low = random.normal(shift, 1, (1000, 16)), random.normal(0, 1, (1000, 16))
    if steps:  # what is rounded has ties, and an area of its own: that of very large samples
        high, low = np.round(high * 2), np.round(low * 2)
        values, counts = np.unique(low, return_counts=True)
        share = counts / counts.sum()
        area = float(
            np.mean([(share[values < h].sum() + share[values == h].sum() / 2) for h in high.flat])
        )
    held = 0
    for some, others in zip(high.tolist(), low.tolist(), strict=True):
        interval = auc(some, others).interval
        held += (interval.low or 0.0) <= area <= (interval.high or 0.0)
    assert held >= 920
