"""The form of a study-level analysis, as it stands in results.json.

Every number is a Value with its n, or belongs to a form of harness.stats that names it; what is
undefined is null with its reason. How each is defined stands where it is computed.
"""

from __future__ import annotations

import msgspec

from harness.protocols.ddft.analysis.schema_inference import Inference
from harness.protocols.ddft.analysis.schema_jury import Jury
from harness.results import Interval, Usage, Value
from harness.stats.correlation import Partial
from harness.stats.kendall import Kendall
from harness.stats.permutation import Exact
from harness.stats.resampling import Bootstrap
from harness.stats.variance import Anova, RepeatedAnova


class Facts(msgspec.Struct):
    """What is known of a subject from elsewhere; outside holds scores by the benchmark's name."""

    parameters_b: float | None = None
    reasoning: bool | None = None
    outside: dict[str, float] = {}


class Thresholds(msgspec.Struct):
    """The analysis' own thresholds; those of the metrics stand in the results' rules."""

    fewest: int
    far_fall: float
    sas_fall: float
    clear_above: float
    edge_above: float
    edge_below: float
    informative_below: float
    alpha: float


class Correlation(msgspec.Struct):
    """A column's correlation with raw CI.

    holm: the p corrected within the family; holm_of says which p, "exact" or "t".
    detectable: the smallest |coefficient| that n shows at alpha 0.05 with power 0.8.
    """

    name: str
    method: str
    family: str
    coefficient: Value
    p: Value
    exact: Exact
    bootstrap: Bootstrap
    holm: Value
    holm_of: str | None
    detectable: Value
    direction: str | None


class Correlations(msgspec.Struct):
    """Everything that is correlated with CI; turn 4 also with CI recomputed without turn 4."""

    n: int
    design: list[Correlation]
    turns: list[Correlation]
    outside: list[Correlation]
    turn_4_partial: Partial
    turn_4_apart: Correlation


class DomainMean(msgspec.Struct):
    """Mean FAR of one domain over its turn evaluations, with an interval over whole subjects."""

    domain: str
    far: Value
    over_subjects: Bootstrap


class Domains(msgspec.Struct):
    """FAR by domain: pooled turns as the paper has it, and repeated measures on subjects."""

    means: list[DomainMean]
    pooled_turns: Anova
    repeated_measures: RepeatedAnova
    why_they_differ: str


class GrandMean(msgspec.Struct):
    """The mean of subject x concept means on one scale, over whole subjects and whole concepts."""

    scale: str
    mean: Value
    over_subjects: Bootstrap
    over_concepts: Bootstrap


class Stability(msgspec.Struct):
    """Kendall's tau between the study's raw CI and CI under another rule."""

    alternative: str
    tau: Kendall


class TurnSummary(msgspec.Struct):
    """One turn over all evaluations: means, variance of FAR (ddof 1), its ratio to turn 1's."""

    turn: int
    far: Value
    sas: Value
    far_variance: Value
    ratio_to_turn_1: Value


class FollowUp(msgspec.Struct):
    """Turn 5: the share of sessions where turn 4 was believed, and mean turn-5 FAR over them."""

    informative: Value
    interval: Interval
    far: Value


class ConceptPower(msgspec.Struct):
    """A concept's mean FAR, and the variance of FAR (ddof 1) over subjects x levels."""

    concept: str
    domain: str
    far: Value
    far_variance: Value


class Retest(msgspec.Struct):
    """Reliability of one scale over repeats of the same turn of the same place in the grid."""

    scale: str
    icc: Value
    mean_difference: Value


class SubjectProfile(msgspec.Struct):
    """A subject's turns, its fall from the lowest to the highest level, and its class.

    probabilities: of each phenotype, and of none ("undefined"), over bootstrap resamples.
    """

    subject: str
    turns: list[Value]
    far_fall: Value
    sas_fall: Value
    degradation: str | None
    failure_mode: str | None
    ci_raw: Bootstrap
    probabilities: dict[str, Value]


class PhenotypeDanger(msgspec.Struct):
    """The mean danger zone of the subjects with one phenotype; n counts subjects."""

    phenotype: str
    danger_zone: Value


class Prediction(msgspec.Struct):
    """One of the paper's predictions: a verdict by our rule, and by the rule the paper used.

    A verdict is "supported", "not supported", or "undefined: " with the reason.
    """

    name: str
    claim: str
    estimate: Value
    interval: Interval
    parts: dict[str, Value]
    rule: str
    verdict: str
    paper_rule: str
    paper_verdict: str


class ArmSubject(msgspec.Struct):
    """A subject's mean turn-4 FAR in the paper's arm and in another, over cells held in both."""

    subject: str
    paper: Value
    arm: Value
    difference: Value


class ArmComparison(msgspec.Struct):
    """An arm against the paper's: turn-4 FAR by subject; the mean difference is over subjects."""

    arm: str
    subjects: list[ArmSubject]
    difference: Value


class RankedSubject(msgspec.Struct):
    """A subject's normalized CI and its rank from 1; subjects with equal CI share the better."""

    subject: str
    ci: Value
    rank: int | None


class Universe(msgspec.Struct):
    """The ranking under one combination of the rules that the paper leaves open."""

    normalization: str
    empty_far_prime: str
    hoc_rule: str
    theta: float
    ranking: list[RankedSubject]


class Multiverse(msgspec.Struct):
    """All combinations; first: the share in which a subject is first, alone or with others.

    same_ranking: the share whose ranks are those of the study's own rules, these included.
    """

    rows: list[Universe]
    first: dict[str, Value]
    same_ranking: Value


class Analysis(msgspec.Struct):
    """What a study says beyond its subjects' metrics; only the arm `arm` enters but in `arms`.

    complete_subjects: how many of n subjects have a complete grid.
    """

    arm: str
    complete_subjects: Value
    thresholds: Thresholds
    correlations: Correlations
    jury: Jury
    domains: Domains
    grand_means: list[GrandMean]
    stability: list[Stability]
    turns: list[TurnSummary]
    follow_up: FollowUp
    concepts: list[ConceptPower]
    retest: list[Retest]
    profiles: list[SubjectProfile]
    danger_by_phenotype: list[PhenotypeDanger]
    predictions: list[Prediction]
    arms: list[ArmComparison]
    multiverse: Multiverse
    usage: dict[str, Usage]
    inference: Inference
