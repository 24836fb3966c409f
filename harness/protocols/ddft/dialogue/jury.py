"""Three judges, each on its own: ask, read leniently, ask once more, or mark as missing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from harness.asking.models.model import Message, Model
from harness.asking.replies.parser import Field, Fields, ParsedReply, ScoreField, Text
from harness.asking.replies.structured_output import Form, ask_form
from harness.protocols.ddft.dialogue.examined import VERDICT, Bench, Examined, JudgedAnswer
from harness.protocols.ddft.dialogue.verdicts import judge_by_verdicts
from harness.protocols.ddft.metrics.formulas import mean
from harness.results import Score
from harness.results.score import NO_ANSWER

SCALES = ("far", "sas")
UNJUDGED = Score(None, None, NO_ANSWER, 0)  # of a turn without an answer, which no judge saw


def judge(model: Model, call: str, examined: Examined, bench: Bench) -> JudgedAnswer:
    """Let one judge score one answer on both scales."""
    if bench.scoring == VERDICT:
        return judge_by_verdicts(model, call, examined, bench)
    task = examined.task
    if bench.rubrics == "joint":
        return _judge_scales(model, call, task, bench, SCALES)
    far, sas = (_judge_scales(model, f"{call}/{scale}", task, bench, (scale,)) for scale in SCALES)
    states = [judgement.score.state for judgement in (far, sas)]
    score = Score(
        far.score.far,
        sas.score.sas,
        next((state for state in states if state != "ok"), "ok"),
        far.score.asks + sas.score.asks,
        [*far.score.repaired, *sas.score.repaired],
    )
    return JudgedAnswer(
        score,
        f"{far.words}\n{sas.words}",
        [*far.answers, *sas.answers],
        far.second_asks + sas.second_asks,
    )


def _judge_scales(
    model: Model, call: str, task: str, bench: Bench, scales: tuple[str, ...]
) -> JudgedAnswer:
    """Ask for the scales, and once more with what was wrong with the first reply."""
    suffix = "" if scales == SCALES else f"_{scales[0]}"
    messages = [*_opening(bench.prompts, suffix), {"role": "user", "content": task}]
    schema = _schema(bench.prompts[f"judge_schema{suffix}"])
    form = Form(_fields(scales), schema, bench.prompts["judge_again"], bench.params, bench.version)
    filled = ask_form(model, call, messages, form)
    asks = len(filled.answers)
    return JudgedAnswer(_score(filled.verdict, asks), filled.words, filled.answers, asks - 1)


@lru_cache(maxsize=16)
def _schema(text: str) -> Mapping[str, Any]:
    """Return a schema of the prompts as data, which nobody changes."""
    schema: Mapping[str, Any] = json.loads(text)
    return schema


def _opening(prompts: Mapping[str, str], suffix: str) -> list[Message]:
    messages = [{"role": "system", "content": prompts[f"judge_system{suffix}"]}]
    if suffix:
        return messages
    for name in sorted(key for key in prompts if key.startswith("judge_example")):
        role = "assistant" if name.endswith("_reply") else "user"
        messages.append({"role": role, "content": prompts[name]})
    return messages


def _fields(scales: tuple[str, ...]) -> Fields:
    fields: dict[str, Field] = {}
    for scale in scales:
        fields |= {scale: ScoreField(), f"{scale}_reason": Text(remark=True)}
    return fields


def _score(verdict: ParsedReply, asks: int) -> Score:
    far, sas = (_number(verdict.values.get(scale)) for scale in SCALES)
    return Score(far, sas, verdict.state, asks, list(verdict.repaired))


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None


def consensus(scores: Sequence[Score]) -> tuple[int, float | None, float | None]:
    """Return how many judges scored, and the means of their FAR and SAS (None of nobody)."""
    far = [score.far for score in scores if score.far is not None]
    sas = [score.sas for score in scores if score.sas is not None]
    return len(far), mean(far), mean(sas)
