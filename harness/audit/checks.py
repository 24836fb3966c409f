"""Every check by name: the form of its claims, and the function that checks one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.audit.arithmetic import ArithmeticClaim, arithmetic
from harness.audit.claim import Claim
from harness.audit.counts import (
    GranularityClaim,
    MeanOfClaim,
    SumOfClaim,
    granularity,
    mean_of,
    sum_of,
)
from harness.audit.dataset import Dataset
from harness.audit.effects import EffectSizeClaim, PartialPClaim, effect_size, partial_p
from harness.audit.lattice import AttainableClaim, attainable
from harness.audit.marked import MarkedClaim, marked
from harness.audit.p_values import PValueClaim, p_value
from harness.audit.proportions import IntervalClaim, StandardErrorClaim, interval, standard_error
from harness.audit.recomputed import ValueClaim, value
from harness.audit.resampled import IntervalResampledClaim, interval_resampled
from harness.audit.spreads import (
    DispersionLabelClaim,
    DispersionPairClaim,
    MomentBoundClaim,
    dispersion_label,
    dispersion_pair,
    moment_bound,
)
from harness.audit.statements import (
    DirectionClaim,
    LabelRuleClaim,
    RestatedClaim,
    direction,
    label_rule,
    restated,
)
from harness.audit.verdicts import CheckOutcome


@dataclass(frozen=True)
class Check:
    """A check: the form of its claims, and the function; of the print alone or with data."""

    form: type[Claim]
    of_print: Callable[..., CheckOutcome] | None = None
    with_data: Callable[..., CheckOutcome] | None = None

    def outcome(self, claim: Claim, dataset: Dataset | None) -> CheckOutcome:
        """Check a claim of this form."""
        if self.with_data is not None:
            return self.with_data(claim, dataset)
        assert self.of_print is not None
        return self.of_print(claim)


CHECKS: dict[str, Check] = {
    "value": Check(ValueClaim, with_data=value),
    "p_value": Check(PValueClaim, with_data=p_value),
    "attainable": Check(AttainableClaim, attainable),
    "partial_p": Check(PartialPClaim, partial_p),
    "effect_size": Check(EffectSizeClaim, effect_size),
    "mean_of": Check(MeanOfClaim, mean_of),
    "sum_of": Check(SumOfClaim, sum_of),
    "interval_resampled": Check(IntervalResampledClaim, with_data=interval_resampled),
    "granularity": Check(GranularityClaim, granularity),
    "moment_bound": Check(MomentBoundClaim, moment_bound),
    "dispersion_pair": Check(DispersionPairClaim, dispersion_pair),
    "label_rule": Check(LabelRuleClaim, label_rule),
    "interval": Check(IntervalClaim, interval),
    "standard_error": Check(StandardErrorClaim, standard_error),
    "arithmetic": Check(ArithmeticClaim, arithmetic),
    "direction": Check(DirectionClaim, direction),
    "dispersion_label": Check(DispersionLabelClaim, with_data=dispersion_label),
    "restated": Check(RestatedClaim, restated),
    "marked": Check(MarkedClaim, marked),
}
