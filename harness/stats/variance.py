"""Analysis of variance: one-way, and with repeated measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import UsageError
from harness.results import Value
from harness.stats.columns import constant, mean, numbers, squares
from harness.stats.distributions import p_of_f

NEGLIGIBLE = 1e-24


@dataclass(frozen=True)
class Anova:
    """F with its p, degrees of freedom, sums of squares, and eta squared.

    ss_error is within groups in a one-way analysis; with repeated measures it is what subjects and
    conditions leave over, and eta squared is partial.
    """

    f: Value
    p: Value
    eta_squared: Value
    df: int
    df_error: int
    ss: float | None
    ss_error: float | None


@dataclass(frozen=True)
class RepeatedAnova:
    """A repeated-measures Anova, Greenhouse and Geisser's epsilon, and p corrected by it."""

    anova: Anova
    epsilon: Value
    p_corrected: Value


def one_way(groups: Sequence[Sequence[float]]) -> Anova:
    """Compare the means of independent groups of numbers (Fisher 1925).

    F = (ss / df) / (ss_error / df_error), df = groups - 1, df_error = n - groups, eta squared =
    ss / (ss + ss_error); as scipy.stats.f_oneway and pingouin.anova. Undefined below two groups,
    with an empty group, with no more numbers than groups, and where no group varies within.
    """
    known = [numbers(group, f"groups[{i}]") for i, group in enumerate(groups)]
    everything = [value for group in known for value in group]
    df, df_error = len(known) - 1, len(everything) - len(known)
    if reason := _undefined(known, df_error):
        return _without(reason, len(everything), df, df_error)
    grand = mean(everything)
    between = math.fsum(len(group) * (mean(group) - grand) ** 2 for group in known)
    within = math.fsum(squares(group) for group in known)
    return _anova(between, within, df, df_error, len(everything))


def repeated_measures(rows: Sequence[Sequence[float]]) -> RepeatedAnova:
    """Compare conditions measured on the same subjects: one row a subject, one column a condition.

    F = MS(conditions) / MS(subjects x conditions) with k - 1 and (k - 1)(n - 1) degrees of freedom
    (Winer, Statistical Principles in Experimental Design, 1971, chapter 4; as
    pingouin.rm_anova). Subjects differing in level no longer count as error. Undefined below two
    subjects or conditions and where nothing is left over. Raises UsageError on unequal rows.
    """
    known = [numbers(row, f"rows[{i}]") for i, row in enumerate(rows)]
    n, k = len(known), len(known[0]) if known else 0
    if any(len(row) != k for row in known):
        raise UsageError("the rows have unequal lengths; keep the subjects measured throughout.")
    df, df_error = k - 1, (k - 1) * (n - 1)
    if n < 2 or k < 2:
        return _repeated(_without("fewer than two subjects or conditions", n * k, df, df_error), n)
    left = _left_over(known)
    grand = mean([value for row in known for value in row])
    conditions = math.fsum(n * (mean(column) - grand) ** 2 for column in zip(*known, strict=True))
    error = math.fsum(value * value for row in left for value in row)
    largest = max(abs(value - grand) for row in known for value in row)
    if error <= NEGLIGIBLE * n * k * largest**2:
        return _repeated(_without("subjects and conditions leave no error", n * k, df, df_error), n)
    return _repeated(_anova(conditions, error, df, df_error, n * k), n, left)


def f_p(f: float, df: int, df_error: int) -> Value:
    """Return p of an F, as printed with its degrees of freedom; undefined where one is below 1."""
    if df < 1 or df_error < 1:
        return Value(None, df + df_error + 1, "no degrees of freedom")
    return Value(p_of_f(f, df, df_error), df + df_error + 1)


def f_eta_squared(f: float, df: int, df_error: int) -> Value:
    """Return eta squared of F: F df / (F df + df_error) (Cohen 1973); partial if F is partial."""
    if df < 1 or df_error < 1:
        return Value(None, df + df_error + 1, "no degrees of freedom")
    return Value(f * df / (f * df + df_error), df + df_error + 1)


def _undefined(groups: list[list[float]], df_error: int) -> str | None:
    if len(groups) < 2:
        return "fewer than two groups"
    if not all(groups):
        return "a group is empty"
    if df_error < 1:
        return "no more numbers than groups"
    return "no group varies within" if all(constant(group) for group in groups) else None


def _without(reason: str, n: int, df: int, df_error: int) -> Anova:
    nothing = Value(None, n, reason)
    return Anova(nothing, nothing, nothing, df, df_error, None, None)


def _anova(ss: float, ss_error: float, df: int, df_error: int, n: int) -> Anova:
    f = (ss / df) / (ss_error / df_error)
    eta = Value(ss / (ss + ss_error), n)
    return Anova(Value(f, n), Value(p_of_f(f, df, df_error), n), eta, df, df_error, ss, ss_error)


def _left_over(rows: list[list[float]]) -> list[list[float]]:
    columns = [mean(column) for column in zip(*rows, strict=True)]
    grand = mean([value for row in rows for value in row])
    return [
        [
            math.fsum((value, -mean(row), -column, grand))
            for value, column in zip(row, columns, strict=True)
        ]
        for row in rows
    ]


def _repeated(anova: Anova, n: int, left: list[list[float]] | None = None) -> RepeatedAnova:
    """Add the correction for conditions that are not equally correlated.

    epsilon = tr(S)^2 / ((k - 1) tr(S^2)), S the covariance of what subjects and conditions leave
    over, which is the double-centred covariance (Greenhouse and Geisser 1959).
    """
    if left is None or anova.f.value is None:
        nothing = Value(None, n, anova.f.reason)
        return RepeatedAnova(anova, nothing, nothing)
    columns = list(zip(*left, strict=True))
    products = [
        [math.fsum(a * b for a, b in zip(one, other, strict=True)) for other in columns]
        for one in columns
    ]
    trace = math.fsum(products[i][i] for i in range(len(columns)))
    squared = math.fsum(value * value for row in products for value in row)
    epsilon = min(1.0, trace * trace / (anova.df * squared))
    p = p_of_f(anova.f.value, anova.df * epsilon, anova.df_error * epsilon)
    return RepeatedAnova(anova, Value(epsilon, n), Value(p, n))
