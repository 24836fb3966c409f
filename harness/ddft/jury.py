"""Three judges, each on its own: ask, read leniently, ask once more, or mark as missing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.asking.replies import Score as ScoreField
from harness.asking.replies import Text, Verdict, read_reply
from harness.asking.wire import Answer, Message, Model
from harness.ddft.metrics import mean
from harness.results import Score

SCALES = ("far", "sas")
ASKS = 2
REJECTED = "rejected"


class Judgement(NamedTuple):
    """A judge's score, its last words, and the answers it gave on the way."""

    score: Score
    words: str
    answers: list[Answer]


class Bench(NamedTuple):
    """How a jury works: its prompts, the judges' parameters, and one call or one for each scale.

    rubrics: "joint" asks for both scales in one call, "separate" in a call each.
    """

    prompts: Mapping[str, str]
    params: Mapping[str, object]
    rubrics: str = "joint"


def judge(model: Model, call: str, task: str, bench: Bench) -> Judgement:
    """Let one judge score one answer on both scales."""
    if bench.rubrics == "joint":
        return _judge_scales(model, call, task, bench, SCALES)
    far, sas = (_judge_scales(model, f"{call}/{scale}", task, bench, (scale,)) for scale in SCALES)
    states = [part.score.state for part in (far, sas)]
    score = Score(
        far.score.far,
        sas.score.sas,
        next((state for state in states if state != "ok"), "ok"),
        far.score.asks + sas.score.asks,
        [*far.score.repaired, *sas.score.repaired],
    )
    return Judgement(score, f"{far.words}\n{sas.words}", [*far.answers, *sas.answers])


def _judge_scales(
    model: Model, call: str, task: str, bench: Bench, scales: tuple[str, ...]
) -> Judgement:
    """Ask, and once more with what was wrong with the first reply."""
    suffix = "" if scales == SCALES else f"_{scales[0]}"
    messages = [*_opening(bench.prompts, suffix), {"role": "user", "content": task}]
    schema = json.loads(bench.prompts[f"judge_schema{suffix}"])
    answers: list[Answer] = []
    for ask in range(1, ASKS + 1):
        name = call if ask == 1 else f"{call}/ask-{ask}"
        answer = model.ask(name, messages, params=bench.params, schema=schema)
        answers.append(answer)
        verdict = _verdict(answer, scales)
        if verdict.state in ("ok", REJECTED):  # a rejected request is rejected again
            break
        again = bench.prompts["judge_again"].replace("{problem}", verdict.problem)
        messages += [
            {"role": "assistant", "content": answer.text},
            {"role": "user", "content": again},
        ]
    return Judgement(_score(verdict, len(answers)), answer.text, answers)


def _opening(prompts: Mapping[str, str], suffix: str) -> list[Message]:
    messages = [{"role": "system", "content": prompts[f"judge_system{suffix}"]}]
    if suffix:
        return messages
    for name in sorted(key for key in prompts if key.startswith("judge_example")):
        role = "assistant" if name.endswith("_reply") else "user"
        messages.append({"role": role, "content": prompts[name]})
    return messages


def _verdict(answer: Answer, scales: tuple[str, ...]) -> Verdict:
    if answer.state == REJECTED:
        return Verdict(REJECTED, {}, (), "The request was rejected.")
    fields: dict[str, ScoreField | Text] = {}
    for scale in scales:
        fields |= {scale: ScoreField(), f"{scale}_reason": Text()}
    return read_reply(answer.text, answer.finish_reason, fields)


def _score(verdict: Verdict, asks: int) -> Score:
    far, sas = (_number(verdict.values.get(scale)) for scale in SCALES)
    return Score(far, sas, verdict.state, asks, list(verdict.repaired))


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None


def consensus(scores: Sequence[Score]) -> tuple[int, float | None, float | None]:
    """Give how many judges scored, and the means of their FAR and SAS (None of nobody)."""
    far = [score.far for score in scores if score.far is not None]
    sas = [score.sas for score in scores if score.sas is not None]
    return len(far), mean(far), mean(sas)
