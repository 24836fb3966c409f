"""The intervals of EVD cover the truth as often as they say, in worlds whose truth is known.

`pytest -rP` prints the shares.
"""

from functools import cache
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from depthcharge.finished_runs import RULES, probes_of, run_of
from depthcharge.simulated_runs import TIERS, drill, independent, limited, true_evd, uneven

from harness.protocols.depthcharge.metrics import formulas as metrics
from harness.protocols.depthcharge.metrics import uncertainty
from harness.protocols.depthcharge.metrics.scoring import by_branch
from harness.protocols.depthcharge.metrics.uncertainty import (
    ErrorAndInterval,
    Estimate,
    Stop,
    difference,
    t_interval,
)
from harness.results import Interval, RunKey

RUNS = 160
INDEPENDENT = {
    "0.8 everywhere": independent([0.8] * 15),
    "five tiers": independent(TIERS),
    "only the surface": independent([0.99, 0.95, 0.4, *[0.2] * 12]),
}
DEPENDENT = {
    "uneven branches": uneven(TIERS, 1.0),
    "very uneven branches": uneven(TIERS, 2.0),
    "branches known to a depth": limited(0.2),
}
WORLDS = INDEPENDENT | DEPENDENT
NEARLY_ALL_RIGHT = "0.99 everywhere"
TRIED = WORLDS | {NEARLY_ALL_RIGHT: independent([0.99] * 15)}


class Held(NamedTuple):
    """What one drill came to."""

    evd: float
    clustered: ErrorAndInterval
    binomial: ErrorAndInterval
    restopped: ErrorAndInterval
    jeffreys: ErrorAndInterval


@cache
def held(name: str) -> list[Held]:
    """Hold drills in a world."""
    chance = Random(f"coverage of {name}")
    return [_held(name, chance, number) for number in range(RUNS)]


def _held(name: str, chance: Random, number: int) -> Held:
    probes = probes_of(drill(TRIED[name], chance))
    run = run_of(probes, RunKey("target", name))
    depths = metrics.curve(probes, run.depths, RULES.questions, RULES.passes)
    asked, correct = [d.asked for d in depths], [d.correct for d in depths]
    stop = Stop(RULES.theta, RULES.max_depth if run.stop == "theta" else run.depths)
    generator = np.random.Generator(np.random.PCG64(number))
    return Held(
        metrics.evd(depths).value or 0.0,
        uncertainty.clustered(by_branch(probes, run.depths), stop, generator),
        uncertainty.binomial(correct, asked, number),
        uncertainty.binomial(correct, asked, number, stop),
        uncertainty.jeffreys(correct, asked, generator),
    )


@cache
def coverage(name: str, method: str) -> float:
    """Give the share of runs whose interval holds the world's EVD."""
    truth = true_evd(TRIED[name])
    found = np.mean([holds(getattr(run, method).interval, truth) for run in held(name)])
    print(f"{name}, {method}: {found:.3f} of {RUNS} runs cover {truth:.3f}")
    return float(found)


def holds(interval: Interval, truth: float) -> bool:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low <= truth <= interval.high


@pytest.mark.parametrize("name", WORLDS)
def test_the_interval_by_paths_covers(name: str) -> None:
    """About 95 of 100 runs hold the truth, whether or not answers hang together."""
    assert 0.90 <= coverage(name, "clustered") <= 0.995


@pytest.mark.parametrize("name", INDEPENDENT)
def test_the_binomial_interval_covers_where_answers_are_independent(name: str) -> None:
    """It does where each resample stops by the rule; over the administered depths alone, less."""
    assert 0.90 <= coverage(name, "restopped") <= 0.995
    assert 0.75 <= coverage(name, "binomial") <= coverage(name, "restopped") + 0.02


@pytest.mark.parametrize("name", DEPENDENT)
def test_the_binomial_interval_fails_where_answers_hang_together(name: str) -> None:
    """Too few runs hold the truth: this is what branches are resampled for."""
    for method in ("binomial", "restopped"):
        assert coverage(name, method) < coverage(name, "clustered") - 0.02
    assert coverage(name, "binomial") < 0.88


def test_where_nearly_everything_is_right_less_is_covered() -> None:
    """The weak point that uncertainty.py names: few errors to resample; Jeffreys lies too low."""
    truth, runs = true_evd(TRIED[NEARLY_ALL_RIGHT]), held(NEARLY_ALL_RIGHT)
    known = [run.clustered.interval for run in runs if run.clustered.interval.low is not None]
    covered = sum(holds(interval, truth) for interval in known) / len(runs)
    print(f"{NEARLY_ALL_RIGHT}: {len(known)} of {len(runs)} runs have one, {covered:.3f} cover")
    assert 0.85 <= covered <= 0.95
    assert coverage(NEARLY_ALL_RIGHT, "jeffreys") < 0.4


@pytest.mark.parametrize("name", WORLDS)
def test_the_standard_error_is_the_spread_of_runs(name: str) -> None:
    """The clustered error of a run is, on average, the deviation of EVD between runs."""
    ses = [run.clustered.se.value or 0.0 for run in held(name)]
    assert np.mean(ses) == pytest.approx(np.std([run.evd for run in held(name)]), rel=0.25)


@pytest.mark.parametrize("name", ["five tiers", "uneven branches"])
def test_the_interval_of_a_difference_covers(name: str) -> None:
    """Two runs of one target differ by 0, within the interval in about 95 of 100 pairs."""
    found = [
        Estimate(run.evd, (run.clustered.se.value or 0.0) ** 2, run.clustered.se.n - 1)
        for run in held(name)
    ]
    pairs = zip(found[::2], found[1::2], strict=True)
    covered = np.mean([holds(t_interval(difference(*pair)), 0.0) for pair in pairs])
    print(f"{name}, difference: {covered:.3f} of {RUNS // 2} pairs cover 0")
    assert covered >= 0.88
