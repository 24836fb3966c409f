"""The p of a coefficient, of a test statistic, or of data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.audit.claim import Claim
from harness.audit.dataset import Dataset
from harness.audit.fields import Coefficient, Figure, FromData, Number
from harness.audit.lattice import lattice
from harness.audit.named_p import NamedP, impossible, mcnemar, sided, spread
from harness.audit.printed import Printed, Rounding, Span, reach, shown
from harness.audit.rank_tests import RankP, rank_ps, tied_ps
from harness.audit.selection import Numbers, correlated, needs_data, over_rounding, plain, selected
from harness.audit.verdicts import (
    CheckOutcome,
    Reading,
    decide,
    doubtful,
    joined,
    plainly,
    unchecked,
)
from harness.stats import kendall
from harness.stats.correlation import p_of_r
from harness.stats.distributions import p_of_chi_squared, p_of_f, p_of_t, p_of_z
from harness.stats.multiple import benjamini_hochberg, bonferroni, holm
from harness.stats.permutation import exact_pearson, exact_spearman

Adjust = Callable[[Sequence[float | None]], list[float | None]]
ADJUSTMENTS: dict[str, tuple[str, Adjust]] = {
    "holm": ("Holm", holm),
    "bonferroni": ("Bonferroni", bonferroni),
    "bh": ("Benjamini-Hochberg", benjamini_hochberg),
}
COEFFICIENTS = ("pearson", "spearman", "kendall")
DF_OF: dict[str, int] = {"t": 1, "z": 0, "chi-squared": 1, "F": 2}
T, NORMAL = "the t approximation", "the normal approximation"


class PValueClaim(Claim, FromData):
    """The p of a correlation (its coefficient and n, or two columns) or of a test statistic.

    statistic: the printed t, z, chi-squared or F, with its df; McNemar takes discordant, the two
    counts of pairs that differ. tails: only where the source states it. family: the printed
    coefficients (or statistics) of all tests made together, this one among them; adjust: how p was
    adjusted for them, only where the source states it. ties: "none" where the source rules them
    out.
    """

    check: Literal["p_value"]
    published: Number
    method: Literal["pearson", "spearman", "kendall", "t", "z", "chi-squared", "F", "McNemar"]
    coefficient: Coefficient | None = None
    statistic: Figure | None = None
    df: list[Annotated[float, Field(gt=0)]] = []
    discordant: list[Annotated[int, Field(ge=0)]] = []
    tails: Literal[1, 2] | None = None
    family: list[Figure] = []
    adjust: Literal["none", "holm", "bonferroni", "bh"] | None = None
    ties: Literal["possible", "none"] = "possible"

    @model_validator(mode="after")
    def _one_way(self) -> PValueClaim:
        if self.method in COEFFICIENTS:
            _require_coefficient(self)
        else:
            _require_statistic(self)
        if self.family and self._own not in self.family:
            raise ValueError("family: the claim's own figure is not among them")
        if self.adjust not in (None, "none") and not self.family:
            raise ValueError("adjust: needs family, the figures of all tests made together")
        return self

    @property
    def _own(self) -> Printed | None:
        return self.coefficient if self.method in COEFFICIENTS else self.statistic

    @property
    def two_sided_only(self) -> bool:
        """Tell whether a statistic has no one-sided test: it loses the sign."""
        return self.method in ("chi-squared", "F")


def p_value(claim: PValueClaim, dataset: Dataset | None) -> CheckOutcome:
    """Compare a printed p with the test of its coefficient, of its statistic, or of the data.

    Pearson: t = r sqrt((n - 2) / (1 - r^2)) (Fisher 1925). Spearman and Kendall: see rank_ps; t,
    the normal and the exact test are each a named convention, and where none fits, and the source
    does not rule ties out, the claim is not checkable, since ties give other exact tests. t, z,
    chi-squared and F by their distributions; McNemar 1947, with and without Edwards' correction,
    and exactly. One-sided p is half of it where the source does not say two-sided.
    """
    if reason := impossible(claim.published):
        return CheckOutcome("contradicted", "", reason, frozenset())
    if claim.columns:
        return needs_data(claim) if dataset is None else _of_data(claim, dataset)
    if claim.method == "pearson" and claim.n is not None and claim.n < 3:
        return unchecked(f"p is undefined: no test has {claim.n} pairs")
    outcome = decide(claim.published, lambda rounding: _readings(claim, rounding), _remarks(claim))
    if claim.method in ("spearman", "kendall") and claim.ties == "possible":
        outcome = _unless_tied(claim, outcome)
    return outcome


def _require_coefficient(claim: PValueClaim) -> None:
    if claim.statistic is not None or claim.df or claim.discordant:
        raise ValueError(f"{claim.method} takes coefficient and n, or two columns")
    of_print = claim.coefficient is not None and claim.n is not None and not claim.columns
    if not of_print and (claim.coefficient is not None or len(claim.columns) != 2):
        raise ValueError("give either coefficient and n, or two columns")
    if claim.n == 1 and claim.method != "pearson":
        raise ValueError(f"n: {claim.method} ranks at least 2 items, got 1")
    if any(abs(coefficient.value) > 1 for coefficient in claim.family):
        raise ValueError("family: a correlation is from -1 to 1")


def _require_statistic(claim: PValueClaim) -> None:
    if claim.coefficient is not None or claim.columns:
        raise ValueError(f"{claim.method} takes statistic and df, not a coefficient or columns")
    if claim.method == "McNemar":
        if len(claim.discordant) != 2 or sum(claim.discordant) == 0:
            raise ValueError("discordant: McNemar takes the two counts of pairs that differ")
        return
    if claim.statistic is None:
        raise ValueError(f"statistic: {claim.method} needs one")
    if len(claim.df) != DF_OF[claim.method]:
        raise ValueError(f"df: {claim.method} has {DF_OF[claim.method]}, got {len(claim.df)}")
    if claim.two_sided_only and claim.statistic.value < 0:
        raise ValueError(f"statistic: {claim.method} is never below 0")


def _readings(claim: PValueClaim, rounding: Rounding) -> list[Reading]:
    """Return what p may be: of one test or adjusted for its family, two-sided or one-sided."""
    plain_ps = _two_sided(claim, claim._own, rounding)
    tests = plain_ps if claim.adjust in (None, "none") else []
    if claim.family and claim.adjust != "none":
        names = list(ADJUSTMENTS) if claim.adjust is None else [claim.adjust]
        for name in names:
            adjusted = _adjusted(claim, name, rounding)
            stated = claim.adjust is not None
            tests = [
                *tests,
                *(reading for reading in (_renamed(p, name, claim, stated) for p in adjusted)),
            ]
    return sided(tests, 2 if claim.two_sided_only else claim.tails)


def _renamed(p: NamedP, name: str, claim: PValueClaim, stated: bool) -> NamedP:
    label = "" if stated else f"{ADJUSTMENTS[name][0]} over {len(claim.family)} tests"
    return NamedP(p.span, " and ".join(filter(None, (label, p.test))))


def _adjusted(claim: PValueClaim, name: str, rounding: Rounding) -> list[NamedP]:
    """Return the claim's adjusted p by each test; an adjusted p rises with each p of the family."""
    by_test: dict[str, list[Span]] = {}
    for figure in claim.family:
        for p in _two_sided(claim, figure, rounding):
            by_test.setdefault(p.test, []).append(p.span)
    position = [figure == claim._own for figure in claim.family].index(True)
    adjust = ADJUSTMENTS[name][1]
    ranges = []
    for test, spans in by_test.items():
        if len(spans) < len(claim.family):
            continue
        ends = [
            adjust([float(end) for end in side])[position]
            for side in zip(*((s.low, s.high, _middle(s)) for s in spans), strict=True)
        ]
        low, high, middle = (end if end is not None else 0.0 for end in ends)
        ranges.append(NamedP(Span(low, high, middle), test))
    return ranges


def _middle(span: Span) -> float:
    return float(span.high if span.middle is None else span.middle)


def _two_sided(claim: PValueClaim, figure: Printed | None, rounding: Rounding) -> list[NamedP]:
    if claim.method == "McNemar":
        return mcnemar(*claim.discordant)
    if figure is None:
        raise AssertionError("the form of a claim has a figure")
    if claim.method in COEFFICIENTS:
        return _of_coefficient(claim, figure, rounding)
    df = claim.df
    tests: dict[str, Callable[[float], float]] = {
        "t": lambda x: p_of_t(x, df[0]),
        "z": p_of_z,
        "chi-squared": lambda x: p_of_chi_squared(x, df[0]),
        "F": lambda x: p_of_f(x, df[0], df[1]),
    }
    lowest = 0 if claim.two_sided_only else -math.inf
    return [NamedP(spread(figure, rounding, lowest, math.inf, tests[claim.method]))]


def _of_coefficient(claim: PValueClaim, figure: Printed, rounding: Rounding) -> list[NamedP]:
    n = claim.n or 0
    if claim.method == "pearson":
        return [NamedP(spread(figure, rounding, -1, 1, lambda r: p_of_r(r, n - 2).value))]
    return [_named(p) for p in rank_ps(claim.method, figure, n, rounding)]


def _named(p: RankP) -> NamedP:
    return NamedP(p.span, p.test)


def _unless_tied(claim: PValueClaim, outcome: CheckOutcome) -> CheckOutcome:
    """Weaken a contradiction that a ranking with ties may explain."""
    if outcome.verdict != "contradicted":
        return outcome
    assert claim.coefficient is not None
    ps = tied_ps(claim.method, claim.coefficient, claim.n or 0)
    if ps is None:
        return doubtful(outcome, "by no usual test; whether there are ties is not said")
    allowed = [p for p in ps for share in (p, p / 2) if claim.published.allows(Span(share, share))]
    if allowed:
        return doubtful(outcome, "only an exact test of a ranking with ties gives it")
    reason = joined(outcome.why, "nor does an exact test of any ranking with ties")
    return CheckOutcome("contradicted", outcome.recomputed, reason, frozenset())


def _of_data(claim: PValueClaim, dataset: Dataset) -> CheckOutcome:
    cells = selected(dataset, claim)
    x, y = plain(cells)
    if claim.n not in (None, len(x)):
        reason = f"n is {len(x)} and not {claim.n}"
        return CheckOutcome("contradicted", f"n = {len(x)}", reason, frozenset())
    ps: list[NamedP] = []
    reason = ""
    if claim.method == "kendall":
        tau = kendall.kendall(x, y)
        reason = tau.p.reason or ""
        if tau.p.value is not None:
            test = "" if tau.p_method == "exact" else NORMAL
            ps = [NamedP(Span(tau.p.value, tau.p.value, tau.p.value), test)]
    else:
        ps, reason = _correlation_ps(claim, cells, [x, y])
    if not ps:
        return unchecked(f"p is undefined: {reason or f'no test has {len(x)} pairs'}")
    readings = plainly(*sided(ps, claim.tails))
    return decide(claim.published, readings, joined(f"n = {len(x)}", _zero(claim)))


def _correlation_ps(
    claim: PValueClaim, cells: Sequence[Sequence[object]], columns: Numbers
) -> tuple[list[NamedP], str]:
    def usual(columns: Numbers) -> float | None:
        return correlated(columns, claim.method).p.value

    by_t = over_rounding(usual, cells)  # type: ignore[arg-type]
    enumerated = exact_pearson if claim.method == "pearson" else exact_spearman
    exact = enumerated(*columns).p
    span = reach([exact.value], exact.value)
    t_name, exact_name = ("", "all permutations") if claim.method == "pearson" else (T, "")
    ps = [NamedP(p, name) for p, name in ((by_t, t_name), (span, exact_name)) if p is not None]
    return ps, exact.reason or ""


def _remarks(claim: PValueClaim) -> str:
    """Say what p rests on."""
    df = ", ".join(f"{degrees:g}" for degrees in claim.df)
    if claim.method == "pearson":
        basis = f"by t, df = {(claim.n or 0) - 2}"
    elif claim.method == "McNemar":
        basis = f"{claim.discordant[0]} and {claim.discordant[1]} discordant pairs"
    else:
        basis = f"df = {df}" if df else ""
    return joined(basis, _family_remark(claim), _unattainable(claim), _zero(claim))


def _family_remark(claim: PValueClaim) -> str:
    """Name Holm's p over the family, whatever is printed."""
    if not claim.family:
        return ""
    places = claim.published.places
    rule = claim.adjust if claim.adjust in ADJUSTMENTS else "holm"
    ps = _adjusted(claim, rule, Rounding.NEAREST)
    words = [Reading(p.span, p.test).named(places) for p in ps]
    return f"{ADJUSTMENTS[rule][0]} over {len(claim.family)} tests: {', '.join(words)}"


def _unattainable(claim: PValueClaim) -> str:
    if claim.method not in ("spearman", "kendall") or claim.coefficient is None or not claim.n:
        return ""
    values = lattice(claim.method, claim.n)
    if values.count(claim.coefficient.span):
        return ""
    return values.unattainable(claim.coefficient)


def _zero(claim: PValueClaim) -> str:
    """Say that no p is 0."""
    if claim.published.bound or claim.published.value:
        return ""
    return f"no p is 0: p < {shown(claim.published.unit, 0)} is meant"
