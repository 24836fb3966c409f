"""The gold facts put before the evaluator of a drill, in its words and by its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.asking.executor import Each, in_turn
from harness.asking.models.model import Model
from harness.asking.models.prompts import Prompts
from harness.asking.models.usage import UsageCount
from harness.asking.replies.parser import OK, Fields, Text, read_reply
from harness.asking.replies.structured_output import Filled, Heard, ignored
from harness.fitness.habits import Utterance
from harness.protocols.depthcharge.drill.evaluator import FIELDS, Evaluation, evaluate
from harness.protocols.depthcharge.drill.questions import Question
from harness.protocols.depthcharge.drill.rules import Rules
from harness.results import (
    DrillTranscript,
    Gold,
    GoldFact,
    GoldKey,
    GoldResult,
    GoldTranscript,
    Materials,
    RunResult,
)
from harness.results.depthcharge import ASKED
from harness.results.gold import FACT_ANSWERS


class GoldExam:
    """A drill's evaluator at every answer to every gold fact: a cell beside the grid."""

    def __init__(
        self,
        gold: Gold,
        rules: Rules,
        materials: Materials,
        models: Mapping[str, Model],
        heard: Heard = ignored,
        each: Each = in_turn,
    ) -> None:
        """Set the exam up; `heard` hears of every verdict's state, `each` runs the answers."""
        self._gold, self._name, self._heard = gold, rules.evaluator, heard
        self._each = each
        self._model = models[rules.evaluator]
        prompts = Prompts(materials.prompts, materials.protocol_version)
        params = rules.params.get("evaluator", {})
        self._evaluation = Evaluation(prompts, params, rules.evaluator_form)
        self._asked = UsageCount()
        self._replies: list[str] = []

    def run(self) -> GoldResult:
        """Have every answer checked; raises what the model raises."""
        answers = [
            (number, fact, kind)
            for number, fact in enumerate(self._gold.facts, 1)
            for kind in FACT_ANSWERS
        ]
        checked = self._each(self._checked, answers)
        self._replies = [filled.words for filled in checked]
        return GoldResult(
            cell=GoldKey(),
            scores={},
            verdicts={self._name: [_verdict(filled) for filled in checked]},
            served=self._asked.served,
            usage=self._asked.usage,
        )

    def transcript(self) -> GoldTranscript:
        """Return what the evaluator said so far."""
        return GoldTranscript(GoldKey(), {self._name: self._replies})

    def _checked(self, placed: tuple[int, GoldFact, str]) -> Filled:
        number, fact, kind = placed
        call = f"fact-{number:03d}/{kind}/evaluator"
        question = Question(fact.question, fact.expected, fact.quote, fact.claim)
        answer: str = getattr(fact, kind)
        filled = evaluate(self._model, call, question, answer, self._evaluation)
        for reply in filled.answers:
            self._asked.add(self._name, reply)
        self._heard(filled.reply("evaluator", self._name))
        return filled


def _verdict(filled: Filled) -> str:
    if filled.verdict.state != OK:
        return filled.verdict.state
    return "correct" if filled.verdict.values["correct"] is True else "wrong"


def utterances(
    cells: Sequence[RunResult],
    transcripts: Sequence[DrillTranscript],
    rules: Rules,
    shown: Sequence[Utterance],
) -> Iterator[Utterance]:
    """Yield every usable verdict of a recording.

    The reason in its reply is read where its scores are those of an example that is shown: only
    then can it be a copy.
    """
    examples_scores = {example.scores for example in shown}
    for cell, transcript in zip(cells, transcripts, strict=True):
        words = {(one.depth, one.question, one.deal): one.verdict for one in transcript.probes}
        for probe in cell.probes:
            if probe.state == ASKED:
                reply = words.get((probe.depth, probe.question, probe.deal), "")
                scores = (probe.correct, probe.confidence)
                reasons = _reasons(reply, rules.version) if scores in examples_scores else ()
                yield Utterance(rules.evaluator, scores, reasons)


def examples(materials: Materials) -> list[Utterance]:
    """Return the verdicts that the study's prompt shows as worked examples."""
    prompts = Prompts(materials.prompts, materials.protocol_version)
    replies = [turn["content"] for turn in prompts.examples("evaluator_example")[1::2]]
    shown = list[Utterance]()
    for reply in replies:
        values = read_reply(reply, "stop", FIELDS, materials.protocol_version).values
        scores = (values.get("correct"), values.get("confidence"))
        shown.append(Utterance("", scores, _reasons(reply, materials.protocol_version)))
    return shown


def _reasons(reply: str, version: int) -> tuple[str, ...]:
    fields: Fields = {"reason": Text()}
    return (str(read_reply(reply, "stop", fields, version).values.get("reason") or ""),)
