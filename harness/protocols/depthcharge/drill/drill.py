"""One drill: exactly N questions at every depth, into what the target itself mentions.

Each depth has two phases, so that arrival decides nothing. First every path that is asked gets its
directions (its branch at depth 1, then the words of its last answer, and subtopics where those are
too few), then every question walks its own list: fact, question, answer, verdict. Slots whose list
led to no question are dealt anew afterwards, in the order of their numbers; a verdict that is
missing stays missing. A call is named by its
place: depth, path or question, deal, direction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from harness.asking.models.model import CUT_OFF, Answer, Message
from harness.asking.models.prompts import Prompts
from harness.asking.models.thinking import without_thinking
from harness.asking.models.usage import UsageCount
from harness.asking.replies.reply_count import ReplyCount, ReplyOutcome
from harness.asking.replies.structured_output import Filled
from harness.errors import Miss
from harness.protocols.depthcharge.drill.cloze import Cloze
from harness.protocols.depthcharge.drill.evaluator import EvaluationForm, evaluate
from harness.protocols.depthcharge.drill.extractor import Extractor
from harness.protocols.depthcharge.drill.outcome import (
    Fact,
    Outcome,
    Walk,
    child_of,
    judge,
    probe_of,
    ran_out_of,
    unverifiable,
    words_of,
)
from harness.protocols.depthcharge.drill.paths import (
    ANSWER,
    BRANCH,
    DIRECTIONS,
    SUBTOPIC,
    Direction,
    Path,
    Pools,
    Slot,
    dealt,
    dealt_anew,
    folded,
)
from harness.protocols.depthcharge.drill.questions import Question
from harness.protocols.depthcharge.drill.rules import ALL_RESULTS, BY_CODE, DrillRules, People
from harness.protocols.depthcharge.drill.walking import Walker
from harness.results import DrillTranscript, Materials, RunKey, RunResult
from harness.results.answers import REJECTED
from harness.results.answers import words_of as words_of_kind
from harness.results.depthcharge import ASKED, MISSING, OF_TARGET, UNVERIFIABLE


class Drill:
    """One run on its way; `run` gives its numbers, `transcript` its words."""

    def __init__(
        self, cell: RunKey, rules: DrillRules, materials: Materials, people: People
    ) -> None:
        self._cell, self._rules, self._people = cell, rules, people
        self._prompts = Prompts(materials.prompts, materials.protocol_version)
        self._asked = UsageCount()
        self._replies = ReplyCount()
        self._outcomes: list[Outcome] = []
        self._branches: list[str] = []
        self._extractor = Extractor(
            people.models[rules.directions],
            self._prompts,
            cell.domain,
            rules.params.get("extractor", {}),
            self._heard_extractor,
            rules.answerable_check,
        )
        by_code = rules.extractor == BY_CODE
        maker = Cloze(self._prompts, cell.domain) if by_code else self._extractor
        self._walker = Walker(rules, people, maker, self._prompts)

    def run(self) -> RunResult:
        """Drill until it stops; raises what models and sources raise."""
        self._branches = self._extractor.aspects(self._rules.branches)
        paths = [Path(place, place, name) for place, name in enumerate(self._branches, 1)]
        depth, survival, stop = 0, 1.0, ""
        while not stop:
            depth += 1
            outcomes = self._depth(depth, paths)
            self._outcomes += outcomes
            verdicts = [
                outcome.probe.correct for outcome in outcomes if outcome.probe.state == ASKED
            ]
            survival *= sum(map(bool, verdicts)) / len(verdicts) if verdicts else 0.0
            children = [outcome.child for outcome in outcomes if outcome.child]
            paths = [child._replace(place=place) for place, child in enumerate(children, 1)]
            stop = self._stop(depth, survival if verdicts else None, paths, outcomes)
        return self._result(depth, stop)

    def _stop(
        self,
        depth: int,
        survival: float | None,
        paths: Sequence[Path],
        outcomes: Sequence[Outcome],
    ) -> str:
        from harness.stats.survival import is_below  # loads numpy; a study file needs none

        if survival is not None and is_below(survival, self._rules.theta):
            return "theta"
        if not paths:
            of_version_1 = self._rules.version < ALL_RESULTS
            return "no path left" if of_version_1 or survival is not None else ran_out_of(outcomes)
        return "max depth" if depth == len(self._rules.tiers) else ""

    def _result(self, depth: int, stop: str) -> RunResult:
        return RunResult(
            self._cell,
            len(self._branches),
            depth,
            stop,
            [outcome.probe for outcome in self._outcomes],
            self._asked.served,
            self._asked.usage,
            self._walker.look_ups(),
            self._replies.replies,
        )

    def transcript(self) -> DrillTranscript:
        """Return what was asked and said so far."""
        words = [outcome.words for outcome in self._outcomes if outcome.words]
        return DrillTranscript(self._cell, self._branches, words)

    # --- one depth ---

    def _depth(self, depth: int, paths: Sequence[Path]) -> list[Outcome]:
        """Ask N questions, deal those without a fact anew, and give the outcomes in order."""
        label = f"depth-{depth}|{self._cell.name}"
        chosen = dealt(paths, self._rules.questions, self._rules.seed, label)
        slots = [Slot(number, 1, path) for number, path in enumerate(chosen, 1)]
        pools, outcomes, failures = Pools(), list[Outcome](), Counter[int]()
        taken = set[str]()
        for deal in range(1, self._rules.redeals + 2):
            slots = self._with_directions(depth, slots, pools)
            dealt_outcomes = self._ask(depth, slots, taken)
            outcomes += dealt_outcomes
            failed = [
                outcome.slot for outcome in dealt_outcomes if outcome.probe.state == UNVERIFIABLE
            ]
            failures.update(slot.path.place for slot in failed)
            anew = dealt_anew(paths, len(failed), failures)
            slots = [
                Slot(slot.number, deal + 1, path) for slot, path in zip(failed, anew, strict=True)
            ]
            if not slots:
                break
        return sorted(outcomes, key=lambda outcome: (outcome.slot.number, outcome.slot.deal))

    def _with_directions(self, depth: int, slots: Sequence[Slot], pools: Pools) -> list[Slot]:
        """Return the slots with their lists: a path's directions first, then the dealing."""
        of_path: dict[int, list[Slot]] = {}
        for slot in slots:
            of_path.setdefault(slot.path.place, []).append(slot)
        groups = list(of_path.values())
        found_directions = self._people.each(
            lambda group: self._directions(depth, group, pools), groups
        )
        for group, directions in zip(groups, found_directions, strict=True):
            pools.put(group[0].path, directions)
        return pools.deal(slots)

    def _directions(self, depth: int, group: Sequence[Slot], pools: Pools) -> list[Direction]:
        """Find new directions for a path: its answer's words, then subtopics where too few."""
        path, deal = group[0].path, group[0].deal
        needed = DIRECTIONS * len(group) - len(pools.left(path))
        excluded, directions = pools.known(path), list[Direction]()
        call = f"depth-{depth:02d}/path-{path.place:02d}" + _deal(deal)
        with _following({call: path}):
            if deal == 1 and path.history:
                listed = self._extractor.concepts(f"{call}/concepts", path, needed, excluded)
                directions = [Direction(text, ANSWER) for text in listed]
            elif deal == 1:
                directions = [Direction(path.topic, BRANCH)]
            excluded += [folded(direction.text) for direction in directions]
            listed = self._extractor.subtopics(
                f"{call}/subtopics", path.topic, needed - len(directions), excluded
            )
        return [*directions, *(Direction(text, SUBTOPIC) for text in listed)]

    # --- one question ---

    def _ask(self, depth: int, slots: Sequence[Slot], taken: set[str]) -> list[Outcome]:
        """Find a fact for each slot, then ask for it."""
        calls = [
            f"depth-{depth:02d}/question-{slot.number:02d}{_deal(slot.deal)}" for slot in slots
        ]
        with _following({call: slot.path for call, slot in zip(calls, slots, strict=True)}):
            walks = self._walker.walks(depth, slots, calls, taken)
            triples = list(zip(calls, slots, walks, strict=True))
            return self._people.each(lambda triple: self._slot(depth, *triple), triples)

    def _slot(self, depth: int, call: str, slot: Slot, walk: Walk) -> Outcome:
        if walk.fact is None:
            return unverifiable(depth, slot, walk)
        return self._put(call, depth, slot, walk, walk.fact)

    def _put(self, call: str, depth: int, slot: Slot, walk: Walk, fact: Fact) -> Outcome:
        """Put the question to the target, and have its answer checked."""
        target, probe = self._cell.target, probe_of(depth, slot, walk)
        answer = self._people.models[target].ask(
            f"{call}/target",
            self._to_target(slot.path, fact.question),
            params=self._params("target"),
        )
        self._asked.add(target, answer)
        probe.answer_state = answer.state
        spoken = without_thinking(answer.text)
        lost = self._lost(answer, spoken)
        self._people.heard(ReplyOutcome("target", target, lost or "ok"))
        if lost:
            probe.state, probe.verdict = MISSING, lost
            return Outcome(slot, probe, words_of(probe, slot, fact, spoken, ""))
        filled = self._judged(call, fact.question, spoken)
        judge(probe, filled)
        child = child_of(slot, walk, fact, spoken, f"{call}/target")
        words = words_of(probe, slot, fact, spoken, filled.words)
        return Outcome(slot, probe, words, child if probe.correct else None)

    def _lost(self, answer: Answer, spoken: str) -> str:
        """Say why there is no answer to judge; "" where there is one."""
        if self._prompts.version == 1:
            return lost_in_version_1(answer, spoken)
        return f"{OF_TARGET}{words_of_kind(answer.state)}" if answer.lost else ""

    def _judged(self, call: str, question: Question, answer: str) -> Filled:
        name = self._rules.evaluator
        filled = evaluate(
            self._people.models[name],
            f"{call}/evaluator",
            question,
            answer,
            EvaluationForm(self._prompts, self._params("evaluator"), self._rules.evaluator_form),
        )
        self._hear(filled, filled.reply("evaluator", name))
        return filled

    def _to_target(self, path: Path, question: Question) -> list[Message]:
        system = self._prompts.filled("target_system", domain=self._cell.domain)
        messages = [{"role": "system", "content": system}]
        for question_text, answered in path.history if self._rules.history == "path" else ():
            messages += [
                {"role": "user", "content": question_text},
                {"role": "assistant", "content": answered},
            ]
        return [*messages, {"role": "user", "content": question.text}]

    def _params(self, role: str) -> Mapping[str, Any]:
        return self._rules.params.get(role, {})

    def _heard_extractor(self, filled: Filled, fault: str) -> None:
        self._hear(filled, filled.reply("extractor", self._rules.directions, fault))

    def _hear(self, filled: Filled, reply: ReplyOutcome) -> None:
        for answer in filled.answers:
            self._asked.add(reply.model, answer)
        self._replies.add(reply)
        self._people.heard(reply)


@contextmanager
def _following(paths: Mapping[str, Path]) -> Iterator[None]:
    """Name the answer that a path hangs on where a call of it is not what was recorded.

    paths: by the beginning of the names of their calls.
    """
    try:
        yield
    except Miss as miss:
        missed = (path for call, path in paths.items() if f"call {call}/" in str(miss))
        path = next(missed, None)
        if path is None or not path.parent:
            raise
        raise Miss(
            f"{miss}\nThis call follows from the answer to {path.parent}, which in this run "
            f"is: {path.history[-1][1][:300]!r}. Calls after it are not compared."
        ) from miss


def _deal(deal: int) -> str:
    return "" if deal == 1 else f"/deal-{deal}"


def lost_in_version_1(answer: Answer, spoken: str) -> str:
    """Say why there is no answer to judge; "" where there is one, be it empty.

    So it was under protocol version 1. What the endpoint rejects or filters, and what its token
    limit cut off before a word was said (what was thought is not said), are no answers of the
    target's: they are missing. An answer that is empty of itself was judged as one.
    """
    if answer.state == REJECTED:
        return "target rejected"
    if spoken:
        return ""
    if answer.finish_reason == "content_filter":
        return "target filtered"
    return "target cut off" if answer.finish_reason in CUT_OFF else ""
