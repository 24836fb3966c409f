"""One drill: exactly N questions at every depth, into what the target itself mentions.

Each depth has two phases, so that arrival decides nothing. First every path that is asked gets its
directions, then every question walks its own list: fact, question, answer, verdict. Slots whose
list held no fact are dealt anew afterwards, in the order of their numbers. A call is named by its
place: depth, path or question, deal, direction.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from harness.asking.forms import Filled, Heard, ignored
from harness.asking.inquiry import Window
from harness.asking.prompts import Prompts
from harness.asking.sources import Source
from harness.asking.turns import Each
from harness.asking.usage import UsageCount
from harness.asking.wire import Message, Model
from harness.depthcharge.evaluator import evaluate
from harness.depthcharge.extractor import Extractor, Question
from harness.depthcharge.paths import (
    DIRECTIONS,
    Path,
    Slot,
    dealt,
    dealt_anew,
    folded,
    fresh,
    shares,
)
from harness.errors import Miss
from harness.results import (
    DrillTranscript,
    Lookups,
    Materials,
    Passage,
    Probe,
    ProbeWords,
    RunKey,
    RunResult,
)
from harness.results.depthcharge import ASKED, MISSING, UNVERIFIABLE

PLACES = 9
NEWEST = "CUTTING_EDGE"


class Rules(NamedTuple):
    """What the study file says of a drill.

    tiers: the tier of each depth, from depth 1 on. sources: by tier, in the order they are tried.
    recent: the dates between which the newest tier searches.
    """

    seed: int
    extractor: str
    evaluator: str
    questions: int
    theta: float
    tiers: Sequence[str]
    sources: Mapping[str, Sequence[str]]
    recent: Window
    redeals: int
    history: str
    params: Mapping[str, Mapping[str, Any]]


class People(NamedTuple):
    """Whom a drill asks, who hears of each reply in a form, and how questions run at once."""

    models: Mapping[str, Model]
    sources: Mapping[str, Source]
    each: Each
    heard: Heard = ignored


class Fact(NamedTuple):
    """A fact that a direction led to, and the question made of it."""

    direction: str
    source: str
    passage: Passage
    question: Question


class Outcome(NamedTuple):
    """What became of a slot: numbers, words, the directions it walked, and its child, if any."""

    slot: Slot
    probe: Probe
    words: ProbeWords | None
    walked: Sequence[str]
    child: Path | None


class Drill:
    """One run on its way; `run` gives its numbers, `transcript` its words."""

    def __init__(self, cell: RunKey, rules: Rules, materials: Materials, people: People) -> None:
        self._cell, self._rules, self._people = cell, rules, people
        self._prompts = Prompts(materials.prompts)
        self._asked = UsageCount()
        self._lookups: Counter[tuple[str, str]] = Counter()
        self._counting = threading.Lock()
        self._outcomes: list[Outcome] = []
        self._branches: list[str] = []
        self._extractor = Extractor(
            people.models[rules.extractor],
            self._prompts,
            cell.domain,
            rules.params.get("extractor", {}),
            self._heard_extractor,
        )

    def run(self) -> RunResult:
        """Drill until it stops; raises what models and sources raise."""
        self._branches = self._extractor.aspects(self._rules.questions)
        paths = [Path(place, place, name) for place, name in enumerate(self._branches, 1)]
        depth, survival, stop = 0, 1.0, ""
        while not stop:
            depth += 1
            outcomes = self._depth(depth, paths)
            self._outcomes += outcomes
            verdicts = [one.probe.correct for one in outcomes if one.probe.state == ASKED]
            survival *= sum(map(bool, verdicts)) / len(verdicts) if verdicts else 0.0
            children = [one.child for one in outcomes if one.child]
            paths = [child._replace(place=place) for place, child in enumerate(children, 1)]
            stop = self._stop(depth, survival if verdicts else None, paths)
        return self._result(depth, stop)

    def _stop(self, depth: int, survival: float | None, paths: Sequence[Path]) -> str:
        if survival is not None and round(survival, PLACES) < round(self._rules.theta, PLACES):
            return "theta"
        if not paths:
            return "no path left"
        return "max depth" if depth == len(self._rules.tiers) else ""

    def _result(self, depth: int, stop: str) -> RunResult:
        lookups: dict[str, Lookups] = {}
        for (name, state), count in sorted(self._lookups.items()):
            kept = lookups.setdefault(name, Lookups())
            kept.lookups += count
            kept.found += count if state == "found" else 0
            kept.failed += count if state == "failed" else 0
        return RunResult(
            self._cell,
            len(self._branches),
            depth,
            stop,
            [outcome.probe for outcome in self._outcomes],
            self._asked.served,
            self._asked.usage,
            lookups,
        )

    def transcript(self) -> DrillTranscript:
        """Give what was asked and said so far."""
        words = [outcome.words for outcome in self._outcomes if outcome.words]
        return DrillTranscript(self._cell, self._branches, words)

    # --- one depth ---

    def _depth(self, depth: int, paths: Sequence[Path]) -> list[Outcome]:
        """Ask N questions, deal those without a fact anew, and give the outcomes in order."""
        label = f"depth-{depth}|{self._cell.name}"
        chosen = dealt(paths, self._rules.questions, self._rules.seed, label)
        slots = [Slot(number, 1, path) for number, path in enumerate(chosen, 1)]
        had = {path.place: set(path.had) for path in paths}
        outcomes: list[Outcome] = []
        for deal in range(1, self._rules.redeals + 2):
            slots = self._with_directions(depth, slots, had)
            now = self._people.each(lambda slot: self._slot(depth, slot), slots)
            outcomes += now
            failed = [one.slot for one in now if one.probe.state != ASKED]
            if not failed:
                break
            times = Counter(one.slot.path.place for one in outcomes if one.probe.state != ASKED)
            anew = dealt_anew(paths, len(failed), times)
            slots = [
                Slot(slot.number, deal + 1, path) for slot, path in zip(failed, anew, strict=True)
            ]
        return sorted(outcomes, key=lambda one: (one.slot.number, one.slot.deal))

    def _with_directions(
        self, depth: int, slots: Sequence[Slot], had: Mapping[int, set[str]]
    ) -> list[Slot]:
        """Give each slot its list, path by path; `had` takes what is dealt."""
        of_path: dict[int, list[Slot]] = {}
        for slot in slots:
            of_path.setdefault(slot.path.place, []).append(slot)
        groups = list(of_path.values())
        found = self._people.each(
            lambda group: self._directions(depth, group, sorted(had[group[0].path.place])), groups
        )
        dealt_out: dict[int, Slot] = {}
        for group, directions in zip(groups, found, strict=True):
            had[group[0].path.place].update(map(folded, directions))
            for slot, share in zip(group, shares(directions, len(group)), strict=True):
                dealt_out[slot.number] = slot._replace(directions=share)
        return [dealt_out[slot.number] for slot in slots]

    def _directions(self, depth: int, group: Sequence[Slot], had: Sequence[str]) -> list[str]:
        path, deal, wanted = group[0].path, group[0].deal, DIRECTIONS * len(group)
        call = f"depth-{depth:02d}/path-{path.place:02d}" + _deal(deal)
        with self._following(path):
            found: list[str] = []
            if deal == 1 and path.answer:
                found = self._extractor.concepts(f"{call}/concepts", path, wanted, had)
            elif deal == 1:
                found = fresh([path.topic], had)
            self._extractor.subtopics(f"{call}/subtopics", path.topic, found, wanted, had)
        return found

    # --- one question ---

    def _slot(self, depth: int, slot: Slot) -> Outcome:
        call = f"depth-{depth:02d}/question-{slot.number:02d}" + _deal(slot.deal)
        with self._following(slot.path):
            walked, fact = self._fact(call, depth, slot)
            probe = Probe(
                depth,
                slot.number,
                slot.deal,
                slot.path.place,
                slot.path.branch,
                len(walked),
                UNVERIFIABLE,
            )
            if fact is None:
                return Outcome(slot, probe, None, walked, None)
            return self._asked_of_target(call, slot, probe, fact, walked)

    def _fact(self, call: str, depth: int, slot: Slot) -> tuple[list[str], Fact | None]:
        """Walk the slot's directions up to the first one with a fact."""
        tier, walked = self._rules.tiers[depth - 1], []
        for number, direction in enumerate(slot.directions, 1):
            walked.append(direction)
            at = f"{call}/direction-{number}"
            for source, passage in self._passages(at, tier, direction):
                question = self._extractor.question(
                    f"{at}/{source}/question", direction, tier, passage
                )
                if question is not None:
                    return walked, Fact(direction, source, passage, question)
        return walked, None

    def _passages(self, call: str, tier: str, direction: str) -> Iterator[tuple[str, Passage]]:
        """Give what the tier's sources have; all but the last may fail and leave it to the next."""
        names = self._rules.sources[tier]
        window = self._rules.recent if tier == NEWEST else None
        for name in names:
            found = self._people.sources[name].look_up(
                f"{call}/{name}", direction, window, optional=name != names[-1]
            )
            with self._counting:
                self._lookups[name, found.state] += 1
            if found.passage is not None:
                yield name, found.passage

    def _asked_of_target(
        self, call: str, slot: Slot, probe: Probe, fact: Fact, walked: Sequence[str]
    ) -> Outcome:
        target, rules, question = self._cell.target, self._rules, fact.question
        answer = self._people.models[target].ask(
            f"{call}/target", self._to_target(slot.path, question), params=self._params("target")
        )
        self._asked.add(target, answer)
        filled = evaluate(
            self._people.models[rules.evaluator],
            f"{call}/evaluator",
            question,
            answer.text,
            self._prompts,
            self._params("evaluator"),
        )
        self._hear(rules.evaluator, filled)
        _enter(probe, fact, answer.state, filled)
        words = ProbeWords(
            probe.depth,
            probe.question,
            probe.deal,
            slot.path.parent,
            fact.direction,
            fact.passage,
            question.text,
            question.expected,
            question.quote,
            answer.text,
            filled.words,
        )
        child = _child(slot.path, fact, answer.text, f"{call}/target", walked)
        return Outcome(slot, probe, words, walked, child if probe.correct else None)

    def _to_target(self, path: Path, question: Question) -> list[Message]:
        system = self._prompts.filled("target_system", domain=self._cell.domain)
        messages = [{"role": "system", "content": system}]
        for asked, answered in path.history if self._rules.history == "path" else ():
            messages += [
                {"role": "user", "content": asked},
                {"role": "assistant", "content": answered},
            ]
        return [*messages, {"role": "user", "content": question.text}]

    def _params(self, role: str) -> Mapping[str, Any]:
        return self._rules.params.get(role, {})

    def _heard_extractor(self, filled: Filled) -> None:
        self._hear(self._rules.extractor, filled)

    def _hear(self, name: str, filled: Filled) -> None:
        for answer in filled.answers:
            self._asked.add(name, answer)
        self._people.heard(name, filled.verdict.state)

    @contextmanager
    def _following(self, path: Path) -> Iterator[None]:
        """Name the answer that a path hangs on where a call of it is not what was recorded."""
        try:
            yield
        except Miss as miss:
            if not path.parent:
                raise
            raise Miss(
                f"{miss}\nThis call follows from the answer to {path.parent}, which in this run "
                f"is: {path.answer[:300]!r}. Calls after it are not compared."
            ) from miss


def _deal(deal: int) -> str:
    return "" if deal == 1 else f"/deal-{deal}"


def _enter(probe: Probe, fact: Fact, answer_state: str, filled: Filled) -> None:
    """Write a verdict into a probe; one that is not usable is missing, never a wrong answer."""
    probe.source, probe.answer_state = fact.source, answer_state
    probe.verdict = filled.verdict.state
    values = filled.verdict.values
    if probe.verdict != "ok":
        probe.state = MISSING
        return
    probe.state, probe.correct = ASKED, values["correct"] is True
    confidence, error = values["confidence"], values["error_type"]
    probe.confidence = confidence if isinstance(confidence, float) else None
    if not probe.correct:
        probe.error_type = error if isinstance(error, str) else "other"


def _child(path: Path, fact: Fact, answer: str, call: str, walked: Sequence[str]) -> Path:
    return Path(
        path.branch,
        0,
        fact.direction,
        fact.question.text,
        answer,
        call,
        path.had | {folded(direction) for direction in walked},
        (*path.history, (fact.question.text, answer)),
    )
