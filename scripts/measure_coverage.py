"""How often the intervals of a study hold the truth, in made-up worlds whose truth is known.

Writes the tables of docs/statistics.md: method, world, runs that have an interval, the share of
them that holds the truth with its Monte Carlo error, the mean width; and false verdicts.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from coverage_worlds import FalseVerdict, World, false_verdicts, worlds

from harness.protocols.ddft.analysis import tested

PAGE = Path(__file__).parent.parent / "docs" / "statistics.md"
BEGIN, END = "<!-- scripts/coverage writes from here -->", "<!-- to here -->"


class Measured(NamedTuple):
    """How many runs have an interval, the share that holds the truth, and the mean width."""

    intervals: int
    covered: float
    width: float

    @property
    def error(self) -> float:
        """Return the Monte Carlo standard error of the share."""
        return math.sqrt(self.covered * (1 - self.covered) / max(1, self.intervals))


def measure(world: World, runs: int, seed: int = 1) -> Measured:
    """Return how often a world's interval holds its truth over so many runs."""
    generator = np.random.default_rng(seed)
    bounds = [
        (interval.low, interval.high)
        for interval in (world.run(generator) for _ in range(runs))
        if interval.low is not None and interval.high is not None
    ]
    covered = [low <= world.truth <= high for low, high in bounds]
    widths = [high - low for low, high in bounds]
    return Measured(
        len(bounds), float(np.mean(covered or [False])), float(np.mean(widths or [0.0]))
    )


def falsely_supported(verdict: FalseVerdict, runs: int, seed: int = 1) -> float:
    """Return the share of runs in which a prediction that does not hold is called supported."""
    generator = np.random.default_rng(seed)
    return float(np.mean([verdict.run(generator) == tested.SUPPORTED for _ in range(runs)]))


def lines(runs: int, slow_runs: int, only: str = "") -> Iterator[str]:
    """Yield the lines of both tables as Markdown; only: what the method or the world contains."""
    yield "| method | world | runs | intervals | covers | \u00b1 | width |"
    yield "|---|---|---|---|---|---|---|"
    for world in worlds():
        if only in f"{world.method} {world.name}":
            count = slow_runs if world.is_slow else runs
            measured = measure(world, count)
            figures = f"{measured.covered:.3f} | {measured.error:.3f} | {measured.width:.3f}"
            world_runs = f"{count} | {measured.intervals}"
            yield f"| {world.method} | {world.name} | {world_runs} | {figures} |"
    yield "\n| does not hold | runs | falsely supported | \u00b1 |\n|---|---|---|---|"
    for verdict in false_verdicts():
        if only in verdict.name:
            share = falsely_supported(verdict, runs)
            error = math.sqrt(share * (1 - share) / runs)
            yield f"| {verdict.name} | {runs} | {share:.3f} | {error:.3f} |"


def main() -> None:
    """Print the tables; with --write put them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--slow-runs", type=int, help="runs of EVD's worlds, 0.05 s each")
    parser.add_argument("--only", default="", help="worlds whose method or name has this text")
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    options = parser.parse_args()
    printed = []
    for line in lines(options.runs, options.slow_runs or options.runs, options.only):
        print(line, flush=True)
        printed.append(line)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        after = rest.partition(END)[2]
        tables = "\n".join(printed)
        PAGE.write_text(f"{before}{BEGIN}\n{tables}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
