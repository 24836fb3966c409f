"""The script that measures how often intervals hold: its worlds run, its page is its own."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from coverage_worlds import World, false_verdicts, worlds
from measure_coverage import BEGIN, END, falsely_supported, measure

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"


@pytest.mark.parametrize("world", worlds(), ids=lambda world: f"{world.method} {world.name}")
def test_every_world_has_an_interval_or_a_reason(world: World) -> None:
    """One draw of each; bounds in their order."""
    interval = world.run(np.random.default_rng(1))
    if interval.low is None or interval.high is None:
        assert interval.reason
    else:
        assert interval.low <= interval.high


def test_t_holds_where_the_percentile_bootstrap_does_not() -> None:
    """At four clusters: 95 of 100 against 80, within three Monte Carlo errors."""
    by_method = {world.method: world for world in worlds() if "4 clusters, normal" in world.name}
    runs = 300
    error = math.sqrt(0.95 * 0.05 / runs)
    assert measure(by_method["mean, by t"], runs).covered > 0.95 - 3 * error
    assert measure(by_method["before: percentile bootstrap"], runs).covered < 0.95 - 3 * error


def test_a_prediction_that_does_not_hold_is_rarely_supported() -> None:
    """At most 5 of 100, within three Monte Carlo errors."""
    for verdict in false_verdicts():
        if not verdict.name.startswith("before"):
            share = falsely_supported(verdict, 100)
            assert share <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100), verdict.name


def test_the_page_has_a_row_for_every_world() -> None:
    """Its tables were written by the script, of the worlds that there are."""
    text = PAGE.read_text(encoding="utf-8")
    tables = text[text.index(BEGIN) : text.index(END)]
    rows = [line.split(" | ")[:2] for line in tables.splitlines() if line.startswith("| ")]
    of_worlds = [[f"| {world.method}", world.name] for world in worlds()]
    assert rows[1 : len(of_worlds) + 1] == of_worlds
    verdicts = [row[0].removeprefix("| ") for row in rows[len(of_worlds) + 2 :]]
    assert verdicts == [verdict.name for verdict in false_verdicts()]
