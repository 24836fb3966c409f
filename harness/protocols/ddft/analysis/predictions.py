"""The paper's four predictions (section 6.2), each judged by a rule stated beside it.

The paper calls all four confirmed. Its own rule, as far as its text shows it, stands beside ours:
ours asks of P3 that the coefficient has the predicted sign (FAR is accuracy, so rejecting
fabrications predicts higher CI only if it is positive), of P2 for an interval, of P4 for an
analysis that does not take turns for independent. Below four subjects every verdict is undefined.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.protocols.ddft.analysis.profiles import SAS_FALL
from harness.protocols.ddft.analysis.resamples import Resamples
from harness.protocols.ddft.analysis.schema import (
    Correlation,
    Domains,
    PhenotypeDanger,
    Prediction,
    SubjectProfile,
)
from harness.protocols.ddft.metrics.formulas import PLACES, mean_value
from harness.results import Interval, Value
from harness.stats.fewest import too_few

ALPHA = 0.05


def predictions(
    danger: Sequence[PhenotypeDanger],
    profiles: Sequence[SubjectProfile],
    turn_4: Correlation,
    domains: Domains,
    resamples: Resamples,
) -> list[Prediction]:
    """Return the four predictions with estimate and verdicts."""
    return [
        _dissociation(danger),
        _cognitive_load(profiles, resamples),
        _bottleneck(turn_4),
        _domain_general(domains),
    ]


def verdict(holds: bool | None, why: str | None) -> str:
    """Return "supported" or "not supported"; None is undefined, for the reason given."""
    if holds is None:
        return f"undefined: {why}"
    return "supported" if holds else "not supported"


def _dissociation(danger: Sequence[PhenotypeDanger]) -> Prediction:
    parts = {each.phenotype: each.danger_zone for each in danger}
    robust, brittle = parts["Robust"], parts["Brittle"]
    n = sum(part.n for part in parts.values())
    why = too_few(n, "subjects with a phenotype") or robust.reason or brittle.reason
    estimate, holds = Value(None, n, why), None
    if why is None and robust.value is not None and brittle.value is not None:
        estimate = Value(robust.value - brittle.value, robust.n + brittle.n)
        holds = round(robust.value - brittle.value, PLACES) > 0
    rule = "the mean danger zone of Robust subjects is above that of Brittle ones; no test"
    no_interval = Interval(None, None, reason="groups of subjects, compared by their means")
    return Prediction(
        name="P1 dissociation",
        claim="Robust subjects are more often fluent and wrong than Brittle ones",
        estimate=estimate,
        interval=no_interval,
        parts=parts,
        rule=rule,
        verdict=verdict(holds, why),
        paper_rule=rule,
        paper_verdict=verdict(holds, why),
    )


def _cognitive_load(profiles: Sequence[SubjectProfile], resamples: Resamples) -> Prediction:
    falls = [
        (p.far_fall.value, p.sas_fall.value)
        for p in profiles
        if p.far_fall.value is not None and p.sas_fall.value is not None
    ]
    nothing = "no subject with both falls"
    far = mean_value([far for far, _ in falls], nothing)
    sas = mean_value([sas for _, sas in falls], nothing)
    more = [far - sas for far, sas in falls]
    interval = resamples.mean(more, "subjects").interval
    holds = None if interval.low is None else round(interval.low, PLACES) > 0
    stable = sas.value is not None and round(sas.value, PLACES) <= SAS_FALL
    return Prediction(
        name="P2 cognitive load",
        claim="as text is cut away FAR falls and SAS stays",
        estimate=mean_value(more, nothing),
        interval=interval,
        parts={"far_fall": far, "sas_fall": sas},
        rule="FAR falls further than SAS: the bootstrap interval of the mean difference of the "
        "two falls, over subjects, lies above 0",
        verdict=verdict(holds, interval.reason),
        paper_rule=f"mean SAS falls by at most {SAS_FALL} from the lowest level to the highest",
        paper_verdict=verdict(None if interval.low is None else stable, interval.reason),
    )


def _bottleneck(turn_4: Correlation) -> Prediction:
    rho, p, by_t = turn_4.coefficient, turn_4.holm, turn_4.p
    clear = None if p.value is None else p.value < ALPHA
    holds = None if clear is None or rho.value is None else clear and rho.value > 0
    return Prediction(
        name="P3 error detection bottleneck",
        claim="rejecting the fabrication in turn 4 predicts higher CI",
        estimate=rho,
        interval=turn_4.bootstrap.interval,
        parts={"p": by_t, "p_exact": turn_4.exact.p, "p_holm": p},
        rule=f"Spearman's rho of turn-4 FAR (accuracy) with CI is positive, Holm p < {ALPHA}",
        verdict=verdict(holds, rho.reason or p.reason),
        paper_rule=f"rho differs from 0 in either direction, p by t < {ALPHA}",
        paper_verdict=verdict(None if by_t.value is None else by_t.value < ALPHA, by_t.reason),
    )


def _domain_general(domains: Domains) -> Prediction:
    repeated, pooled = domains.repeated_measures, domains.pooled_turns
    p = repeated.p_corrected
    few = repeated.anova.f.reason
    paper = None if few is not None or pooled.p.value is None else pooled.p.value >= ALPHA
    return Prediction(
        name="P4 domain-general",
        claim="FAR does not differ by domain",
        estimate=repeated.anova.eta_squared,
        interval=Interval(None, None, reason="an effect size; see its p"),
        parts={"p_corrected": p, "eta_squared_pooled": pooled.eta_squared, "p_pooled": pooled.p},
        rule=f"repeated measures find no difference: p by Greenhouse and Geisser >= {ALPHA}; not "
        "finding one does not prove that there is none",
        verdict=verdict(None if p.value is None else p.value >= ALPHA, p.reason),
        paper_rule=f"one-way analysis of pooled turns: p >= {ALPHA}",
        paper_verdict=verdict(paper, few or pooled.p.reason),
    )
