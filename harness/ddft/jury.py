"""Three judges, each on its own: ask, read leniently, ask once more, or mark as missing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.asking.models import Answer, ChatModel, Message
from harness.asking.replies import Fields, Text, Verdict, read_reply
from harness.asking.replies import Score as ScoreField
from harness.ddft.metrics import mean
from harness.results import Materials, Score

FIELDS: Fields = {
    "far": ScoreField(),
    "far_reason": Text(),
    "sas": ScoreField(),
    "sas_reason": Text(),
}
ASKS = 2
REJECTED = "rejected"


class Judgement(NamedTuple):
    """A judge's score, its last words, and the answers it gave on the way."""

    score: Score
    words: str
    answers: list[Answer]


def judge(
    model: ChatModel, call: str, question: str, materials: Materials, params: Mapping[str, object]
) -> Judgement:
    """Let one judge score one answer; a second try tells it what was wrong with the first."""
    prompts = materials.prompts
    messages = [*_opening(prompts), {"role": "user", "content": question}]
    schema = json.loads(prompts["judge_schema"])
    answers: list[Answer] = []
    for ask in range(1, ASKS + 1):
        name = call if ask == 1 else f"{call}/ask-{ask}"
        answer = model.ask(name, messages, params=params, schema=schema)
        answers.append(answer)
        verdict = _verdict(answer)
        if verdict.state in ("ok", REJECTED):  # a rejected request is rejected again
            break
        again = prompts["judge_again"].replace("{problem}", verdict.problem)
        messages = [
            *messages,
            {"role": "assistant", "content": answer.text},
            {"role": "user", "content": again},
        ]
    return Judgement(_score(verdict, len(answers)), answer.text, answers)


def _opening(prompts: Mapping[str, str]) -> list[Message]:
    messages = [{"role": "system", "content": prompts["judge_system"]}]
    for name in sorted(key for key in prompts if key.startswith("judge_example")):
        role = "assistant" if name.endswith("_reply") else "user"
        messages.append({"role": role, "content": prompts[name]})
    return messages


def _verdict(answer: Answer) -> Verdict:
    if answer.state == REJECTED:
        return Verdict(REJECTED, {}, (), "The request was rejected.")
    return read_reply(answer.text, answer.finish_reason, FIELDS)


def _score(verdict: Verdict, asks: int) -> Score:
    far, sas = verdict.values.get("far"), verdict.values.get("sas")
    if verdict.state != "ok" or not isinstance(far, float) or not isinstance(sas, float):
        return Score(None, None, verdict.state, asks, list(verdict.repaired))
    return Score(far, sas, "ok", asks, list(verdict.repaired))


def consensus(scores: Sequence[Score]) -> tuple[int, float | None, float | None]:
    """Give how many judges scored, and the means of their FAR and SAS (None of nobody)."""
    far = [score.far for score in scores if score.far is not None]
    sas = [score.sas for score in scores if score.sas is not None]
    return len(far), mean(far), mean(sas)
