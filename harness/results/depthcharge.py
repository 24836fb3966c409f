"""What a finished DepthCharge run holds, what was said in it, and what the study's results hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from harness.results.cell_names import name_part, slug
from harness.results.fallbacks import Replies
from harness.results.passage import Passage
from harness.results.shared import Interval, Share, Usage, Value
from harness.results.study_results import StudyResults

TIERS = ("COMMON", "TEXTBOOK", "PROFESSIONAL", "SPECIALIST", "CUTTING_EDGE")
OF_TARGET = "target "  # begins a verdict that is missing because there was no answer to judge
DEFAULT_PASSES = 3
ASKED, UNVERIFIABLE, MISSING = "asked", "unverifiable", "missing"
SOURCES, VERDICTS = "sources", "verdicts"  # of which a run ran out


Passes = int | Mapping[Any, int]  # Q depths a tier, of all tiers or by name


class TierPass(NamedTuple):
    """The tier of a depth, and the how-manieth depth of that tier it is, from 1."""

    tier: str
    number: int


def tier_pass(depth: int, passes: Passes) -> TierPass:
    """Return tier and pass of a depth, from 1; what lies beyond the last tier begins it anew.

    passes: the depths of a tier, of all or by its name; DEFAULT_PASSES where it is not named.
    """
    sizes = passes if isinstance(passes, Mapping) else dict.fromkeys(TIERS, passes)
    place = depth - 1
    for tier in TIERS[:-1]:
        size = sizes.get(tier, DEFAULT_PASSES)
        if place < size:
            return TierPass(tier, place + 1)
        place -= size
    return TierPass(TIERS[-1], place % sizes.get(TIERS[-1], DEFAULT_PASSES) + 1)


def tier_of(depth: int, passes: Passes) -> str:
    """Return the tier of a depth, from 1; what lies beyond the last stays in it."""
    return tier_pass(depth, passes).tier


class RunKey(msgspec.Struct, frozen=True, order=True):
    """The place of one run in the study's grid."""

    target: str
    domain: str
    repeat: int = 1

    @property
    def name(self) -> str:
        """Return the run's name, from which its file name is made."""
        return f"{name_part(self.target)}--{slug(self.domain)}--r{self.repeat}"

    @property
    def examined(self) -> str:
        """Return the model under test."""
        return self.target


class Probe(msgspec.Struct):
    """What became of one slot at one depth, in one deal.

    question: the slot, from 1. deal: 1, and one more for each time the slot was dealt anew. path:
    the path's place at this depth, from 1; branch: the place of the path it began as. walked: how
    many directions were looked up. state: "asked" (a verdict is there), "unverifiable" (no
    direction of the list led to a question, for the last of them because of `reason`) or "missing"
    (no usable verdict: `verdict` has the evaluator's state in the words of a judge's, or OF_TARGET
    and the kind of answer, as in "target filtered", where there was none to judge). origin:
    where the direction came from, "branch", "answer" or "subtopic". source: who found the fact;
    form: of its passage; fact: its mark, the same for the same quote of the same passage. correct
    and what follows are null unless asked; error_type is null of a right answer.
    """

    depth: int
    question: int
    deal: int
    path: int
    branch: int
    walked: int
    state: str
    source: str | None = None
    answer_state: str | None = None
    verdict: str | None = None
    correct: bool | None = None
    confidence: float | None = None
    error_type: str | None = None
    reason: str | None = None
    origin: str | None = None
    fact: str | None = None
    form: str | None = None


class Lookups(msgspec.Struct):
    """What a source was asked: look-ups, those that found a passage, those without an answer."""

    lookups: int = 0
    found: int = 0
    failed: int = 0


class RunResult(msgspec.Struct):
    """What a finished run gives: numbers and states, no model's words.

    branches: how many paths it began with. depths: how many were administered. stop: why it ended,
    the first that held of "theta", "verdicts" (no path left, as questions were put and none
    has a verdict), "sources" (no path left, as no question had a fact), "no path left" and "max
    depth". lookups: by source. replies: of extractor and evaluator.
    """

    cell: RunKey
    branches: int
    depths: int
    stop: str
    probes: list[Probe]
    served: dict[str, list[str]]
    usage: dict[str, Usage]
    lookups: dict[str, Lookups]
    replies: list[Replies] = []


class ProbeWords(msgspec.Struct):
    """One question's words: the fact it rests on, what was asked and answered, the verdict.

    parent: the call whose answer the path hangs on, "" at depth 1.
    """

    depth: int
    question: int
    deal: int
    parent: str
    direction: str
    passage: Passage
    asked: str
    expected: str
    quote: str
    claim: str
    answer: str
    verdict: str


class DrillTranscript(msgspec.Struct):
    """A run as it was held, handed over by a replay to those who show it."""

    cell: RunKey
    branches: list[str]
    probes: list[ProbeWords]


class Depth(msgspec.Struct):
    """One depth of a run: A(d) with Wilson's interval, and S(d), over `asked` questions.

    planned: how many questions were to be asked; asked, missing (no usable verdict) and
    unverifiable (no fact) count slots by what their last deal came to.
    """

    depth: int
    tier: str
    tier_pass: int
    planned: int
    asked: int
    distinct: int
    correct: int
    missing: int
    unverifiable: int
    accuracy: Value
    wilson: Interval
    survival: Value


class Rise(msgspec.Struct):
    """Two tiers that follow each other, of which the harder one was answered better, by `by`."""

    easier: str
    harder: str
    by: float


class IfIndependent(msgspec.Struct):
    """What the errors of an EVD were if no question hung on another: too small, to compare with.

    binomial: questions resampled within each depth, at the depths that were administered;
    restopped: the same, but each resample stops by the rule. jeffreys: drawn from the Jeffreys
    posterior of each depth. n of an error counts answers.
    """

    binomial_se: Value
    binomial: Interval
    restopped_se: Value
    restopped: Interval
    jeffreys_se: Value
    jeffreys: Interval


class EVD(msgspec.Struct, kw_only=True):
    """Expected Valid Depth of one run, and how sure it is; depthcharge/uncertainty.py has the how.

    value: the sum of S(d) to the stopping depth; exclusive leaves out the S below theta. two_way:
    by branch and by fact, the interval to show; seed_spread: how far another seed would move one of
    its bounds (one SD; n counts resamples). n of its error counts branches. censored: whether more
    may follow; left: at most how much; at_most: EVD with that. The last eight stand in results of
    protocol version 1 only, as they were recorded: by branch alone, and if questions were
    independent.
    """

    value: Value
    exclusive: Value
    two_way_se: Value
    two_way: Interval
    seed_spread: Value
    if_questions_were_independent: IfIndependent
    censored: bool
    left: Value
    at_most: Value
    clustered_se: Value | UnsetType = UNSET
    clustered: Interval | UnsetType = UNSET
    binomial_se: Value | UnsetType = UNSET
    binomial: Interval | UnsetType = UNSET
    restopped_se: Value | UnsetType = UNSET
    restopped: Interval | UnsetType = UNSET
    jeffreys_se: Value | UnsetType = UNSET
    jeffreys: Interval | UnsetType = UNSET


class RunMetrics(msgspec.Struct):
    """A run's metrics; how each is defined stands in depthcharge/metrics.py.

    tiers: correct answers of those asked. errors_by_tier, errors_by_type: of all wrong answers.
    shortfall: how many questions fewer than planned have a verdict. short: the depths at which
    too many slots had no fact; a run with any gets no rank.
    """

    cell: RunKey
    stop: str
    depths: list[Depth]
    evd: EVD
    median_survival_depth: Value
    deepest_correct: Value
    final_survival: Value
    accuracy: Value
    tiers: list[Share]
    rises: list[Rise]
    errors_by_tier: list[Share]
    errors_by_type: list[Share]
    shortfall: int
    short: list[int] = []


class DrillResults(StudyResults, kw_only=True):
    """results.json of a DepthCharge study: what it found, and by which rules."""

    metrics_version: int = 2
    runs: list[RunMetrics]
    analysis: Any
    cells: list[RunResult]
