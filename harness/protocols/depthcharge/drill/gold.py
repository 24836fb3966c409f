"""The gold facts put before the evaluator of a drill, in its words and by its rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.asking.models.prompts import Prompts
from harness.asking.replies.parser import OK, Fields, Text, read_reply
from harness.asking.replies.structured_output import Filled
from harness.fitness.gold_exam import GoldExam, Grading
from harness.fitness.habits import Utterance
from harness.protocols.depthcharge.drill.evaluator import FIELDS, EvaluationForm, evaluate
from harness.protocols.depthcharge.drill.questions import Question
from harness.protocols.depthcharge.drill.rules import DrillRules
from harness.protocols.seam import Surroundings
from harness.results import (
    DrillTranscript,
    Gold,
    GoldFact,
    Materials,
    RunResult,
)
from harness.results.depthcharge import ASKED
from harness.results.gold import FACT_ANSWERS


class FactAnswer(NamedTuple):
    """An answer to the question of a gold fact; kind: one of FACT_ANSWERS."""

    number: int
    fact: GoldFact
    kind: str


def gold_exam(
    rules: DrillRules, materials: Materials, around: Surroundings
) -> GoldExam[FactAnswer]:
    """Return the cell in which the evaluator checks every answer to every gold fact."""
    name, params = rules.evaluator, rules.params.get("evaluator", {})
    prompts = Prompts(materials.prompts, materials.protocol_version)
    evaluation = EvaluationForm(prompts, params, rules.evaluator_form)

    def gradings(text: FactAnswer) -> Iterator[Grading]:
        fact, call = text.fact, f"fact-{text.number:03d}/{text.kind}/evaluator"
        question = Question(fact.question, fact.expected, fact.quote, fact.claim)
        answer: str = getattr(fact, text.kind)
        filled = evaluate(around.models[name], call, question, answer, evaluation)
        reply = filled.reply("evaluator", name)
        yield Grading(name, _verdict(filled), filled.words, filled.answers, reply)

    facts = enumerate((materials.gold or Gold()).facts, 1)
    answers = [FactAnswer(number, fact, kind) for number, fact in facts for kind in FACT_ANSWERS]
    return GoldExam(
        [name], answers, gradings, graded_in="verdicts", heard=around.heard, each=around.each
    )


def _verdict(filled: Filled) -> str:
    if filled.verdict.state != OK:
        return filled.verdict.state
    return "correct" if filled.verdict.values["correct"] is True else "wrong"


def utterances(
    cells: Sequence[RunResult],
    transcripts: Sequence[DrillTranscript],
    rules: DrillRules,
    worked: Sequence[Utterance],
) -> Iterator[Utterance]:
    """Yield every usable verdict of a recording.

    The reason in its reply is read where its scores are those of an example that is shown: only
    then can it be a copy.
    """
    examples_scores = {example.scores for example in worked}
    for cell, transcript in zip(cells, transcripts, strict=True):
        words = {
            (probe_words.depth, probe_words.question, probe_words.deal): probe_words.verdict
            for probe_words in transcript.probes
        }
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
    verdicts = list[Utterance]()
    for reply in replies:
        values = read_reply(reply, "stop", FIELDS, materials.protocol_version).values
        scores = (values.get("correct"), values.get("confidence"))
        verdicts.append(Utterance("", scores, _reasons(reply, materials.protocol_version)))
    return verdicts


def _reasons(reply: str, version: int) -> tuple[str, ...]:
    fields: Fields = {"reason": Text()}
    return (str(read_reply(reply, "stop", fields, version).values.get("reason") or ""),)
