"""From a slot's directions to facts: each is looked up, and a question is made of what is found.

Version 2 of the protocol goes through all results of a look-up, best first, and asks for no fact
and no question twice at a depth; version 1 takes a source's first result and may ask twice.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from harness.asking.models.prompts import Prompts
from harness.asking.replies.reply_count import ReplyOutcome
from harness.asking.sources.fact_source import FAILED
from harness.protocols.depthcharge.drill.outcome import Fact, Walk
from harness.protocols.depthcharge.drill.paths import Direction, Slot
from harness.protocols.depthcharge.drill.questions import Maker
from harness.protocols.depthcharge.drill.rules import ALL_RESULTS, DrillRules, People
from harness.results import Lookups, Passage

NEWEST = "CUTTING_EDGE"
REPEATED = "asked at this depth"


class FoundPassage(NamedTuple):
    """A passage that a source gave; call: how the calls about it are named."""

    source: str
    call: str
    passage: Passage


class Tried(NamedTuple):
    """A fact that a result holds, or why it holds none."""

    fact: Fact | None
    reason: str


class Walker:
    """Walks the directions of a run's slots, and counts what its sources were asked."""

    def __init__(self, rules: DrillRules, people: People, maker: Maker, prompts: Prompts) -> None:
        self._rules, self._people = rules, people
        self._maker, self._prompts = maker, prompts
        self._counts: Counter[tuple[str, str]] = Counter()
        self._counting = threading.Lock()

    def walks(
        self, depth: int, slots: Sequence[Slot], calls: Sequence[str], taken: set[str]
    ) -> list[Walk]:
        """Return the walk of each slot, in order.

        calls: how the names of each slot's calls begin. taken: the facts and questions of this
        depth so far; those of the walks are added. Of slots that come to the same one the first in
        order keeps it, and the others walk on.
        """
        walking = [self.walk(depth, *pair) for pair in zip(slots, calls, strict=True)]
        ended, open_places = dict[int, Walk](), list(range(len(slots)))
        while open_places:
            walks = self._people.each(lambda place: next(walking[place]), open_places)
            for place, walk in zip(open_places, walks, strict=True):
                if not self._is_taken(walk, taken):
                    ended[place] = walk
            open_places = [place for place in open_places if place not in ended]
        return [ended[place] for place in range(len(slots))]

    def _is_taken(self, walk: Walk, taken: set[str]) -> bool:
        """Tell whether a walk's fact or question is taken; else it is from now on."""
        if walk.fact is None or self._rules.version < ALL_RESULTS:
            return False
        marks = walk.fact.marks
        if marks & taken:
            return True
        taken |= marks
        return False

    def walk(self, depth: int, slot: Slot, call: str) -> Iterator[Walk]:
        """Return the walks up to each of a slot's facts, and at last the one that has none."""
        tier, reason = self._rules.tiers[depth - 1], "no direction"
        for number, direction in enumerate(slot.directions, 1):
            walked, reason = slot.directions[:number], "no passage"
            for tried in self._tried(f"{call}/direction-{number}", tier, direction):
                if tried.fact is None:
                    reason = tried.reason
                elif tried.fact.mark in slot.path.facts:
                    reason = "asked before"
                else:
                    yield Walk(walked, tried.fact, "")
                    reason = REPEATED
        yield Walk(slot.directions, None, reason)

    def _tried(self, call: str, tier: str, direction: Direction) -> Iterator[Tried]:
        """Return the facts of a direction, and in the place of each result without one why."""
        level = self._prompts.filled(f"level_{tier}", **self._rules.recent._asdict())
        for source, at, passage in self._results(call, tier, direction.text):
            for question, reason in self._maker.questions(at, direction.text, level, passage):
                fact = Fact(direction, source, passage, question) if question else None
                yield Tried(fact, reason)

    def _results(self, call: str, tier: str, direction: str) -> Iterator[FoundPassage]:
        """Return what the tier's sources have; all but the last may fail and leave it to the next.

        A result is got when it is come to, so that a source is asked no more than is needed.
        """
        names = self._rules.sources[tier]
        window = self._rules.recent if tier == NEWEST else None
        for name in names:
            at, last = f"{call}/{name}", name == names[-1]
            look_up = self._people.sources[name].look_up(at, direction, window, optional=not last)
            passages = iter(look_up)
            best = list(islice(passages, 1))
            self._count(name, look_up.state, last)
            if self._rules.version < ALL_RESULTS:
                yield from (FoundPassage(name, at, passage) for passage in best)
                continue
            for place, passage in enumerate(chain(best, passages), 1):
                yield FoundPassage(name, f"{at}/result-{place}", passage)

    def _count(self, name: str, state: str, last: bool) -> None:
        with self._counting:
            self._counts[name, state] += 1
        if last:
            self._people.heard(ReplyOutcome("source", name, "failed" if state == FAILED else "ok"))

    def look_ups(self) -> dict[str, Lookups]:
        """Return what each source was asked, by its name."""
        counted: dict[str, Lookups] = {}
        for (name, state), count in sorted(self._counts.items()):
            of_source = counted.setdefault(name, Lookups())
            of_source.lookups += count
            of_source.found += count if state == "found" else 0
            of_source.failed += count if state == "failed" else 0
        return counted
