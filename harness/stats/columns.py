"""Columns of numbers as they are handed in: checked once, here.

A NaN is refused and never dropped: a hole is dropped, and counted, by whoever knows why it is one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import UsageError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Numbers = Sequence[float] | FloatArray | npt.NDArray[Any]


def numbers(values: Numbers, name: str = "values") -> list[float]:
    """Return the values as a list of floats; raises UsageError where one is NaN or infinite."""
    floats = [float(value) for value in values]
    for place, value in enumerate(floats):
        if not math.isfinite(value):
            raise UsageError(f"{name}[{place}] is {value}; drop missing values before, and say so.")
    return floats


def pair(x: Numbers, y: Numbers) -> tuple[list[float], list[float]]:
    """Return two columns of equal length as lists of floats; raises UsageError if unequal."""
    first, second = numbers(x, "x"), numbers(y, "y")
    if len(first) != len(second):
        raise UsageError(f"x has {len(first)} values and y has {len(second)}; pair them first.")
    return first, second


def constant(values: Sequence[float]) -> bool:
    """Tell whether all values are equal, exactly: a variance of 0 is no test, it is rounded."""
    return len(values) == 0 or min(values) == max(values)


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value, the same whatever their order (math.fsum)."""
    return math.fsum(values) / len(values)


def squares(values: Sequence[float]) -> float:
    """Return the sum of squared deviations from the mean, in any order; exactly 0 if equal."""
    if constant(values):
        return 0.0
    centre = mean(values)
    return math.fsum((value - centre) ** 2 for value in values)
