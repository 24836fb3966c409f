"""Average ranks, doubled so that they are whole numbers and their sums exact."""

from __future__ import annotations

import numpy as np

from harness.stats.columns import FloatArray, IntArray, Numbers


def codes(values: Numbers) -> IntArray:
    """Return each value's place, from 0, among the distinct values: equal values, equal codes."""
    return np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)[1].astype(np.int64)


def centred_ranks(rows: IntArray) -> IntArray:
    """Rank every row of codes, shape (rows, n): twice the average rank, less its mean n + 1.

    By counting, without a sort: a value's doubled average rank is twice the number of values up to
    it, minus the number of its equals, plus 1 (Kendall, Rank Correlation Methods, 1970).
    """
    count, n = rows.shape
    if rows.size == 0:
        return rows
    width = int(rows.max()) + 1
    places = rows + width * np.arange(count, dtype=np.int64)[:, None]
    equals = np.bincount(places.ravel(), minlength=count * width).reshape(count, width)
    doubled = 2 * np.cumsum(equals, axis=1) - equals + 1
    ranked: IntArray = doubled.ravel()[places] - (n + 1)
    return ranked


def centred(values: Numbers) -> list[int]:
    """Return twice the average rank of each value, less the mean n + 1: whole numbers of sum 0."""
    return [int(rank) for rank in centred_ranks(codes(values)[None, :])[0]]


def average_ranks(values: Numbers) -> FloatArray:
    """Return the ranks from 1, ties sharing their mean (as scipy.stats.rankdata's "average")."""
    shifted = np.asarray(centred(values), dtype=np.float64) + len(values) + 1
    return np.asarray(shifted / 2, dtype=np.float64)
