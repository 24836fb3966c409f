"""The gold set put before the judges of a study, in the words and by the rules of its dialogues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.asking.models.prompts import Prompts
from harness.asking.replies.parser import Fields, ScoreField, Text, read_reply
from harness.fitness.gold_exam import GoldExam, Grading
from harness.fitness.habits import Utterance
from harness.protocols.ddft.dialogue import jury
from harness.protocols.ddft.dialogue.dialogue import DialogueRules
from harness.protocols.ddft.dialogue.examined import Examined
from harness.protocols.seam import Surroundings
from harness.results import (
    CellResult,
    Concept,
    Gold,
    GoldAnswer,
    Materials,
    Transcript,
)

REASONS: Fields = {"far_reason": Text(), "sas_reason": Text()}
SCORES: Fields = {"far": ScoreField(), "sas": ScoreField()}


def gold_exam(
    rules: DialogueRules, materials: Materials, around: Surroundings
) -> GoldExam[tuple[int, GoldAnswer]]:
    """Return the cell in which every judge of a study scores every gold answer."""
    concepts = {concept.id: concept for concept in materials.concepts}
    prompts = Prompts(materials.prompts, materials.protocol_version)

    def gradings(numbered: tuple[int, GoldAnswer]) -> Iterator[Grading]:
        number, answer = numbered
        examined = _examined(answer, concepts[answer.concept], rules, prompts)
        for name in rules.jury:
            call, bench = f"answer-{number:03d}/judge/{name}", rules.bench(name, materials)
            judged = jury.judge(around.models[name], call, examined, bench)
            yield Grading(name, judged.score, judged.words, judged.answers, judged.reply(name))

    answers = list(enumerate((materials.gold or Gold()).answers, 1))
    return GoldExam(
        rules.jury, answers, gradings, graded_in="scores", heard=around.heard, each=around.each
    )


def _examined(
    answer: GoldAnswer, concept: Concept, rules: DialogueRules, prompts: Prompts
) -> Examined:
    return Examined(
        concept=concept,
        turn=answer.turn,
        level=0.0,
        question=answer.question,
        answer=answer.text,
        earlier="",
        expert=answer.expert,
        claim=answer.claim,
        reference=rules.judge_reference,
        prompts=prompts,
    )


def utterances(
    cells: Sequence[CellResult],
    transcripts: Sequence[Transcript],
    version: int,
    worked: Sequence[Utterance],
) -> Iterator[Utterance]:
    """Yield every usable judgement of a recording.

    The reasons in its reply are read where its scores are those of an example that is shown: only
    then can it be a copy.
    """
    examples_scores = {example.scores for example in worked}
    for cell, transcript in zip(cells, transcripts, strict=True):
        for turn, exchange in zip(cell.turns, transcript.exchanges, strict=True):
            for name, score in turn.scores.items():
                if score.far is not None and score.sas is not None:
                    scores, reply = (score.far, score.sas), exchange.replies.get(name, "")
                    reasons = _reasons(reply, version) if scores in examples_scores else ()
                    yield Utterance(name, scores, reasons)


def examples(materials: Materials) -> list[Utterance]:
    """Return the judgements that the study's prompt shows as worked examples."""
    prompts = Prompts(materials.prompts, materials.protocol_version)
    replies = [turn["content"] for turn in prompts.examples("judge_example")[1::2]]
    judgements = []
    for reply in replies:
        values = read_reply(reply, "stop", SCORES, materials.protocol_version).values
        scores = (values.get("far"), values.get("sas"))
        judgements.append(Utterance("", scores, _reasons(reply, materials.protocol_version)))
    return judgements


def _reasons(reply: str, version: int) -> tuple[str, ...]:
    values = read_reply(reply, "stop", REASONS, version).values
    return tuple(str(values.get(name) or "") for name in REASONS)
