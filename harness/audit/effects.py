"""The p of a partial correlation, and what follows from an F."""

from __future__ import annotations

import math
from typing import Literal

from harness.audit.claim import Claim
from harness.audit.fields import Coefficient, Count, Figure, Number
from harness.audit.named_p import NamedP, impossible, sided, spread
from harness.audit.printed import Rounding
from harness.audit.verdicts import CheckOutcome, Reading, decide
from harness.stats.correlation import p_of_r
from harness.stats.distributions import p_of_f


class PartialPClaim(Claim):
    """The p of a partial correlation with so many covariates. tails: only where it is stated."""

    check: Literal["partial_p"]
    published: Number
    coefficient: Coefficient
    n: Count
    covariates: Count
    tails: Literal[1, 2] | None = None


class EffectSizeClaim(Claim):
    """Eta squared or p of an F."""

    check: Literal["effect_size"]
    published: Number
    gives: Literal["eta_squared", "p"]
    f: Figure
    df1: Count
    df2: Count


def partial_p(claim: PartialPClaim) -> CheckOutcome:
    """Compute p of a partial correlation by t with n - 2 - k degrees of freedom (Fisher 1924)."""
    df = claim.n - 2 - claim.covariates
    if df < 1:
        return CheckOutcome("contradicted", "", f"df = {df}: there is no such p", frozenset())

    def readings(rounding: Rounding) -> list[Reading]:
        p = spread(claim.coefficient, rounding, -1, 1, lambda r: p_of_r(r, df).value)
        return sided([NamedP(p)], claim.tails)

    return decide(claim.published, readings, f"by t, df = {df}")


def effect_size(claim: EffectSizeClaim) -> CheckOutcome:
    """Compute eta squared F df1 / (F df1 + df2) (Cohen 1973), or p by the F distribution."""

    def computed(f: float) -> float:
        if claim.gives == "p":
            return p_of_f(f, claim.df1, claim.df2)
        return f * claim.df1 / (f * claim.df1 + claim.df2)

    def readings(rounding: Rounding) -> list[Reading]:
        return [Reading(spread(claim.f, rounding, 0, math.inf, computed))]

    if reason := impossible(claim.published):
        return CheckOutcome("contradicted", "", reason, frozenset())
    return decide(claim.published, readings, f"df = ({claim.df1}, {claim.df2})")
