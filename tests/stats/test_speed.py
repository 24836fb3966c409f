"""What must stay quick: imports, 10,000 resamples, every pairing of nine."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import harness.stats
from harness.stats import correlation, permutation, resampling

MODULES = sorted(path.stem for path in Path(harness.stats.__path__[0]).glob("[a-z]*.py"))


def seconds(work: Callable[[], object]) -> float:
    """Give the shortest of five times."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def test_importing_loads_no_scipy_stats() -> None:
    """All of harness.stats imports without scipy.stats, which takes more than a second."""
    program = "import sys, importlib\nfor n in sys.argv[1:]: importlib.import_module(n)\n"
    program += "print('scipy.stats' in sys.modules, 'scipy.special' in sys.modules)"
    names = [f"harness.stats.{name}" for name in MODULES]
    done = subprocess.run(
        [sys.executable, "-c", program, *names], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]
    assert names


@pytest.mark.parametrize("n", [9, 88])
def test_bootstrap_is_vectorised(n: int) -> None:
    """10,000 rank correlations take less than a fiftieth of a loop over scipy.stats.spearmanr."""
    generator = np.random.Generator(np.random.PCG64(1))
    x, y = generator.normal(size=(2, n)).round(1)
    indices = resampling.draw(n, generator)
    ours = seconds(lambda: resampling.bootstrap_spearman(x, y, indices))
    loop = seconds(lambda: [scipy.stats.spearmanr(x[i], y[i]) for i in indices[:200]]) * 50
    print(f"n = {n}: {loop / ours:.0f} times as fast ({ours:.4f} s)")
    assert loop / ours > 50


def test_enumeration_is_quick() -> None:
    """All 362,880 pairings of nine take well under a second, also for the first time."""
    permutation._orders.cache_clear()
    start = time.perf_counter()
    correlation.spearman(range(9), range(9))
    assert time.perf_counter() - start < 2
