"""A judge that says one word at a time: is a sentence true, a claim accepted, an answer on topic?

Graded scores from the probability of a word: G-Eval (Liu et al. 2023, section 2.3) weighs scores by
token probabilities, and Kadavath et al. 2022 read P(True) of a model's own answers; FActScore (Min
et al. 2023) is the mean over single statements.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.asking.models.model import Message, Model
from harness.asking.models.prompts import Prompts
from harness.asking.relevance import content_words, overlap
from harness.asking.replies.one_word import Choice, OneWord, ask_word
from harness.asking.sentences import sentences
from harness.protocols.ddft.dialogue.examined import TRAP_TURN, Bench, Examined, JudgedAnswer
from harness.protocols.ddft.metrics.formulas import mean
from harness.results import Score

MOST_SENTENCES = 8  # of an answer; what comes after them is not read
BY_WORD = "word_alone"  # flag of a score: an endpoint gave no probabilities
LIST_MARK = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+")
CUT = "first_sentences"  # flag of a score: the answer has more sentences than were read


class _Asked(NamedTuple):
    """A question by its place in the call's name, and what came back; None: it was not sent."""

    place: str
    about: str
    word: OneWord | None

    @property
    def share(self) -> float | None:
        return 0.0 if self.word is None else self.word.share


class _Judge(NamedTuple):
    """One judge at one answer."""

    model: Model
    call: str
    examined: Examined
    bench: Bench
    prompts: Prompts

    def ask(self, place: str, about: str, prompt: str, words: tuple[str, str]) -> _Asked:
        """Ask one question; `about` is the sentence that it is about, if it is about one."""
        examined = self.examined
        filled = self.prompts.filled(
            prompt,
            concept=examined.concept.name,
            text=examined.concept.text,
            question=examined.question,
            answer=examined.answer or "(no answer)",
            expert=examined.expert,
            claim=examined.claim,
            **({"sentence": about} if about else {}),
        )
        system: Message = {"role": "system", "content": self.prompts["verdict_system"]}
        turns = [*self.prompts.examples(f"{prompt}_example"), {"role": "user", "content": filled}]
        again = self.prompts.filled("verdict_again", first=words[0], second=words[1])
        choice = Choice(*words, again, self.bench.params)
        return _Asked(
            place, about, ask_word(self.model, f"{self.call}/{place}", [system, *turns], choice)
        )


def judge_by_verdicts(model: Model, call: str, examined: Examined, bench: Bench) -> JudgedAnswer:
    """Have one judge say one word a question about an answer, and score it by them.

    FAR of turns 1 to 3 is the mean over the answer's sentences of P(yes) / (P(yes) + P(no)) that
    the sentence is true, the reference first; an answer without a statement has 0. FAR of turns 4
    and 5 is the same share for "reject" against "accept" of the invented claim. SAS is the lower
    of two shares: that the answer is in clear sentences, and that it is about what was asked.
    """
    judge = _Judge(model, call, examined, bench, Prompts(bench.prompts, bench.version))
    facts, flags = _facts(judge)
    form = [
        judge.ask("clear", "", "verdict_clear", ("Yes", "No")),
        judge.ask("topic", "", "verdict_topic", ("Yes", "No")),
    ]
    verdicts = [*facts, *form]
    words = [verdict.word for verdict in verdicts if verdict.word is not None]
    states = [word.state for word in words if word.state != "ok"]
    if any(word.by_word for word in words):
        flags.append(BY_WORD)
    score = Score(
        far=_mean(facts) if not states else None,
        sas=min(verdict.share or 0.0 for verdict in form) if not states else None,
        state=states[0] if states else "ok",
        asks=max(len(word.answers) for word in words),
        repaired=flags,
    )
    answers = [answer for word in words for answer in word.answers]
    return JudgedAnswer(score, "\n".join(map(_shown, verdicts)), answers, len(answers) - len(words))


def _facts(judge: _Judge) -> tuple[list[_Asked], list[str]]:
    examined = judge.examined
    if examined.turn >= TRAP_TURN:
        return [judge.ask("stance", "", "verdict_stance", ("Reject", "Accept"))], []
    prompt = "verdict_sentence" if examined.reference else "verdict_sentence_alone"
    stated = statements(examined.answer)
    besides = f"{examined.question} {examined.concept.name}"
    verdicts = [
        judge.ask(f"sentence-{number}", sentence, prompt, ("Yes", "No"))
        if says_something(sentence, besides)
        else _Asked(f"sentence-{number}", sentence, None)
        for number, sentence in enumerate(stated[:MOST_SENTENCES], 1)
    ]
    return verdicts, [CUT] if len(stated) > MOST_SENTENCES else []


def statements(answer: str) -> list[str]:
    """Return the sentences of an answer, line by line, each once: no questions, no list marks."""
    lines = (LIST_MARK.sub("", " ".join(line.split())) for line in answer.splitlines())
    every = [sentence for line in lines for sentence in sentences(line)]
    return list(dict.fromkeys(sentence for sentence in every if not sentence.endswith("?")))


def says_something(sentence: str, besides: str) -> bool:
    """Tell whether a sentence has a content word that does not stand in `besides`, in any form."""
    words = content_words(sentence)
    return overlap(words, besides) < len(words)


def _mean(facts: list[_Asked]) -> float:
    return mean([fact.share or 0.0 for fact in facts]) or 0.0


def _shown(verdict: _Asked) -> str:
    share = "missing" if verdict.share is None else f"{verdict.share:.3f}"
    return f"{verdict.place}: {share if verdict.word else 'says nothing'} {verdict.about}".rstrip()
