"""What became of one slot: its numbers, its words, and the path that goes on from it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from harness.asking.replies.structured_output import Filled
from harness.protocols.depthcharge.drill.evaluator import error_type
from harness.protocols.depthcharge.drill.paths import Direction, Path, Slot, folded
from harness.protocols.depthcharge.drill.questions import Question
from harness.results import Passage, Probe, ProbeWords
from harness.results.depthcharge import ASKED, MISSING, SOURCES, UNVERIFIABLE, VERDICTS


class Fact(NamedTuple):
    """A fact that a direction led to, and the question made of it."""

    direction: Direction
    source: str
    passage: Passage
    question: Question

    @property
    def mark(self) -> str:
        """Return what tells this fact from others: the passage's place and the quote."""
        place = f"{self.passage.url or self.passage.title}|{folded(self.question.quote)}"
        return hashlib.md5(place.encode(), usedforsecurity=False).hexdigest()[:12]

    @property
    def marks(self) -> frozenset[str]:
        """Return what no other question of its depth may share: the fact, and the question."""
        return frozenset({self.mark, folded(self.question.text)})


class Walk(NamedTuple):
    """The directions that were walked, the fact at their end, or why the last one had none."""

    walked: Sequence[Direction]
    fact: Fact | None
    reason: str


class Outcome(NamedTuple):
    """What became of a slot: numbers, words, and its child, if any."""

    slot: Slot
    probe: Probe
    words: ProbeWords | None = None
    child: Path | None = None


def ran_out_of(outcomes: Sequence[Outcome]) -> str:
    """Return what a depth without a verdict ends by: VERDICTS, where a question was put.

    outcomes: in order; a slot counts by its last deal.
    """
    states = {outcome.slot.number: outcome.probe.state for outcome in outcomes}.values()
    return VERDICTS if MISSING in states else SOURCES


def unverifiable(depth: int, slot: Slot, walk: Walk) -> Outcome:
    """Return the outcome of a slot whose directions led to no question."""
    probe = probe_of(depth, slot, walk)
    probe.reason = walk.reason
    return Outcome(slot, probe)


def probe_of(depth: int, slot: Slot, walk: Walk) -> Probe:
    """Begin a slot's probe, as one that is unverifiable."""
    probe = Probe(
        depth=depth,
        question=slot.number,
        deal=slot.deal,
        path=slot.path.place,
        branch=slot.path.branch,
        walked=len(walk.walked),
        state=UNVERIFIABLE,
    )
    if walk.fact is not None:
        probe.source, probe.fact = walk.fact.source, walk.fact.mark
        probe.origin = walk.fact.direction.origin
        probe.form = walk.fact.passage.form or None
    return probe


def judge(probe: Probe, filled: Filled) -> None:
    """Enter a verdict; one that is not usable is missing, never a wrong answer."""
    probe.verdict, values = filled.verdict.state, filled.verdict.values
    if probe.verdict != "ok":
        probe.state = MISSING
        return
    probe.state, probe.correct = ASKED, values["correct"] is True
    confidence = values["confidence"]
    probe.confidence = confidence if isinstance(confidence, float) else None
    if not probe.correct:
        probe.error_type = error_type(values["error_type"])


def words_of(probe: Probe, slot: Slot, fact: Fact, answer: str, verdict: str) -> ProbeWords:
    """Return a question's words."""
    return ProbeWords(
        depth=probe.depth,
        question=probe.question,
        deal=probe.deal,
        parent=slot.path.parent,
        direction=fact.direction.text,
        passage=fact.passage,
        asked=fact.question.text,
        expected=fact.question.expected,
        quote=fact.question.quote,
        claim=fact.question.claim,
        answer=answer,
        verdict=verdict,
    )


def child_of(slot: Slot, walk: Walk, fact: Fact, answer: str, call: str) -> Path:
    """Return the path that goes on from a right answer; its place is not known yet."""
    path = slot.path
    return Path(
        branch=path.branch,
        place=0,
        topic=fact.direction.text,
        parent=call,
        had=path.had | {folded(direction.text) for direction in walk.walked},
        facts=path.facts | {fact.mark},
        history=(*path.history, (fact.question.text, answer)),
    )
