"""The numbers of an analysis equal those that well-kept libraries give for the same rows."""

import math
from typing import Any

import krippendorff
import msgspec
import numpy as np
import pandas as pd
import pingouin
import pytest
import scipy.stats
import synthetic
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import multitest, proportion

from harness.protocols.ddft.metrics import judgements
from harness.protocols.ddft.metrics.scoring import score_study
from harness.results import SubjectMetrics
from harness.stats.seeds import seeded

MADE = synthetic.study(9, 8)
SUBJECTS = score_study("made", 1, MADE.cells, MADE.planned, MADE.rules).subjects
ANALYSIS = MADE.analysis()


def close(expected: Any) -> Any:
    """Give what a value must equal but for rounding."""
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.fixture(scope="module")
def rows() -> Any:
    """Give the turn-level data, one row a judgement."""
    return pd.DataFrame(judgements.rows(MADE.cells, MADE.domains), columns=judgements.HEADER)


@pytest.fixture(scope="module")
def items(rows: Any) -> Any:
    """Give the turn-level data, one row a turn evaluation."""
    return rows[rows.judge == "judge-0"]


def ci(subjects: list[SubjectMetrics] = SUBJECTS) -> list[float]:
    values = [subject.ci_raw.value for subject in subjects]
    assert None not in values
    return [value for value in values if value is not None]


def turn_far(items: Any, turn: int) -> list[float]:
    chosen = items[items.turn == turn].groupby("subject").consensus_far.mean()
    return [float(chosen[subject.subject]) for subject in SUBJECTS]


@pytest.mark.parametrize("turn", [1, 2, 3, 4, 5])
def test_turn_correlations_are_scipys(items: Any, turn: int) -> None:
    """Spearman's rho of each turn's mean FAR with raw CI, and its p."""
    found = ANALYSIS.correlations.turns[turn - 1]
    expected = scipy.stats.spearmanr(turn_far(items, turn), ci())
    assert found.coefficient.value == close(expected.statistic)
    assert found.p.value == close(expected.pvalue)


def test_design_correlations_are_scipys() -> None:
    """Pearson with log10 parameters, point-biserial with the reasoning flag."""
    facts = [MADE.facts[subject.subject] for subject in SUBJECTS]
    size = scipy.stats.pearsonr([math.log10(f.parameters_b or 0) for f in facts], ci())
    flag = scipy.stats.pointbiserialr([bool(f.reasoning) for f in facts], ci())
    for found, expected in zip(ANALYSIS.correlations.design, (size, flag), strict=True):
        assert found.coefficient.value == close(expected.statistic)
        assert found.p.value == close(expected.pvalue)


def test_the_bootstrap_is_scipys() -> None:
    """The percentile interval of 10,000 resamples with the same generator."""
    facts = [MADE.facts[subject.subject] for subject in SUBJECTS]
    x = [math.log10(f.parameters_b or 0) for f in facts]
    expected = scipy.stats.bootstrap(
        (x, ci()),
        lambda a, b, axis: scipy.stats.pearsonr(a, b, axis=axis).statistic,
        paired=True,
        n_resamples=10_000,
        method="percentile",
        rng=seeded(42, "analysis|subjects|9"),
    ).confidence_interval
    interval = ANALYSIS.correlations.design[0].bootstrap.interval
    assert (interval.low, interval.high) == (close(expected.low), close(expected.high))


def test_holm_is_statsmodels() -> None:
    """The exact p's of the five turns, corrected as one family."""
    turns = ANALYSIS.correlations.turns
    ps = [turn.exact.p.value for turn in turns]
    expected = multitest.multipletests(ps, method="holm")[1]
    assert [turn.holm.value for turn in turns] == close(list(expected))


def test_the_partial_correlation_is_pingouins(items: Any) -> None:
    """Spearman's of turn 4 with CI given FAR' and HOC, p with five degrees of freedom."""
    table = pd.DataFrame(
        {
            "far": turn_far(items, 4),
            "ci": ci(),
            "prime": [subject.far_prime.value for subject in SUBJECTS],
            "hoc": [subject.hoc.value for subject in SUBJECTS],
        }
    )
    expected = pingouin.partial_corr(table, "far", "ci", ["prime", "hoc"], method="spearman")
    found = ANALYSIS.correlations.turn_4_partial
    assert found.coefficient.value == close(float(expected["r"].iloc[0]))
    p = next(name for name in expected.columns if name.startswith("p") and name != "power")
    assert found.p.value == close(float(expected[p].iloc[0]))


@pytest.mark.parametrize("scale", ["far", "sas"])
def test_agreement_is_that_of_the_libraries(rows: Any, scale: str) -> None:
    """Alpha as krippendorff, ICC as pingouin, kappa as scikit-learn, over all turns."""
    table = rows.pivot_table(
        index=["subject", "concept", "level", "turn"], columns="judge", values=scale
    ).to_numpy()
    found = next(s for s in ANALYSIS.jury.scales if s.scale == scale)
    alpha = krippendorff.alpha(table.T, level_of_measurement="interval")
    assert found.agreement.alpha.value == close(alpha)
    assert found.agreement.variance.value == close(table.var(axis=1).mean())
    edges = found.kappas[0].edges
    for binned in found.kappas[:3]:
        weights = None if binned.weights == "unweighted" else binned.weights
        bins = np.digitize(table.round(9), edges)
        expected = cohen_kappa_score(bins[:, 0], bins[:, 2], labels=range(5), weights=weights)
        assert (binned.pairs[1].first, binned.pairs[1].second) == ("judge-0", "judge-2")
        assert binned.pairs[1].kappa.value == close(expected)


def test_icc_is_pingouins(rows: Any) -> None:
    """ICC(A,1) and ICC(A,k) of FAR over all turns."""
    table = rows.assign(item=rows.groupby(["subject", "concept", "level", "turn"]).ngroup())
    known = pingouin.intraclass_corr(table, "item", "judge", "far")
    expected = dict(zip(known["Type"], known["ICC"], strict=True))
    found = ANALYSIS.jury.scales[0].agreement.icc
    for name in ("ICC(A,1)", "ICC(A,k)"):
        assert found[name].value == close(float(expected[name]))


def test_domains_are_compared_as_scipy_and_pingouin_do(items: Any) -> None:
    """One-way over pooled turns, and repeated measures on subject x concept means."""
    groups = [group.consensus_far for _, group in items.groupby("domain")]
    expected = scipy.stats.f_oneway(*groups)
    found = ANALYSIS.domains
    assert found.pooled_turns.f.value == close(expected.statistic)
    assert found.pooled_turns.p.value == close(expected.pvalue)
    assert (found.pooled_turns.df, found.pooled_turns.df_error) == (7, 1792)
    means = items.groupby(["subject", "domain"]).consensus_far.mean().reset_index()
    table = pingouin.rm_anova(means, "consensus_far", "domain", "subject", correction=True)
    repeated = found.repeated_measures
    assert repeated.anova.f.value == close(float(table["F"].iloc[0]))
    assert repeated.epsilon.value == close(float(table["eps"].iloc[0]))


def test_rank_stability_is_scipys_kendall() -> None:
    """Tau of raw CI with CI without turn 4, and with clipped CI and its ties."""
    apart = [
        *(s for s in ANALYSIS.stability if s.alternative == "without turn 4"),
        *(s for s in ANALYSIS.stability if s.alternative == "normalization = clip"),
    ]
    clipped = [min(1.0, value) for value in ci()]
    fewer = [
        msgspec.structs.replace(c, turns=[t for t in c.turns if t.turn != 4]) for c in MADE.cells
    ]
    without = ci(score_study("made", 1, fewer, MADE.planned, MADE.rules).subjects)
    for found, other in zip(apart, (without, clipped), strict=True):
        expected = scipy.stats.kendalltau(ci(), other)
        assert found.tau.coefficient.value == close(expected.statistic)
        assert found.tau.p.value == close(expected.pvalue)


def test_grand_means_and_variances_are_pandas(items: Any) -> None:
    """The mean of the subject x concept table, each turn's and each concept's variance."""
    means = items.groupby(["subject", "concept"]).consensus_far.mean()
    assert ANALYSIS.grand_means[0].mean.value == close(means.mean())
    turns = items.groupby("turn").consensus_far.var()
    assert [t.far_variance.value for t in ANALYSIS.turns] == close(list(turns))
    places = items.groupby(["concept", "subject", "level"]).consensus_far.mean()
    concepts = places.groupby("concept").var()
    assert [c.far_variance.value for c in ANALYSIS.concepts] == close(list(concepts))


def test_the_share_of_informative_sessions_has_statsmodels_interval(items: Any) -> None:
    """Wilson's interval of the sessions whose turn 4 was believed."""
    believed = int((items[items.turn == 4].consensus_far.round(9) < 0.5).sum())
    low, high = proportion.proportion_confint(believed, 360, method="wilson")
    found = ANALYSIS.follow_up.interval
    assert (found.low, found.high) == (close(low), close(high))
