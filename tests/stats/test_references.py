"""Every statistic equals that of a well-kept library, on seeded random data, ties among it."""

from typing import Any

import krippendorff
import numpy as np
import numpy.typing as npt
import pandas as pd
import pingouin
import pytest
import scipy.stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater, multitest, proportion

from harness.stats import (
    agreement,
    correlation,
    kappa,
    kendall,
    multiple,
    proportions,
    ranks,
    resampling,
    variance,
)

Array = npt.NDArray[Any]
SEEDS = range(4)


def close(expected: Any) -> Any:
    """Give what a value must equal but for rounding."""
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def columns(seed: int, n: int, ties: bool) -> tuple[Array, Array]:
    """Give two correlated columns, rounded where ties are asked for."""
    draws = generator(seed).normal(size=(2, n))
    x, y = draws[0], 0.5 * draws[0] + draws[1]
    return (x.round(0), y.round(0)) if ties else (x, y)


def table(seed: int, items: int = 40, judges: int = 3) -> Array:
    """Give scores in [0, 1], one row an item, to a tenth."""
    draws = generator(seed)
    quality = draws.uniform(size=(items, 1))
    noise = draws.normal(scale=0.15, size=(items, judges))
    return np.asarray(np.clip(quality + noise, 0, 1).round(1))


def long(scores: Array, row: str, column: str) -> pd.DataFrame:
    """Give a table as one row a score."""
    items, judges = np.indices(scores.shape)
    content = {row: items.ravel(), column: judges.ravel(), "score": scores.ravel()}
    return pd.DataFrame(content)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [5, 9, 30, 200])
@pytest.mark.parametrize("seed", SEEDS)
def test_correlations(seed: int, n: int, ties: bool) -> None:
    """Pearson, Spearman, Kendall, their p and Fisher's interval are scipy's."""
    x, y = columns(seed, n, ties)
    r, known = correlation.pearson(x, y), scipy.stats.pearsonr(x, y)
    assert (r.coefficient.value, r.p.value) == close(tuple(known))
    interval = known.confidence_interval()
    assert (r.interval.low, r.interval.high) == close(tuple(interval))
    rho, known = correlation.spearman(x, y), scipy.stats.spearmanr(x, y)
    assert (rho.coefficient.value, rho.p.value) == close(tuple(known))
    tau, known = kendall.kendall(x, y), scipy.stats.kendalltau(x, y)
    assert (tau.coefficient.value, tau.p.value) == close(tuple(known))


def test_the_interval_of_a_rank_correlation_is_statpsychs() -> None:
    """Spearman's interval is that of the example of ci.spear (R, statpsych), which has ties."""
    x = [67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51]
    y = [21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19]
    rho = correlation.spearman(x, y).coefficient
    assert rho.value == pytest.approx(0.8699639, abs=5e-8)
    found = correlation.spearman_interval(rho.value or 0.0, rho.n)
    assert (found.low, found.high) == pytest.approx((0.5840951, 0.9638297), abs=5e-8)


@pytest.mark.parametrize(("n", "noise"), [(12, 0.4), (48, 0.4), (48, 1.0)])
def test_the_interval_of_a_rank_correlation_holds_the_truth_of_tied_bands(
    n: int, noise: float
) -> None:
    """Where one column has three values only, 95% intervals hold the true rho at least as often."""
    random, bands = np.random.default_rng(n), [0.1, 0.5, 0.9]

    def rho(column: Any) -> float:
        scores = column + noise * random.normal(size=len(column))
        return float(scipy.stats.spearmanr(column, scores).statistic)

    truth = rho(np.repeat(bands, 40_000))
    found = [correlation.spearman_interval(rho(np.repeat(bands, n // 3)), n) for _ in range(300)]
    assert sum((i.low or 0) <= truth <= (i.high or 0) for i in found) >= 0.93 * 300


@pytest.mark.parametrize("n", [34, 60])
def test_kendall_of_almost_equal_rankings(n: int) -> None:
    """Beyond 33 items p is still exact while at most one pair is out of order."""
    for y in ([*range(n)], [1, 0, *range(2, n)], [1, 0, 3, 2, *range(4, n)]):
        known = scipy.stats.kendalltau(range(n), y)
        found = kendall.kendall(range(n), y)
        assert found.coefficient.value == close(known.statistic)
        assert found.p.value == pytest.approx(known.pvalue, rel=1e-9, abs=0)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [4, 6])
def test_exact_p(n: int, ties: bool) -> None:
    """The enumeration counts what a loop over all pairings with scipy's rho counts."""
    x, y = columns(1, n, ties)
    found = correlation.spearman(x, y).exact
    known = scipy.stats.permutation_test(
        (x,),
        lambda pairing: abs(scipy.stats.spearmanr(pairing, y).statistic).round(12),
        permutation_type="pairings",
        alternative="greater",
    )
    assert found.p.value == pytest.approx(known.pvalue)
    assert found.total == len(known.null_distribution)


@pytest.mark.parametrize("seed", SEEDS)
def test_point_biserial(seed: int) -> None:
    """A flag against numbers is scipy's pointbiserialr."""
    _, y = columns(seed, 20, False)
    flags = generator(seed).integers(0, 2, size=20).tolist()
    found = correlation.point_biserial(flags, y)
    known = scipy.stats.pointbiserialr(flags, y)
    assert (found.coefficient.value, found.p.value) == close(tuple(known))


@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize("covariates", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_partial_correlation(seed: int, covariates: int, method: str) -> None:
    """With one to three covariates r and p are pingouin's."""
    data = pd.DataFrame(generator(seed).normal(size=(25, 5)), columns=list("xyabc"))
    data["y"] += data["x"] + data["a"]
    names = list("abc"[:covariates])
    given = [data[name] for name in names]
    found = correlation.partial_correlation(data["x"], data["y"], given, method)
    known = pingouin.partial_corr(data, "x", "y", names, method=method)
    assert found.coefficient.value == close(known["r"].iloc[0])
    p = known.filter(regex="^p").iloc[0, 0]
    assert found.p.value == close(p)
    assert found.df == 25 - 2 - covariates


@pytest.mark.parametrize("n", [9, 30, 100])
def test_smallest_detectable(n: int) -> None:
    """What can be detected is what pingouin finds by bisection, or a little more."""
    known = pingouin.power_corr(n=n, power=0.8, alpha=0.05)
    found = correlation.smallest_detectable(n).value
    assert found is not None
    assert 0 <= found - known < 0.2 / n


@pytest.mark.parametrize("seed", SEEDS)
def test_ranks(seed: int) -> None:
    """Ties share the mean of their ranks as scipy's rankdata has it, row by row too."""
    values = generator(seed).integers(0, 6, size=(50, 12))
    known = scipy.stats.rankdata(values, axis=1)
    assert (ranks.centred_ranks(values) + 13 == 2 * known).all()
    assert (ranks.average_ranks(values[0] / 7) == known[0]).all()


@pytest.mark.filterwarnings("ignore:An input array is constant")
@pytest.mark.filterwarnings("ignore:The BCa confidence interval cannot be calculated")
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_bootstrap(method: str, ties: bool) -> None:
    """Interval, standard error and what is dropped are of scipy.stats.bootstrap's values."""
    x, y = columns(7, 15, ties)
    one = scipy.stats.pearsonr if method == "pearson" else scipy.stats.spearmanr
    known = scipy.stats.bootstrap(
        (x, y),
        lambda a, b: one(a, b).statistic,
        paired=True,
        vectorized=False,
        n_resamples=500,
        method="percentile",
        rng=generator(3),
    )
    pearson = method == "pearson"
    run = resampling.bootstrap_pearson if pearson else resampling.bootstrap_spearman
    found = run(x, y, resampling.draw(15, generator(3), 500))
    kept = known.bootstrap_distribution[~np.isnan(known.bootstrap_distribution)]
    interval = tuple(np.percentile(kept, [2.5, 97.5]))
    assert (found.interval.low, found.interval.high) == close(interval)
    assert found.se.value == close(kept.std(ddof=1))
    assert found.dropped == 500 - len(kept)


def test_bootstrap_of_whole_models() -> None:
    """Rows of a table are resampled whole: the mean over models, not over answers."""
    scores = generator(5).uniform(size=(9, 8))
    known = scipy.stats.bootstrap(
        (scores.mean(axis=1),), np.mean, n_resamples=800, method="percentile", rng=generator(3)
    )
    found = resampling.bootstrap_mean(scores, resampling.draw(9, generator(3), 800))
    interval = tuple(known.confidence_interval)
    assert (found.interval.low, found.interval.high) == close(interval)


@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
@pytest.mark.parametrize("seed", SEEDS)
def test_kappa(seed: int, weights: kappa.Weights) -> None:
    """Kappa is scikit-learn's with the categories named, for each weighting."""
    bins = kappa.binned(table(seed).tolist(), kappa.EDGES["rubric"])
    named = None if weights == "unweighted" else weights
    for pair in kappa.pairwise_kappa(bins, 5, weights).pairs:
        a, b = ([row[place] for row in bins] for place in (pair.first, pair.second))
        known = cohen_kappa_score(a, b, labels=range(5), weights=named)
        assert pair.kappa.value == close(known)


@pytest.mark.parametrize("judges", [2, 3, 5])
def test_fleiss(judges: int) -> None:
    """Fleiss' kappa is statsmodels'."""
    bins = kappa.binned(table(1, judges=judges).tolist(), kappa.EDGES["fifths"])
    counts, _ = inter_rater.aggregate_raters(np.asarray(bins, dtype=int))
    assert kappa.fleiss(bins).value == close(inter_rater.fleiss_kappa(counts))


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha(seed: int) -> None:
    """Alpha for an interval scale is krippendorff's, with a tenth of the scores missing."""
    scores = table(seed, judges=4)
    scores[generator(seed + 100).uniform(size=scores.shape) < 0.1] = np.nan
    known = krippendorff.alpha(scores.T, level_of_measurement="interval")
    rows = [[None if np.isnan(score) else float(score) for score in row] for row in scores]
    assert agreement.alpha(rows).value == close(known)


@pytest.mark.parametrize("judges", [2, 3, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_icc(seed: int, judges: int) -> None:
    """The six intraclass correlations are pingouin's."""
    scores = table(seed, judges=judges)
    known = pingouin.intraclass_corr(long(scores, "item", "judge"), "item", "judge", "score")
    expected = dict(zip(known["Type"], known["ICC"], strict=True))
    found = agreement.icc(scores.tolist())
    assert {name: value.value for name, value in found.items()} == close(expected)


def test_intervals_of_agreement_are_the_jackknifes() -> None:
    """Alpha's and ICC's interval over clusters follow from the libraries' values without each."""
    scores = table(3, judges=3)
    clusters = np.array_split(scores, 5)
    left_out = [np.concatenate([c for j, c in enumerate(clusters) if j != i]) for i in range(5)]
    found = agreement.clustered_intervals([cluster.tolist() for cluster in clusters])

    def alpha(part: Array) -> float:
        return float(krippendorff.alpha(part.T, level_of_measurement="interval"))

    def icc(part: Array) -> float:
        known = pingouin.intraclass_corr(long(part, "item", "judge"), "item", "judge", "score")
        return float(known.set_index("Type").loc["ICC(A,1)", "ICC"])

    for name, coefficient in (("alpha", alpha), ("ICC(A,1)", icc)):
        estimate, without = coefficient(scores), np.array([coefficient(p) for p in left_out])
        reach = scipy.stats.t.ppf(0.975, 4) * np.sqrt(4 * without.var())
        known = estimate - reach, min(1.0, estimate + reach)
        assert (found[name].low, found[name].high) == close(known)


def test_intervals_of_icc_are_near_those_by_f_where_items_are_independent() -> None:
    """60 normal items, a cluster each: McGraw and Wong's within 0.02 or a fifth of the width."""
    g = generator(5)
    scores = g.normal(0, 1, (60, 1)) + g.normal(0, 0.7, (60, 3))
    known = pingouin.intraclass_corr(long(scores, "item", "judge"), "item", "judge", "score")
    by_f = dict(zip(known["Type"], known["CI95"], strict=True))
    found = agreement.clustered_intervals([[row] for row in scores.tolist()])
    for name, (low, high) in by_f.items():
        near = pytest.approx((low, high), abs=max(0.02, (high - low) / 5))
        assert (found[name].low, found[name].high) == near


@pytest.mark.parametrize("ddof", [0, 1])
def test_spreads(ddof: int) -> None:
    """Mean variance and mean standard deviation are numpy's."""
    scores = table(2)
    rows = scores.tolist()
    mean_variance = agreement.mean_variance(rows, ddof).value
    assert mean_variance == close(scores.var(axis=1, ddof=ddof).mean())
    mean_sd = agreement.mean_sd(rows, ddof).value
    assert mean_sd == close(scores.std(axis=1, ddof=ddof).mean())


@pytest.mark.parametrize("seed", SEEDS)
def test_one_way(seed: int) -> None:
    """F, p and eta squared of unequal groups are scipy's and pingouin's."""
    draws = generator(seed)
    groups = [draws.normal(0.2 * i, size=5 + i).tolist() for i in range(4)]
    labels = [i for i, group in enumerate(groups) for _ in group]
    data = pd.DataFrame({"group": labels, "score": [v for group in groups for v in group]})
    known, found = scipy.stats.f_oneway(*groups), variance.one_way(groups)
    assert (found.f.value, found.p.value) == close(tuple(known))
    detailed = pingouin.anova(data, "score", "group", detailed=True, effsize="np2")
    assert found.eta_squared.value == close(detailed["np2"].iloc[0])


@pytest.mark.parametrize("conditions", [2, 3, 8])
@pytest.mark.parametrize("seed", SEEDS)
def test_repeated_measures(seed: int, conditions: int) -> None:
    """F, p, epsilon, the corrected p and partial eta squared are pingouin's."""
    draws = generator(seed)
    rows = draws.normal(size=(9, 1)) + draws.normal(size=(9, conditions))
    rows += 0.3 * np.arange(conditions)
    data = long(rows, "subject", "condition")
    known = pingouin.rm_anova(
        data, "score", "condition", "subject", correction=True, detailed=True, effsize="np2"
    ).iloc[0]
    found = variance.repeated_measures(rows.tolist())
    assert found.anova.f.value == close(known["F"])
    assert found.anova.p.value == close(known.filter(regex="^p.unc").iloc[0])
    assert found.anova.eta_squared.value == close(known["np2"])
    assert found.epsilon.value == close(known["eps"])
    if conditions > 2:
        corrected = known.filter(regex="^p.GG").iloc[0]
        assert found.p_corrected.value == close(corrected)


@pytest.mark.parametrize(
    ("correct", "method"), [(multiple.bonferroni, "bonferroni"), (multiple.holm, "holm")]
)
@pytest.mark.parametrize("seed", SEEDS)
def test_corrections(seed: int, correct: Any, method: str) -> None:
    """Corrected p are statsmodels', in the order given, equal ones among them."""
    ps = generator(seed).uniform(high=0.2, size=12).round(2)
    known = multitest.multipletests(ps, method=method)[1]
    assert correct(ps.tolist()) == close(known.tolist())


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(("k", "n"), [(0, 7), (1, 7), (15, 30), (399, 400), (400, 400)])
def test_proportions(k: int, n: int, level: float) -> None:
    """Wilson, Wald, Clopper-Pearson and Jeffreys are statsmodels'."""
    methods = {"wilson": proportions.wilson, "normal": proportions.wald}
    methods["beta"] = proportions.clopper_pearson
    methods["jeffreys"] = proportions.jeffreys
    for method, interval in methods.items():
        known = proportion.proportion_confint(k, n, alpha=1 - level, method=method)
        found = interval(k, n, level)
        assert (found.low, found.high) == close(known)
