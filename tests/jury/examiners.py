"""Stand-in judges and evaluators that answer by content: fit, and unfit in several ways."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from loopback import Answer, Loopback, Received, json_answer
from provider import Provider, chance

from harness.fitness.gold import packaged_gold
from harness.protocols.depthcharge.drill.support import own_words
from harness.results import Fitness, GoldAnswer, GoldFact, JuryCheck
from harness.study.folder import Study

GOLD = packaged_gold()
ANSWERS = {answer.text: answer for answer in GOLD.answers}
FACTS = {fact.question: fact for fact in GOLD.facts}
EXAMPLES = (
    {"far": 0.0, "far_reason": "It takes the expert for real.", "sas": 0.9, "sas_reason": "Clear."},
    {"far": 0.8, "far_reason": "The year is right.", "sas": 0.2, "sas_reason": "Badly ordered."},
    {"far": 1.0, "far_reason": "It is explained.", "sas": 1.0, "sas_reason": "One sentence."},
)
Scores = dict[str, object]


def answer_in(prompt: str) -> str:
    """Return the answer that a judge's prompt asks to score."""
    return prompt.split("Answer to score: ")[-1].strip()


def scores(far: float, sas: float) -> Scores:
    return {"far": far, "far_reason": f"I say {far:g}.", "sas": sas, "sas_reason": "So it reads."}


def fit(prompt: str) -> Scores:
    """Score near the middle of the band, as a careful reader would; others as they come."""
    answer = ANSWERS.get(answer_in(prompt))
    return scores(*(_near(answer, scale) for scale in ("far", "sas")))


def _near(answer: GoldAnswer | None, scale: str) -> float:
    band = (0.2, 0.8) if answer is None else getattr(answer, scale) or (0.1, 0.9)
    text = answer.text if answer else ""
    return round(sum(band) / 2 + (chance(scale, text) - 0.5) / 10, 3)


def by_length(prompt: str) -> Scores:
    """Score by how long the answer is, and by nothing else."""
    share = min(1.0, len(answer_in(prompt)) / 400)
    return scores(share, share)


def copying(prompt: str) -> Scores:
    """Repeat one of three worked examples, whichever comes."""
    return EXAMPLES[int(chance(prompt) * len(EXAMPLES))]


def constant(prompt: str) -> Scores:
    return scores(0.5, 0.8)


JUDGES: dict[str, Callable[[str], Scores]] = {
    "judge-fit": fit,
    "judge-length": by_length,
    "judge-copy": copying,
    "judge-constant": constant,
}


def chat(content: str, model: str) -> Answer:
    choice = {"index": 0, "message": {"content": content}, "finish_reason": "stop"}
    return json_answer({"model": model, "choices": [choice]})


def examining() -> Callable[[Received], Answer]:
    """Answer as the judges do, and as the deterministic provider for everybody else."""
    others = Provider()

    def reply(received: Received) -> Answer:
        body = received.json()
        name = body["model"]
        if name not in JUDGES:
            return others(received)
        prompt = body["messages"][-1]["content"]
        return chat(json.dumps(JUDGES[name](prompt)), name)

    return reply


def write_study(root: Path, url: str, jury: tuple[str, ...] = (*JUDGES,), extra: str = "") -> Study:
    """Write a study of one dialogue with these judges; extra: lines before the first table."""
    names = ["subject-a", "interviewer", *jury]
    models = "".join(f'[models.{n}]\nbase_url = "{url}/v1"\nmodel = "{n}"\n' for n in names)
    folder = root / "cassettes" / "exam"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(
        f'title = "exam"\nprotocol = "ddft"\nas_of = 2026-01-31\nseed = 7\n{extra}\n{models}'
        f'[ddft]\nsubjects = ["subject-a"]\ninterviewer = "interviewer"\n'
        f'jury = {json.dumps(jury)}\nconcepts = ["harm-principle"]\nlevels = [0.5]\n'
    )
    return Study(folder)


def of(check: JuryCheck, name: str) -> Fitness:
    return next(fitness for fitness in check.judges if fitness.judge == name)


# --- evaluators ---


def careful(fact: GoldFact, answer: str) -> bool:
    return answer in (fact.states, fact.rephrases)


def echoing(fact: GoldFact, answer: str) -> bool:
    """Call correct whatever repeats the question's words."""
    words = set(fact.question.casefold().rstrip("?").split())
    return len(words & set(answer.casefold().rstrip(".").split())) >= 4


EVALUATORS: dict[str, Callable[[GoldFact, str], bool]] = {
    "careful": careful,
    "echoing": echoing,
    "yes": lambda fact, answer: True,
    "no": lambda fact, answer: False,
    "rule": lambda fact, answer: bool(own_words(fact.quote, fact.question)),
}


def evaluating(kind: str, words: bool = False) -> Callable[[Received], Answer]:
    """Answer as an evaluator of this kind, in JSON or (words) in one word."""

    def reply(received: Received) -> Answer:
        body = received.json()
        tasks = [message["content"] for message in body["messages"] if message["role"] == "user"]
        task = next(text for text in reversed(tasks) if "Candidate's answer:" in text)
        fact = FACTS[task.split("Question: ")[1].split("\n")[0]]
        answer = task.split("Candidate's answer:")[1].strip()
        answer = answer.removeprefix("<answer>").split("</answer>")[0].split("\n\n")[0].strip()
        correct = EVALUATORS[kind](fact, answer)
        if words:
            return chat("Yes" if correct else "No", body["model"])
        verdict = {"correct": correct, "confidence": 0.9, "reason": f"{correct}: {answer[:20]}"}
        return chat(json.dumps({**verdict, "error_type": None}), body["model"])

    return reply


def serving(reply: Callable[[Received], Answer]) -> Loopback:
    return Loopback(reply)
