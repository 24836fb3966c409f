"""Made-up studies whose truth is known, for the intervals that are measured in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.protocols.ddft.analysis import tested
from harness.protocols.ddft.analysis.evaluations import Evaluation
from harness.protocols.ddft.analysis.levels import subject_inference
from harness.protocols.ddft.metrics.scoring import MetricRules
from harness.protocols.depthcharge.metrics import uncertainty
from harness.protocols.depthcharge.metrics.uncertainty import Questions, Stop
from harness.results import Interval
from harness.stats import agreement, correlation, means, ranks, resampling
from harness.stats.proportions import korn_graubard, wilson

Array = npt.NDArray[np.float64]
Run = Callable[[np.random.Generator], Interval]
Draw = Callable[[np.random.Generator, int], Array]
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
TURNS = np.array([0.12, 0.08, 0.0, -0.10, -0.10])
RULES = MetricRules(0.7, "max", "undefined", "clip", "pooled", 0.5, 0.5, 0.05)
TIERS = [share for share in (0.96, 0.75, 0.5, 0.3, 0.2) for _ in range(3)]


class World(NamedTuple):
    """A method in a world: what it draws, and the truth that its interval should hold."""

    method: str
    name: str
    truth: float
    run: Run
    is_slow: bool = False


def _percentile(g: np.random.Generator, n: int, draw: Draw) -> Interval:
    """Return the percentile bootstrap that was printed before, over 1,000 resamples."""
    return resampling.bootstrap_mean(draw(g, n), resampling.draw(n, g, 1_000)).interval


def _by_t(g: np.random.Generator, n: int, draw: Draw) -> Interval:
    return means.mean_of(draw(g, n).tolist()).interval


def _crossed(g: np.random.Generator, n: int, by_row: float, by_column: float) -> Interval:
    return means.crossed_mean(_table(g, n, by_row, by_column)).interval


def means_worlds() -> Iterator[World]:
    """Means over subjects or concepts, symmetric and skewed, before and now; crossed factors."""
    draws: dict[str, tuple[float, Draw]] = {
        "normal": (0.7, lambda g, n: g.normal(0.7, 0.1, n)),
        "skewed, Beta(9, 1)": (0.9, lambda g, n: g.beta(9, 1, n)),
    }
    for n in (4, 9):
        for name, (truth, draw) in draws.items():
            world = f"{n} clusters, {name}"
            yield World(
                "before: percentile bootstrap", world, truth,
                partial(_percentile, n=n, draw=draw),
            )  # fmt: skip
            yield World(
                "mean, by t", world, truth,
                partial(_by_t, n=n, draw=draw),
            )  # fmt: skip
    for rows, by_row, by_column in ((9, 0.1, 0.08), (9, 0.0, 0.08), (4, 0.1, 0.08), (9, 0.0, 0.0)):
        world = f"{rows} x 8, SD {by_row:g} and {by_column:g}, residual 0.08"
        yield World(
            "crossed mean", world, 0.7,
            partial(_crossed, n=rows, by_row=by_row, by_column=by_column),
        )  # fmt: skip


def _table(g: np.random.Generator, n: int, by_row: float, by_column: float) -> list[list[float]]:
    table = 0.7 + g.normal(0, by_row, (n, 1)) + g.normal(0, by_column, (1, 8))
    return list((table + g.normal(0, 0.08, (n, 8))).tolist())


def correlation_worlds() -> Iterator[World]:
    """Spearman's rho, and a flag with few in a group."""
    for n in (7, 9):
        for r in (0.0, 0.8):
            truth = 6 / math.pi * math.asin(r / 2)
            yield World(
                "rho, Fisher z", f"{n} pairs, r = {r:g}", truth,
                partial(_rho, n=n, r=r, is_new=True),
            )  # fmt: skip
    for n in (4, 9):
        yield World(
            "before: bootstrap of rho", f"{n} pairs, r = 0.8", 6 / math.pi * math.asin(0.4),
            partial(_rho, n=n, r=0.8, is_new=False),
        )  # fmt: skip
    for size in (3, 4):
        yield World(
            "flag, Welch", f"9 subjects, {size} with it, no effect", 0.0,
            partial(_flag, size=size),
        )  # fmt: skip


def _rho(g: np.random.Generator, n: int, r: float, *, is_new: bool) -> Interval:
    x = g.normal(size=n)
    y = r * x + math.sqrt(1 - r * r) * g.normal(size=n)
    if not is_new:
        return resampling.bootstrap_spearman(x, y, resampling.draw(n, g, 1_000)).interval
    rho = float(resampling.spearman_rows(ranks.codes(x)[None], ranks.codes(y)[None])[0])
    return correlation.spearman_interval(rho, n)


def _flag(g: np.random.Generator, size: int) -> Interval:
    y = g.normal(size=9).tolist()
    return means.welch(y[:size], y[size:]).interval


def share_worlds() -> Iterator[World]:
    """The share of informative sessions, subjects apart by an effect on the logit."""
    for spread in (0.0, 0.5, 1.0):
        many = 1 / (1 + np.exp(-(-1.5 + spread * np.random.default_rng(0).normal(size=400_000))))
        truth = float(many.mean())
        for subjects in (4, 9):
            world = f"{subjects} subjects x 40 sessions, logit SD {spread:g}"
            for method in ("before: Wilson", "share, Korn and Graubard"):
                yield World(
                    method, world, truth,
                    partial(_share, n=subjects, spread=spread, method=method),
                )  # fmt: skip


def _share(g: np.random.Generator, n: int, spread: float, method: str) -> Interval:
    shares = 1 / (1 + np.exp(-(-1.5 + spread * g.normal(size=n))))
    counts = [(int(g.binomial(40, share)), 40) for share in shares]
    if method.startswith("before"):
        return wilson(sum(k for k, _ in counts), 40 * n)
    return korn_graubard(counts)


class Marks(NamedTuple):
    """Judges' scores of items: SDs of subjects and of items in them, and the judges' biases."""

    subject_sd: float
    item_sd: float
    biases: tuple[float, float, float]


def agreement_worlds() -> Iterator[World]:
    """Alpha and ICC(A,1) of three judges, residual SD 0.1, over subjects of 40 answers."""
    for marks in (
        Marks(0.0, 0.15, (0, 0, 0)),
        Marks(0.1, 0.15, (0, 0, 0)),
        Marks(0.1, 0.15, (-0.05, 0, 0.05)),
    ):
        many = _marks(np.random.default_rng(5), 20_000, 1, marks)
        scores = [row for cluster in many for row in cluster]
        truths = {"alpha": agreement.alpha(scores), "ICC(A,1)": agreement.icc(scores)["ICC(A,1)"]}
        biased = "judges biased" if any(marks.biases) else "no bias"
        for name, truth in truths.items():
            for n in (4, 9):
                yield World(
                    f"{name}, jackknife", f"{n} subjects, their SD {marks.subject_sd:g}, {biased}",
                    truth.value or 0.0, partial(_agreement, n=n, marks=marks, name=name),
                    is_slow=True,
                )  # fmt: skip


def _marks(g: np.random.Generator, n: int, items: int, marks: Marks) -> list[list[list[float]]]:
    """Return three judges' scores of the items of n subjects, shape (n, items, 3)."""
    level = (
        0.7 + g.normal(0, marks.subject_sd, (n, 1, 1)) + g.normal(0, marks.item_sd, (n, items, 1))
    )
    return list((level + np.array(marks.biases) + g.normal(0, 0.1, (n, items, 3))).tolist())


def _agreement(g: np.random.Generator, n: int, marks: Marks, name: str) -> Interval:
    return agreement.clustered_intervals(_marks(g, n, 40, marks))[name]


class Slope(NamedTuple):
    """A subject's FAR over levels: base less slope times level, concepts apart by an SD."""

    concept_sd: float
    slope: float
    base: float


def _scores(g: np.random.Generator, concepts: int, slope: Slope) -> tuple[Array, Array]:
    """Return FAR and SAS, shape (concepts, turns, levels)."""
    level = -slope.slope * np.array(LEVELS)[None, None, :]
    of_concept = g.normal(0, slope.concept_sd, (concepts, 1, 1))
    session = g.normal(0, 0.05, (concepts, 1, 5))
    far = slope.base + TURNS[None, :, None] + of_concept + level + session
    far = np.clip(far + g.normal(0, 0.1, (concepts, 5, 5)), 0, 1)
    return far, np.clip(0.72 + 0.25 * (far - 0.6) + g.normal(0, 0.2, far.shape), 0, 1)


def _rows(far: Array, sas: Array) -> list[Evaluation]:
    return [
        Evaluation("s", f"c{c}", LEVELS[k], 1, t + 1, float(far[c, t, k]), float(sas[c, t, k]))
        for c, t, k in np.ndindex(*far.shape)
    ]


def ci_worlds() -> Iterator[World]:
    """Raw CI of a subject, over every HOC that the levels leave open."""
    worlds = {
        "concepts differ, FAR far from theta": Slope(0.08, 0.5, 0.9),
        "FAR(0.5) at theta": Slope(0.08, 0.4, 0.9),
        "all levels at theta": Slope(0.08, 0.02, 0.71),
    }
    for name, slope in worlds.items():
        far, sas = _scores(np.random.default_rng(5), 20_000, slope)
        ok = [level for level, mean in zip(LEVELS, far.mean((0, 1)), strict=True) if mean >= 0.7]
        bottom = far[sas < 0.5].mean() + 1 - sas[far > 0.2].mean()
        truth = float(max(ok) * np.trapezoid(sas.mean((0, 1)), LEVELS) / bottom)
        for concepts in (4, 8):
            yield World(
                "CI, all sides", f"{concepts} concepts, {name}", truth,
                partial(_ci, concepts=concepts, slope=slope, truth=truth),
            )  # fmt: skip


def _ci(g: np.random.Generator, concepts: int, slope: Slope, truth: float) -> Interval:
    """Return the side that holds the truth, else the whole of all sides cut off below the truth."""
    sides = subject_inference("s", _rows(*_scores(g, concepts, slope)), RULES).sides
    bounds = [
        (side.ci_raw.low, side.ci_raw.high)
        for side in sides
        if side.ci_raw.low is not None and side.ci_raw.high is not None
    ]
    if not bounds:
        return Interval(None, None, reason="no side has an interval")
    holds = any(low <= truth <= high for low, high in bounds)
    width = max(high for _, high in bounds) - min(low for low, _ in bounds)
    low = truth if holds else truth + 1
    return Interval(low, low + width)


def drill_worlds() -> Iterator[World]:
    """EVD of a drill with N = 30, branches alike and not, facts of their own and shared."""
    for name, spread, facts in (
        ("five tiers", 0.0, 0),
        ("uneven branches, logit SD 1", 1.0, 0),
        ("20 facts a depth", 0.0, 20),
        ("90 facts a depth", 0.0, 90),
    ):
        truth = _evd(_true_accuracies(TIERS, spread))
        for method in ("before: by branch", "EVD, by branch and fact"):
            yield World(
                method, f"N = 30, {name}", truth,
                partial(_drill_interval, spread=spread, facts=facts, method=method),
                is_slow=not method.startswith("before"),
            )  # fmt: skip


def _true_accuracies(accuracies: list[float], spread: float) -> list[float]:
    if not spread:
        return accuracies
    effects = np.random.default_rng(99).normal(0, spread, 200_000)
    weights, shares = np.ones(len(effects)), []
    for share in accuracies:
        chance = 1 / (1 + np.exp(-(math.log(share / (1 - share)) + effects)))
        shares.append(float((weights * chance).sum() / weights.sum()))
        weights = weights * chance
    return shares


def _evd(accuracies: list[float]) -> float:
    survival, total = 1.0, 0.0
    for share in accuracies:
        survival *= share
        total += survival
        if round(survival, 9) < 0.2:
            break
    return total


def _drill(g: np.random.Generator, spread: float, facts: int) -> tuple[Questions, bool]:
    """Return the questions of a drill with N = 30, and whether it stopped by theta."""
    effects, paths, survival = g.normal(0, spread, 30), np.arange(30), 1.0
    columns: list[list[int]] = [[], [], [], []]
    for depth, share in enumerate(TIERS):
        own = np.resize(paths, 30) if len(paths) < 30 else g.choice(paths, 30, replace=False)
        chance = 1 / (1 + np.exp(-(math.log(share / (1 - share)) + effects[own])))
        fact, hit = np.arange(30), g.random(30) < chance
        if facts:
            fact = g.integers(0, facts, 30)
            hit = (g.random(facts) < share)[fact]
        new = (
            [depth] * 30,
            own.tolist(),
            (fact + depth * 1_000).tolist(),
            hit.astype(int).tolist(),
        )
        for column, more in zip(columns, new, strict=True):
            column.extend(more)
        paths, survival = own[hit], survival * float(hit.mean())
        if round(survival, 9) < 0.2 or not len(paths):
            break
    branch = np.unique(columns[1], return_inverse=True)[1]
    return Questions(
        np.array(columns[0]), branch, np.array(columns[2]), np.array(columns[3])
    ), round(survival, 9) < 0.2


def _drill_interval(g: np.random.Generator, spread: float, facts: int, method: str) -> Interval:
    questions, is_by_theta = _drill(g, spread, facts)
    depths = int(questions.depth.max()) + 1
    stop = Stop(0.2, 15 if is_by_theta else depths)
    if method.startswith("before"):
        return uncertainty.clustered(uncertainty.counts_by_branch(questions), stop, g).interval
    return uncertainty.clustered_by_branch_and_fact(questions, stop, g).interval


class FalseVerdict(NamedTuple):
    """A prediction in a world where it does not hold, and the verdict on a draw of it."""

    name: str
    run: Callable[[np.random.Generator], str]


def false_verdicts() -> Iterator[FalseVerdict]:
    """P2 where both fall alike, before and now; P4 where two domains differ by the bound."""
    for n in (4, 9):
        alike = f"P2, {n} subjects x 8 concepts, no difference"
        yield FalseVerdict(f"before: {alike}", partial(_load_before, n=n))
        yield FalseVerdict(alike, partial(_load, n=n))
        off = f"P4, {n} subjects, one domain off by the bound, residual SD 0.01"
        yield FalseVerdict(off, partial(_one_domain_off, n=n))
        apart = f"P4, {n} subjects, domains differ by SD 0.05, residual SD 0.08"
        yield FalseVerdict(apart, partial(_domains_apart, n=n))


def _falls(g: np.random.Generator, n: int) -> list[list[float]]:
    return [[value - 0.7 for value in row] for row in _table(g, n, 0.1, 0.05)]


def _load_before(g: np.random.Generator, n: int) -> str:
    low = _percentile(g, n, lambda g, n: np.array(_falls(g, n)).mean(axis=1)).low
    return tested.SUPPORTED if low is not None and low > 0 else tested.NOT_SHOWN


def _load(g: np.random.Generator, n: int) -> str:
    return tested.cognitive_load(_falls(g, n)).verdict


def _one_domain_off(g: np.random.Generator, n: int) -> str:
    table = np.array([tested.BOUND, 0, 0, 0]) + g.normal(0, 0.01, (n, 4))
    return tested.domain_general(table.tolist()).verdict


def _domains_apart(g: np.random.Generator, n: int) -> str:
    table = g.normal(0, 0.05, 8) + g.normal(0, 0.08, (n, 8))
    return tested.domain_general(table.tolist()).verdict


def worlds() -> list[World]:
    """Return every method in every world."""
    return [
        *means_worlds(),
        *correlation_worlds(),
        *share_worlds(),
        *agreement_worlds(),
        *ci_worlds(),
        *drill_worlds(),
    ]
