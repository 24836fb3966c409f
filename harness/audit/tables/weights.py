"""Whether one set of weights makes a whole column a weighted mean of others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog

from harness.audit.printed import Printed, Rounding

TableRow = tuple[Sequence[Printed], Printed]


def weights_exist(rows: Sequence[TableRow]) -> bool:
    """Tell whether weights of at least 0 that sum to 1 can give every printed average.

    rows: the figures of each row, and its average. Each figure stands for all values that are
    printed so; since no weight is negative, the mean of the lower ends and of the upper ends bound
    the mean, which makes it a linear program, solved with scipy's linprog.
    """
    return not rows or any(_feasible(rows, rounding) for rounding in Rounding)


def _feasible(rows: Sequence[TableRow], rounding: Rounding) -> bool:
    lows, highs, bounds = [], [], []
    for figures, average in rows:
        spans = [figure.span_under(rounding) for figure in figures]
        lows.append([float(span.low) for span in spans])
        highs.append([-float(span.high) for span in spans])
        span = average.span_under(rounding)
        bounds.append((float(span.high), -float(span.low)))
    outcome = linprog(
        np.zeros(len(lows[0])),
        A_ub=np.array(lows + highs),
        b_ub=np.array([high for high, _ in bounds] + [low for _, low in bounds]) + 1e-9,
        A_eq=np.ones((1, len(lows[0]))),
        b_eq=[1.0],
        bounds=(0, None),
    )
    return int(outcome.status) != 2  # 2: infeasible; whatever is not proved counts as possible
