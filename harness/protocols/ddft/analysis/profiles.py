"""Subjects one by one: how they degrade, how they fail, how sure their phenotype is.

The paper names the classes and gives no bounds; ours, decided here: a stabilizer's FAR falls by
less than 0.05 from the lowest level to the highest, a degrader's by 0.05 or more. Where FAR falls
so far, SAS falling by 0.05 or more with it is a coupled collapse, else the verifier alone collapses
(section 8.1.3); where it does not, there is no collapse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.protocols.ddft.analysis.evaluations import Evaluation, grouped
from harness.protocols.ddft.analysis.phenotypes import PHENOTYPES, Uncertainty, undefined
from harness.protocols.ddft.analysis.schema import PhenotypeDanger, SubjectProfile
from harness.protocols.ddft.metrics.formulas import PLACES, mean_value
from harness.results import SubjectMetrics, Value

FAR_FALL = SAS_FALL = 0.05


def profiles(
    subjects: Sequence[SubjectMetrics],
    evaluations: Sequence[Evaluation],
    uncertain: Mapping[str, Uncertainty],
) -> list[SubjectProfile]:
    """Return every subject's profile; one with an incomplete grid has nothing but its reason."""
    turns = grouped(((e.subject, e.turn), e.far) for e in evaluations)
    numbers = sorted({turn for _, turn in turns})
    return [
        _profile(
            subject,
            [mean_value(turns.get((subject.subject, n), []), "no judgement") for n in numbers],
            uncertain.get(subject.subject),
        )
        for subject in subjects
    ]


def danger_by_phenotype(subjects: Sequence[SubjectMetrics]) -> list[PhenotypeDanger]:
    """Return the mean danger zone of the subjects of each phenotype (section 8.1.3)."""
    return [
        PhenotypeDanger(
            name,
            mean_value(
                [
                    subject.danger_zone.value
                    for subject in subjects
                    if subject.phenotype == name and subject.danger_zone.value is not None
                ],
                f"no subject is {name}",
            ),
        )
        for name in PHENOTYPES
    ]


def fall(subject: SubjectMetrics, scale: str) -> Value:
    """Return how far the mean score falls from the lowest level to the highest; n at both ends."""
    if not subject.complete:
        return Value(None, 0, subject.cri.reason)
    curve = [level.far if scale == "far" else level.sas for level in subject.levels]
    if len(curve) < 2:
        return Value(None, sum(at.n for at in curve), "fewer than two levels")
    first, last = curve[0], curve[-1]
    if first.value is None or last.value is None:
        return Value(None, first.n + last.n, "no judgement at the lowest or the highest level")
    return Value(first.value - last.value, first.n + last.n)


def degradation(far: Value) -> str | None:
    """Return the class of a fall of FAR: stabilizer or degrader (figure 1 B)."""
    if far.value is None:
        return None
    return "degrader" if round(far.value, PLACES) >= FAR_FALL else "stabilizer"


def failure_mode(far: Value, sas: Value) -> str | None:
    """Return how a subject fails as its text is cut away (section 8.1.3)."""
    if far.value is None or sas.value is None:
        return None
    if round(far.value, PLACES) < FAR_FALL:
        return "no collapse"
    coupled = round(sas.value, PLACES) >= SAS_FALL
    return "coupled collapse" if coupled else "selective verifier collapse"


def _profile(
    subject: SubjectMetrics, turns: list[Value], uncertainty: Uncertainty | None
) -> SubjectProfile:
    far, sas = fall(subject, "far"), fall(subject, "sas")
    known = uncertainty or undefined(0, subject.cri.reason or "no judgement")
    return SubjectProfile(
        subject=subject.subject,
        turns=turns,
        far_fall=far,
        sas_fall=sas,
        degradation=degradation(far),
        failure_mode=failure_mode(far, sas),
        ci_raw=known.ci_raw,
        probabilities=known.probabilities,
    )
