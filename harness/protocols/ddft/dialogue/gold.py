"""The gold set put before the judges of a study, in the words and by the rules of its dialogues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.asking.executor import Each, in_turn
from harness.asking.models.model import Model
from harness.asking.models.prompts import Prompts
from harness.asking.models.usage import UsageCount
from harness.asking.replies.parser import Fields, Text, read_reply
from harness.asking.replies.parser import Score as ScoreField
from harness.asking.replies.structured_output import Heard, ignored
from harness.fitness.habits import Utterance
from harness.protocols.ddft.dialogue import jury
from harness.protocols.ddft.dialogue.dialogue import Rules
from harness.protocols.ddft.dialogue.examined import Examined, Judgement
from harness.results import (
    CellResult,
    Gold,
    GoldAnswer,
    GoldKey,
    GoldResult,
    GoldTranscript,
    Materials,
    Transcript,
)

REASONS: Fields = {"far_reason": Text(), "sas_reason": Text()}
SCORES: Fields = {"far": ScoreField(), "sas": ScoreField()}


class GoldExam:
    """Every judge of a study at every gold answer: a cell beside the grid."""

    def __init__(
        self,
        gold: Gold,
        rules: Rules,
        materials: Materials,
        models: Mapping[str, Model],
        heard: Heard = ignored,
        each: Each = in_turn,
    ) -> None:
        """Set the exam up; `heard` hears of every judgement's state, `each` runs the answers."""
        self._gold, self._rules, self._materials = gold, rules, materials
        self._models, self._heard, self._each = models, heard, each
        self._texts = {concept.id: concept for concept in materials.concepts}
        self._prompts = Prompts(materials.prompts, materials.protocol_version)
        self._asked = UsageCount()
        self._replies: dict[str, list[str]] = {name: [] for name in rules.jury}

    def run(self) -> GoldResult:
        """Have every answer judged; raises what the models raise."""
        judged = self._each(self._answer, enumerate(self._gold.answers, 1))
        for name in self._rules.jury:
            self._replies[name] = [judgements[name].words for judgements in judged]
        return GoldResult(
            cell=GoldKey(),
            scores={
                name: [judgements[name].score for judgements in judged] for name in self._rules.jury
            },
            verdicts={},
            served=self._asked.served,
            usage=self._asked.usage,
        )

    def transcript(self) -> GoldTranscript:
        """Return what the judges said so far."""
        return GoldTranscript(GoldKey(), self._replies)

    def _answer(self, placed: tuple[int, GoldAnswer]) -> dict[str, Judgement]:
        number, answer = placed
        examined = Examined(
            concept=self._texts[answer.concept],
            turn=answer.turn,
            level=0.0,
            question=answer.question,
            answer=answer.text,
            earlier="",
            expert=answer.expert,
            claim=answer.claim,
            reference=self._rules.judge_reference,
            prompts=self._prompts,
        )
        return {
            name: self._judged(f"answer-{number:03d}/judge/{name}", name, examined)
            for name in self._rules.jury
        }

    def _judged(self, call: str, name: str, examined: Examined) -> Judgement:
        bench = self._rules.bench(name, self._materials)
        judgement = jury.judge(self._models[name], call, examined, bench)
        for reply in judgement.answers:
            self._asked.add(name, reply)
        self._heard(judgement.reply(name))
        return judgement


def utterances(
    cells: Sequence[CellResult],
    transcripts: Sequence[Transcript],
    version: int,
    shown: Sequence[Utterance],
) -> Iterator[Utterance]:
    """Yield every usable judgement of a recording.

    The reasons in its reply are read where its scores are those of an example that is shown: only
    then can it be a copy.
    """
    examples_scores = {example.scores for example in shown}
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
    found = []
    for reply in replies:
        values = read_reply(reply, "stop", SCORES, materials.protocol_version).values
        scores = (values.get("far"), values.get("sas"))
        found.append(Utterance("", scores, _reasons(reply, materials.protocol_version)))
    return found


def _reasons(reply: str, version: int) -> tuple[str, ...]:
    values = read_reply(reply, "stop", REASONS, version).values
    return tuple(str(values.get(name) or "") for name in REASONS)
