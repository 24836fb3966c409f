"""The p of a coefficient or an F: as the usual approximation has it, and exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from harness.audit.claims import EffectSize, PartialP, PValue
from harness.audit.dataset import Dataset
from harness.audit.finding import Outcome, Reading, decide, joined, unchecked
from harness.audit.lattice import Attained, lattice
from harness.audit.printed import Printed, Span, reach, shown, span_shown
from harness.audit.selection import Numbers, correlated, needs_data, over_rounding, plain, selected
from harness.stats import kendall, permutation
from harness.stats.correlation import p_of_r
from harness.stats.distributions import p_of_z
from harness.stats.multiple import holm
from harness.stats.permutation import exact_pearson, exact_spearman, exact_untied
from harness.stats.variance import f_eta_squared, f_p

EXACT_UP_TO = {"spearman": permutation.LARGEST, "kendall": kendall.LARGEST_EXACT}


class Tests(NamedTuple):
    """A correlation's p by its usual approximation and exactly, as far as they are known."""

    usual: Span | None
    exact: Span | None
    n: int
    note: str = ""


def p_value(claim: PValue, dataset: Dataset | None) -> Outcome:
    """Compare a printed p with the test of its coefficient, or of the data.

    Pearson: t = r sqrt((n - 2) / (1 - r^2)) is the test itself (Fisher 1925). Spearman and Kendall:
    the share of all n! rankings is the test (Kendall 1970; enumerated for rho up to n = 9, for tau
    up to 33), and t, or the normal for tau, its approximation, a named convention. A bound such as
    "p < 0.01" is a statement about the test: where the exact p is known it alone decides.
    """
    if claim.columns and dataset is None:
        return needs_data(claim)
    tests = _of_data(claim, dataset) if claim.columns and dataset else _of_print(claim)
    if claim.n not in (None, tests.n):
        return Outcome("contradicted", f"n = {tests.n}", f"n is {tests.n} and not {claim.n}")
    readings = _readings(claim, tests)
    if not readings:
        return unchecked(f"p is undefined: {tests.note or f'no test has {tests.n} pairs'}")
    return decide(claim.published, readings, _remarks(claim, tests))


def partial_p(claim: PartialP) -> Outcome:
    """Give p of a partial correlation by t with n - 2 - k degrees of freedom (Fisher 1924)."""
    df = claim.n - 2 - claim.covariates
    p = _by_t(_middle_and_ends(claim.coefficient, -1, 1), df)
    if p is None:
        return Outcome("contradicted", "", f"df = {df}: there is no such p")
    return decide(claim.published, [Reading(p)], f"by t, df = {df}")


def effect_size(claim: EffectSize) -> Outcome:
    """Give eta squared F df1 / (F df1 + df2) (Cohen 1973), or p by the F distribution."""
    known = f_eta_squared if claim.gives == "eta_squared" else f_p
    found = [known(f, claim.df1, claim.df2).value for f in _middle_and_ends(claim.f, 0, math.inf)]
    span = reach(found, found[0]) or Span(0, 0)
    return decide(claim.published, [Reading(span)], f"df = ({claim.df1}, {claim.df2})")


def _of_print(claim: PValue) -> Tests:
    coefficient, n = claim.coefficient, claim.n
    if coefficient is None or n is None:
        raise AssertionError("the form of a claim has either these or columns")
    values = _middle_and_ends(coefficient, -1, 1)
    if claim.method == "pearson":
        return Tests(_by_t(values, n - 2), None, n)
    known = lattice(claim.method, n)
    if known.count(coefficient.span) == 1:
        values[0] = float(known.within(coefficient.span)[0].value)
    usual = _by_normal(values, n) if claim.method == "kendall" else _by_t(values, n - 2)
    if n > EXACT_UP_TO[claim.method]:
        return Tests(usual, None, n, f"no exact p above n = {EXACT_UP_TO[claim.method]}")
    exact = reach(_exact(claim.method, each, n) for each in known.within(coefficient.span))
    return Tests(usual, exact, n, "" if exact else known.unattainable(coefficient))


def _of_data(claim: PValue, dataset: Dataset) -> Tests:
    cells = selected(dataset, claim)
    x, y = plain(cells)
    if claim.method == "kendall":
        found = kendall.kendall(x, y)
        p, exact = reach([found.p.value], found.p.value), found.p_method == "exact"
        return Tests(None if exact else p, p if exact else None, len(x), found.p.reason or "")

    def usual(columns: Numbers) -> float | None:
        return correlated(columns, claim.method).p.value

    enumerated = exact_pearson if claim.method == "pearson" else exact_spearman
    p_exact = enumerated(x, y).p
    return Tests(over_rounding(usual, cells), reach([p_exact.value]), len(x), p_exact.reason or "")


def _readings(claim: PValue, tests: Tests) -> list[Reading]:
    """Give the readings of a p; see p_value for which is plain."""
    if claim.method == "pearson":
        return [Reading(tests.usual)] if tests.usual else []
    if tests.exact is None:
        return [Reading(tests.usual, _approximation(claim))] if tests.usual else []
    words = f"{span_shown(tests.exact, claim.published.places)} exactly"
    exact = Reading(tests.exact, words=words)
    if tests.usual is None or claim.published.bound:
        return [exact]
    return [exact, Reading(tests.usual, _approximation(claim))]


def _remarks(claim: PValue, tests: Tests) -> str:
    """Say how p was had, and what it comes to otherwise."""
    places = claim.published.places
    if claim.method == "pearson":
        exact = f"by permutation {span_shown(tests.exact, places)}" if tests.exact else ""
        return joined(f"by t, df = {tests.n - 2}", exact)
    usual = ""
    if tests.usual and tests.exact and claim.published.bound:
        usual = f"{span_shown(tests.usual, places)} with {_approximation(claim)}"
    holm_p = shown(_holm(claim), places) if claim.family else ""
    corrected = f"Holm over {len(claim.family)} tests: {holm_p}" if claim.family else ""
    return joined(usual, corrected, "" if tests.exact else tests.note)


def _holm(claim: PValue) -> float:
    """Give Holm's p of the claim's coefficient within its family, by exact p where known."""
    tests = [_of_print(claim.model_copy(update={"coefficient": each})) for each in claim.family]
    spans = [each.exact or each.usual for each in tests]
    ps = [None if span is None else float(span.high) for span in spans]
    own = [each == claim.coefficient for each in claim.family].index(True)
    return holm(ps)[own] or 0.0


def _exact(method: str, attained: Attained, n: int) -> float | None:
    if method == "kendall":
        return kendall.exact_p(attained.total, n)
    return exact_untied(float(attained.value), n).p.value


def _by_t(coefficients: Sequence[float], df: int) -> Span | None:
    found = [p_of_r(r, df).value for r in coefficients]
    return reach(found, found[0])


def _by_normal(coefficients: Sequence[float], n: int) -> Span | None:
    """Give p of an untied tau by z = 3 tau sqrt(n (n - 1) / (2 (2 n + 5))) (Kendall 1970)."""
    scale = 3 * math.sqrt(n * (n - 1) / (2 * (2 * n + 5)))
    found = [p_of_z(tau * scale) for tau in coefficients]
    return reach(found, found[0])


def _middle_and_ends(figure: Printed, least: float, most: float) -> list[float]:
    """Give a figure, the ends of what it stands for, and 0 where that is between them."""
    low, high = (max(least, min(most, float(end))) for end in figure.span.ends)
    middle = max(least, min(most, float(figure.value)))
    return [middle, low, high, *([0.0] if low < 0 < high else [])]


def _approximation(claim: PValue) -> str:
    return "the normal approximation" if claim.method == "kendall" else "the t approximation"
