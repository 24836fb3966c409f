"""One DDFT dialogue: five turns about a concept, the context cut away, a trap in turn 4.

Who sees what: the context stands in the turn-1 message to the subject only; the subject sees the
dialogue; the interviewer sees the concept's name and the dialogue; a judge sees the dialogue so
far, the share of the text the subject had, the turn, and (judge_reference) the whole text. Level c
keeps text[:int(len(text) * (1 - c))] characters, with the float product as Python gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.asking.models.model import Answer, Model
from harness.asking.models.prompts import Prompts, fill
from harness.asking.models.usage import UsageCount
from harness.asking.replies.reply_count import ReplyCount, ReplyOutcome
from harness.asking.replies.structured_output import Heard, ignored
from harness.errors import DamagedFile
from harness.protocols.ddft.dialogue import invention, jury, traps
from harness.protocols.ddft.dialogue.examined import NUMBERS, TRAP_TURN, Bench, Examined
from harness.results import (
    CellKey,
    CellResult,
    Concept,
    Exchange,
    Materials,
    Score,
    Transcript,
    Turn,
    name_part,
)
from harness.results.answers import EMPTY
from harness.results.ddft import SCRIPTED, TEMPLATE

TURNS = (1, 2, 3, 4, 5)
EXAMPLE_TURN = 2
SURE_ARMS = ("assertive", "hedged")
ACCURACY_FIRST = "accuracy_first"


class DialogueRules(NamedTuple):
    """What the study file says of a dialogue: who asks, who judges, with which parameters."""

    seed: int
    interviewer: str
    jury: tuple[str, ...]
    judge_reference: bool
    params: Mapping[str, Mapping[str, Any]]
    families: Mapping[str, str] = {}
    exclude_same_family: bool = False
    rubrics: str = "joint"
    scoring: Mapping[str, str] = {}
    empty_answers: str = "missing"
    trap_source: str = invention.DRAWN

    def bench(self, judge: str, materials: Materials) -> Bench:
        """Return how a judge of this study works."""
        return Bench(
            prompts=materials.prompts,
            params=self.params.get("judge", {}),
            version=materials.protocol_version,
            rubrics=self.rubrics,
            scoring=self.scoring.get(judge, NUMBERS),
        )


class AskedQuestion(NamedTuple):
    """A question and where it came from."""

    text: str
    source: str


class Draft(NamedTuple):
    """A question as the interviewer wrote it, and the state of its answer."""

    text: str
    state: str


class Dialogue:
    """One cell on its way; `run` gives its numbers, `transcript` its words."""

    def __init__(
        self,
        cell: CellKey,
        rules: DialogueRules,
        materials: Materials,
        models: Mapping[str, Model],
        heard: Heard = ignored,
    ) -> None:
        """Set the cell up; `heard` hears of every judgement's state as it comes."""
        self._heard = heard
        self._cell, self._rules, self._materials, self._models = cell, rules, materials, models
        self._concept = _concept(materials, cell.concept)
        self._context = compress(self._concept.text, cell.level)
        self._trap = traps.draw(materials, rules.seed, self._concept, cell.level)
        self._exchanges: list[Exchange] = []
        self._prompts = Prompts(materials.prompts, materials.protocol_version)
        self._asked = UsageCount()
        self._replies = ReplyCount()
        self._kin = _same_family(rules, cell.subject)
        jury = [name for name in rules.jury if name not in self._kin]
        self._jury = jury if rules.exclude_same_family else list(rules.jury)

    def run(self) -> CellResult:
        """Hold the dialogue and have it judged; raises what the models raise."""
        turns = [self._turn(turn) for turn in TURNS]
        return CellResult(
            self._cell,
            len(self._context),
            turns[TRAP_TURN - 1].question_source,
            turns,
            self._asked.served,
            self._asked.usage,
            sorted(self._kin),
            self._replies.replies,
        )

    def transcript(self) -> Transcript:
        """Return what was said so far."""
        return Transcript(self._cell, self._context, self._trap._asdict(), self._exchanges)

    def _turn(self, turn: int) -> Turn:
        question = self._question(turn)
        answer = self._ask(
            "subject", self._cell.subject, f"turn-{turn}/subject", self._to_subject(question.text)
        )
        exchange = Exchange(turn, question.text, answer.text, {})
        is_missing = self._is_missing(answer)
        self._heard(
            ReplyOutcome("subject", self._cell.subject, answer.state if is_missing else "ok")
        )
        if is_missing:
            scores = dict.fromkeys(self._jury, jury.UNJUDGED)
        else:
            scores = self._judged(turn, exchange)
        self._exchanges.append(exchange)
        n_judges, far, sas = jury.consensus(list(scores.values()))
        return Turn(
            turn,
            question.source,
            answer.state,
            dict(sorted(scores.items())),
            n_judges,
            far,
            sas,
            is_missing,
        )

    def _is_missing(self, answer: Answer) -> bool:
        """Tell whether there is nothing to judge; the study may have empty answers judged."""
        judged = answer.state == EMPTY and self._rules.empty_answers == "judged"
        return answer.lost and not judged

    def _judged(self, turn: int, exchange: Exchange) -> dict[str, Score]:
        """Return the score of each judge; their words go into the exchange."""
        examined = self._examined(turn, exchange.question, exchange.answer)
        scores = {}
        for name in self._jury:
            call = f"turn-{turn}/judge/{name_part(name)}"
            bench = self._rules.bench(name, self._materials)
            judgement = jury.judge(self._models[name], call, examined, bench)
            for reply in judgement.answers:
                self._asked.add(name, reply)
            scores[name], exchange.replies[name] = judgement.score, judgement.words
            self._hear(judgement.reply(name))
        return scores

    def _question(self, turn: int) -> AskedQuestion:
        scripted = self._filled(f"scripted_turn_{turn}")
        if self._rules.interviewer == SCRIPTED:
            return AskedQuestion(scripted, SCRIPTED)
        if turn == TRAP_TURN:
            return self._trap_question(scripted)
        draft = self._interview(turn, f"turn-{turn}/interviewer")
        fault = None if "?" in draft.text else traps.TrapFault(traps.NO_QUESTION, "")
        self._hear(self._interviewed(draft, fault))
        return (
            AskedQuestion(scripted, TEMPLATE) if fault else AskedQuestion(draft.text, "interviewer")
        )

    def _trap_question(self, scripted: str) -> AskedQuestion:
        """The drawn expert must appear word for word, or an invented one; asked twice at most."""
        draft = self._interview(TRAP_TURN, "turn-4/interviewer")
        fault, asks, source = self._trap_fault(draft.text), 1, "interviewer"
        if fault:
            call = "turn-4/interviewer/ask-2"
            draft = self._interview(TRAP_TURN, call, draft.text, fault.problem)
            fault, asks, source = self._trap_fault(draft.text), 2, "interviewer, asked again"
        self._hear(self._interviewed(draft, fault, asks))
        if fault:
            return AskedQuestion(scripted, TEMPLATE)
        if self._invents:
            self._trap = invention.invented_trap(draft.text)
        return AskedQuestion(draft.text, source)

    def _interviewed(
        self, draft: Draft, fault: traps.TrapFault | None, asks: int = 1
    ) -> ReplyOutcome:
        """Return what the interviewer's reply came to; the endpoint's own reason comes first."""
        cause = "" if fault is None else fault.state if draft.state == "ok" else draft.state
        return ReplyOutcome("interviewer", self._rules.interviewer, cause or "ok", asks, asks - 1)

    def _trap_fault(self, question: str) -> traps.TrapFault | None:
        """A study whose materials say so also wants the subject's own example taken up."""
        trap, fault = self._trap, None
        if self._invents:
            trap = traps.Trap(invention.named_expert(question), "")
            fault = invention.expert_fault(question, f"{self._concept.text} {self._dialogue()}")
        fault = fault or traps.fault(question, trap.expert)
        request = self._materials.prompts.get("trap_needs_example", "")
        besides = " ".join((self._concept.name, *trap))
        if fault or not request or traps.takes_up(question, self._example, besides):
            return fault
        return traps.TrapFault("example not taken up", request)

    @property
    def _invents(self) -> bool:
        return self._rules.trap_source == invention.INVENTED

    def _hear(self, reply: ReplyOutcome) -> None:
        self._replies.add(reply)
        self._heard(reply)

    @property
    def _example(self) -> str:
        """Return what the subject answered in turn 2; "" before that."""
        return self._exchanges[EXAMPLE_TURN - 1].answer if len(self._exchanges) > 1 else ""

    def _quoted_example(self) -> str:
        taken = self._prompts["scripted_turn_4"] + self._trap.expert + " " + self._trap.claim
        room = traps.MOST_WORDS - len(taken.split())
        return traps.quoted(self._example, room) or self._concept.name

    def _interview(self, turn: int, call: str, before: str = "", fault: str = "") -> Draft:
        invents = turn == TRAP_TURN and self._invents
        prompt = "interviewer_invents" if invents else f"interviewer_turn_{turn}"
        task = self._filled(prompt, said_example=self._example)
        if self._exchanges:
            task = self._filled("interviewer_dialogue", dialogue=self._dialogue(), task=task)
        messages = [*self._instruction(turn), {"role": "user", "content": task}]
        if fault:
            messages += [
                {"role": "assistant", "content": before},
                {"role": "user", "content": self._filled("interviewer_again", problem=fault)},
            ]
        answer = self._ask("interviewer", self._rules.interviewer, call, messages)
        return Draft(answer.text.strip().strip('"').strip(), answer.state)

    def _instruction(self, turn: int) -> list[dict[str, str]]:
        """Return the interviewer's instruction; the trap has its own, where the materials do."""
        drawn = turn == TRAP_TURN and not self._invents
        if not drawn or "interviewer_trap_system" not in self._prompts:
            return [{"role": "system", "content": self._filled("interviewer_system")}]
        return [
            {"role": "system", "content": self._filled("interviewer_trap_system")},
            {"role": "user", "content": self._prompts["interviewer_trap_example"]},
            {"role": "assistant", "content": self._prompts["interviewer_trap_example_reply"]},
        ]

    def _to_subject(self, question: str) -> list[dict[str, str]]:
        messages = []
        if self._cell.arm == ACCURACY_FIRST:
            messages.append({"role": "system", "content": self._prompts["arm_accuracy_first"]})
        opening = len(messages)
        for exchange in self._exchanges:
            messages += [
                {"role": "user", "content": exchange.question},
                {"role": "assistant", "content": self._shown(exchange.answer)},
            ]
        messages.append({"role": "user", "content": question})
        if self._context:
            first = messages[opening]
            first["content"] = self._filled(
                "subject_context", context=self._context, question=first["content"]
            )
        return messages

    def _examined(self, turn: int, question: str, answer: str) -> Examined:
        return Examined(
            concept=self._concept,
            turn=turn,
            level=self._cell.level,
            question=question,
            answer=answer,
            earlier=self._dialogue(),
            expert=self._trap.expert,
            claim=self._trap.claim,
            reference=self._rules.judge_reference,
            prompts=self._prompts,
        )

    def _dialogue(self) -> str:
        return "\n".join(
            f"Examiner: {exchange.question}\nCandidate: {self._shown(exchange.answer)}"
            for exchange in self._exchanges
        )

    def _shown(self, answer: str) -> str:
        """Return an answer as the dialogue shows it: one without words has a stand-in."""
        if answer.strip() or self._prompts.version == 1:
            return answer
        return self._prompts["missing_answer"]

    def _filled(self, prompt: str, **values: str) -> str:
        template = self._prompts[prompt]
        placeholders = {"concept": self._concept.name, **self._trap._asdict(), **values}
        placeholders["tone"] = (
            self._prompts[f"arm_{arm}"] if (arm := self._cell.arm) in SURE_ARMS else ""
        )
        if "{example}" in template:
            placeholders["example"] = self._quoted_example()
        return fill(template, placeholders)

    def _ask(self, role: str, name: str, call: str, messages: list[dict[str, str]]) -> Answer:
        answer = self._models[name].ask(call, messages, params=self._rules.params.get(role, {}))
        self._asked.add(name, answer)
        return answer


def compress(text: str, level: float) -> str:
    """Cut a text to its first (1 - level) of characters, mid-sentence on purpose."""
    return text[: int(len(text) * (1 - level))]


def _same_family(rules: DialogueRules, subject: str) -> list[str]:
    family = rules.families.get(subject, "")
    return [name for name in rules.jury if family and rules.families.get(name) == family]


def _concept(materials: Materials, name: str) -> Concept:
    for concept in materials.concepts:
        if concept.id == name:
            return concept
    raise DamagedFile(f"materials.json: the concept {name!r} of study.toml is missing")
