"""The form of what an analysis says of the judges, as it stands in results.json."""

from __future__ import annotations

import msgspec

from harness.results import Value
from harness.stats.agreement import Agreement
from harness.stats.kendall import Kendall


class PairAgreement(msgspec.Struct):
    """Cohen's kappa of two judges over the items both scored."""

    first: str
    second: str
    kappa: Value


class BinnedAgreement(msgspec.Struct):
    """The kappa of every pair of judges over scores sorted into named bins, and their mean."""

    bins: str
    edges: list[float]
    weights: str
    pairs: list[PairAgreement]
    mean: Value


class ScaleAgreement(msgspec.Struct):
    """How far judges agree on one scale; clear and edge: mean variance (ddof 0) of those items."""

    scale: str
    agreement: Agreement
    kappas: list[BinnedAgreement]
    clear: Value
    edge: Value


class Validity(msgspec.Struct):
    """How usable one judge was: share of judgements with a score, mean asks, states, repairs."""

    judge: str
    ok: Value
    asks: Value
    states: dict[str, int]
    repaired: dict[str, int]


class Families(msgspec.Struct):
    """Scores by judges of the subject's own family against those by others, on one scale.

    difference: own minus others, a mean over the items that both scored.
    """

    scale: str
    own: Value
    others: Value
    difference: Value


class Labelled(msgspec.Struct):
    """A subject's CI and phenotype under some rule."""

    subject: str
    ci_raw: Value
    ci: Value
    phenotype: str | None


class JudgeOut(msgspec.Struct):
    """The subjects as the jury sees them without one judge; tau is of raw CI against all."""

    without: str
    subjects: list[Labelled]
    changed: Value
    tau: Kendall


class SelfConsistency(msgspec.Struct):
    """How far the judges that are one model agree with each other; heading says what this is."""

    heading: str
    model: str
    judges: list[str]
    scales: list[ScaleAgreement]


class Jury(msgspec.Struct):
    """The judges: their names, agreement, validity, families, each left out.

    heading: what `scales` is the agreement of. Judges that are one model at one address are one
    judge in it, whose score is their mean; how far they agree is self_consistency. (Under protocol
    version 1 each counts for itself, as recorded, and the heading says so.)
    """

    judges: list[str]
    heading: str
    scales: list[ScaleAgreement]
    self_consistency: list[SelfConsistency]
    validity: list[Validity]
    families: list[Families]
    left_out: list[JudgeOut]

    @property
    def agreements(self) -> list[Jury | SelfConsistency]:
        """Return what has a table of its own, each with a heading and scales."""
        return [self, *(one for one in self.self_consistency if one.heading != self.heading)]
