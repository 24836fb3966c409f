"""Percentile intervals equal those of numpy's PCG64 and scipy, resample by resample."""

from typing import Any

import numpy as np
import pytest
from golden.cases import cases, same

from harness.stats import ranks, resampling
from harness.stats.columns import FloatArray, IntArray
from harness.stats.resampling import Bootstrap

METHODS = ["pearson", "spearman"]


def drawn(case: dict[str, Any]) -> IntArray:
    inputs = case["inputs"]
    generator = np.random.Generator(np.random.PCG64(inputs["seed"]))
    return resampling.draw(len(inputs["x"]), generator, inputs["n_resamples"])


def bootstrapped(case: dict[str, Any], method: str, indices: IntArray) -> Bootstrap:
    pearson = method == "pearson"
    run = resampling.bootstrap_pearson if pearson else resampling.bootstrap_spearman
    return run(case["inputs"]["x"], case["inputs"]["y"], indices, most_undefined=1.0)


def replicates(case: dict[str, Any], method: str) -> FloatArray:
    x, y = case["inputs"]["x"], case["inputs"]["y"]
    if method == "pearson":
        columns = [np.asarray(x, dtype=float), np.asarray(y, dtype=float)]
        return resampling.replicates(resampling.pearson_rows, columns, drawn(case))
    return resampling.replicates(
        resampling.spearman_rows, [ranks.codes(x), ranks.codes(y)], drawn(case)
    )


@pytest.mark.parametrize("case", cases("bootstrap"))
def test_resamples(case: dict[str, Any]) -> None:
    """A seed draws the same rows everywhere."""
    indices = drawn(case)
    assert indices[:3].tolist() == case["inputs"]["first3_index_rows"]
    assert indices[-1].tolist() == case["inputs"]["last_index_row"]
    assert int(indices.sum()) == case["inputs"]["index_sum"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", cases("bootstrap"))
def test_interval(case: dict[str, Any], method: str) -> None:
    """The interval, the standard error and the number of dropped resamples agree."""
    expected, tolerance = case["expected"]["pcg64"][method], case["tol"]
    found = bootstrapped(case, method, drawn(case))
    low, high = expected["percentile_ci95"]
    assert same(found.interval.low, low, tolerance)
    assert same(found.interval.high, high, tolerance)
    assert same(found.se.value, expected["se_ddof1"], tolerance)
    assert (found.dropped, found.resamples) == (expected["n_nan_dropped"], 10_000)
    assert found.se.n == found.resamples - found.dropped


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", cases("bootstrap"))
def test_replicates(case: dict[str, Any], method: str) -> None:
    """The first resamples' coefficients and the mean of all agree."""
    expected, tolerance = case["expected"]["pcg64"][method], case["tol"]
    values = replicates(case, method)
    assert np.allclose(values[:5], expected["first5"], rtol=0, atol=tolerance)
    assert same(float(np.nanmean(values)), expected["mean"], tolerance)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", cases("bootstrap"))
def test_legacy(case: dict[str, Any], method: str) -> None:
    """The old generator's resamples give the interval that papers of its time printed."""
    inputs, expected = case["inputs"], case["expected"]["legacy_mt19937"]
    indices = resampling.draw_legacy(len(inputs["x"]), inputs["seed"], inputs["n_resamples"])
    assert indices[:3].tolist() == expected["first3_rows"]
    found = bootstrapped(case, method, indices)
    low, high = expected[f"{method}_percentile_ci95"]
    assert same(found.interval.low, low, case["tol"])
    assert same(found.interval.high, high, case["tol"])
    assert found.dropped == expected[f"{method}_nan"]
