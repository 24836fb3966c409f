"""What a judge's scores of a gold set, and its habits in a recording, make of it.

A judge is unfit where it always says the same, where it mostly repeats an example of its prompt, or
where the interval of a measure lies below LEAST; it is not shown fit where the interval includes
LEAST, and where a measure is undefined.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.results import (
    Fitness,
    GoldAnswer,
    GoldFact,
    Habits,
    Interval,
    Measure,
    Score,
    Value,
)
from harness.results.gold import FACT_ANSWERS
from harness.results.jury import FIT, NOT_CHECKED, NOT_SHOWN, UNFIT
from harness.stats.correlation import spearman, spearman_interval
from harness.stats.separation import Separation, auc, balanced_accuracy

LEAST = 0.75
COPIES_ABOVE = 0.5  # share of judgements that are one of the prompt's examples
FEWEST_JUDGEMENTS = 10  # of a recording, before sameness says anything
ON_TOPIC, OFF_TOPIC = ("good", "partly", "wrong"), ("off topic", "garbled")
ORDER = [UNFIT, NOT_SHOWN, FIT, NOT_CHECKED]
VERDICTS = ("correct", "wrong", "unsupported")
NO_RANK = Value(None, 0, "there are no bands to rank")


def judge_fitness(
    judge: str, answers: Sequence[GoldAnswer], scores: Sequence[Score], habits: Habits | None
) -> Fitness:
    """Return what a judge's scores of gold answers make of it; scores in the answers' order."""
    placed = list(zip(answers, scores, strict=True))
    facts = [(a, s) for a, s in placed if a.kind in ON_TOPIC]
    stances = [(a, s) for a, s in placed if a.kind in ("accepts", "rejects")]
    form = [(a, s) for a, s in placed if a.kind in (*ON_TOPIC, *OFF_TOPIC)]
    measures = [
        _graded("FAR, good against wrong", facts, ("good",), ("wrong",), "far"),
        _graded(
            "FAR, rejects against accepts the trap", stances, ("rejects",), ("accepts",), "far"
        ),
        _graded("SAS, on against off topic or garbled", form, ON_TOPIC, OFF_TOPIC, "sas"),
    ]
    return fitness(judge, measures, habits)


def evaluator_fitness(
    evaluator: str, facts: Sequence[GoldFact], verdicts: Sequence[str], habits: Habits | None
) -> Fitness:
    """Return what an evaluator's verdicts on gold facts make of it.

    Its own verdicts count: an "unsupported" was its "correct", which only the rule of words caught.
    """
    kinds = [kind for _ in facts for kind in FACT_ANSWERS]
    placed = list(zip(kinds, verdicts, strict=True))
    usable = [(kind, verdict != "wrong") for kind, verdict in placed if verdict in VERDICTS]
    right = [correct for kind, correct in usable if kind in ("states", "rephrases")]
    wrong = [not correct for kind, correct in usable if kind in ("misses", "echoes")]
    accuracy = balanced_accuracy(sum(right), len(right), sum(wrong), len(wrong))
    missing = len(placed) - len(usable)
    distinct = len({correct for _, correct in usable})
    measure = _measure("balanced accuracy", accuracy, NO_RANK, distinct, missing)
    return fitness(evaluator, [measure], habits)


def without_gold(judge: str, habits: Habits) -> Fitness:
    """Return what a recording alone makes of a judge: NOT_CHECKED unless its habits are bad."""
    return fitness(judge, [], habits)


def fitness(judge: str, measures: list[Measure], habits: Habits | None) -> Fitness:
    """Return a judge's state: the worst of its measures, and of its habits in a recording.

    The reasons are those for this state alone.
    """
    habit = _bad_habit(habits) if habits is not None else ""
    states = [*(measure.state for measure in measures), *([UNFIT] if habit else [])]
    state = min(states, key=ORDER.index, default=NOT_CHECKED)
    reasons = [_reason(measure) for measure in measures if measure.state == state != FIT]
    if habit:
        reasons.append(habit)
    return Fitness(judge, state, reasons, measures, habits)


def _graded(
    name: str,
    placed: Sequence[tuple[GoldAnswer, Score]],
    high: Sequence[str],
    low: Sequence[str],
    scale: str,
) -> Measure:
    scored = [(a, n) for a, s in placed if (n := getattr(s, scale)) is not None]
    separation = auc(
        [number for answer, number in scored if answer.kind in high],
        [number for answer, number in scored if answer.kind in low],
    )
    bands = [(band, n) for a, n in scored if (band := getattr(a, scale)) is not None]
    rank = spearman([sum(band) / 2 for band, _ in bands], [n for _, n in bands]).coefficient
    distinct = len({number for _, number in scored})
    return _measure(name, separation, rank, distinct, len(placed) - len(scored))


def _measure(
    name: str, separation: Separation, rank: Value, distinct: int, missing: int
) -> Measure:
    return Measure(
        name=name,
        value=separation.value,
        interval=separation.interval,
        rank=rank,
        rank_interval=_rank_interval(rank),
        distinct=distinct,
        missing=missing,
        state=_state(separation.interval, distinct),
    )


def _rank_interval(rank: Value) -> Interval:
    if rank.value is None:
        return Interval(None, None, reason=rank.reason)
    return spearman_interval(rank.value, rank.n)


def _state(interval: Interval, distinct: int) -> str:
    if interval.low is None or interval.high is None:
        return NOT_SHOWN
    if distinct == 1 or interval.high < LEAST:
        return UNFIT
    return FIT if interval.low >= LEAST else NOT_SHOWN


def _reason(measure: Measure) -> str:
    """Return why a measure makes a judge less than fit."""
    if measure.value.value is None:
        return f"{measure.name}: {measure.value.reason}"
    estimate = (
        f"{measure.value.value:.2f} [{measure.interval.low:.2f}, {measure.interval.high:.2f}]"
    )
    if measure.distinct == 1:
        return f"{measure.name}: {estimate}, it always says the same"
    return f"{measure.name}: {estimate}, {LEAST} is needed"


def _bad_habit(habits: Habits) -> str:
    if habits.judgements < FEWEST_JUDGEMENTS:
        return ""
    if habits.distinct == 1:
        return f"all {habits.judgements} judgements of the recording are the same"
    copied = habits.copied.value
    if copied is not None and copied > COPIES_ABOVE:
        return f"{copied:.0%} of its judgements repeat an example of its prompt, reason and all"
    return ""
