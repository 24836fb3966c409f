"""The form of a study-level analysis, as it stands in results.json.

Every number is a Value with its n, or belongs to a form of harness.stats that names it; what is
undefined is null with its reason. How each is defined stands where it is computed.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from harness.results import Interval, Share, Value
from harness.stats.kendall import Kendall


class RoleCost(msgspec.Struct):
    """What a role other than the target's cost in a run, a mean over n runs."""

    role: str
    model: str
    cost: Value


class GridCell(msgspec.Struct, kw_only=True):
    """One target in one domain, over its runs.

    evd: the mean over n runs, with its standard error and interval by branch and fact (se and
    interval, by branch alone, stand in results of protocol version 1 only). rank: among the targets
    of the domain, from 1; equal ones share the better. censored: how many runs ended before
    knowledge did. short: how many lacked facts; a cell with any has no rank. accuracy: of all
    answers. cost: what asking the target cost in a run, in the currency of the price list;
    evd_per_cost: how much EVD one unit of it bought. role_costs: what each other role cost in a
    run, by role and model (a model with several roles counts whole in each); lookups: how many
    searches a run took, by source.
    """

    target: str
    domain: str
    evd: Value
    two_way_se: Value
    two_way: Interval
    rank: int | None
    censored: int
    accuracy: Value
    cost: Value
    evd_per_cost: Value
    role_costs: list[RoleCost]
    lookups: dict[str, Value]
    short: int = 0
    se: Value | UnsetType = UNSET
    interval: Interval | UnsetType = UNSET


class Target(msgspec.Struct):
    """One target over all domains: evd and cost are means over n domains, accuracy is pooled."""

    target: str
    evd: Value
    rank: int | None
    accuracy: Value
    tiers: list[Share]
    cost: Value
    evd_per_cost: Value
    short: int = 0


class AccuracyRanking(msgspec.Struct):
    """Kendall's tau-b between the rankings of one domain's targets by EVD and by accuracy.

    Both are made of the same answers, so a p of their independence says nothing; the one that was
    recorded stands in `tau`, in results of protocol version 1 only.
    """

    domain: str
    coefficient: Value
    tau: Kendall | UnsetType = UNSET


class DomainPair(msgspec.Struct):
    """Kendall's tau-b between two domains' rankings by EVD, over the targets that both have.

    tau, with a p, stands in results of protocol version 1 only.
    """

    first: str
    second: str
    coefficient: Value
    tau: Kendall | UnsetType = UNSET


class Difference(msgspec.Struct):
    """The EVD of one target less that of another in one domain; n counts the runs of both.

    Errors as a cell's.
    """

    domain: str
    first: str
    second: str
    difference: Value
    two_way_se: Value
    two_way: Interval
    se: Value | UnsetType = UNSET
    interval: Interval | UnsetType = UNSET


class Subsampled(msgspec.Struct):
    """A cell's EVD over subsamples of its questions: mean, standard deviation within a run.

    unfinished: the share of subsamples that the run's end cuts off, as their S is not below theta.
    """

    target: str
    domain: str
    evd: Value
    sd: Value
    unfinished: Value


class SmallerN(msgspec.Struct):
    """What fewer questions at each depth would have given, from `draws` subsamples of each run."""

    questions: int
    draws: int
    cells: list[Subsampled]


class RankedTarget(msgspec.Struct):
    """A cell's mean EVD under another rule, and its rank in the domain."""

    target: str
    domain: str
    evd: Value
    rank: int | None
    short: int = 0


class SmallerQ(msgspec.Struct):
    """What fewer depths a tier would have given, from the recorded answers of the first of each."""

    passes: int
    cells: list[RankedTarget]


class OtherTheta(msgspec.Struct):
    """What another theta would have given, where the recording can say."""

    theta: float
    cells: list[RankedTarget]


class DrillAnalysis(msgspec.Struct):
    """What a study says beyond its runs' metrics.

    currency: of all costs; null without a price list. accuracy_rankings: whether accuracy ranks
    targets as EVD does.
    """

    currency: str | None
    cells: list[GridCell]
    targets: list[Target]
    accuracy_rankings: list[AccuracyRanking]
    domain_rankings: list[DomainPair]
    differences: list[Difference]
    errors_by_tier: list[Share]
    errors_by_type: list[Share]
    smaller_n: list[SmallerN]
    other_thetas: list[OtherTheta]
    smaller_q: list[SmallerQ]
