"""What came back from a call to a model: the kinds of answers, and how many there were of each.

The one table of kinds; harness.asking.models.answers has the one function that tells them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

OK, TRUNCATED, REFUSED = "ok", "truncated", "refused"
NO_REPLY, CUT_OFF_THINKING, EMPTY = "no_reply", "cut_off_thinking", "empty"
FILTERED, REJECTED = "filtered", "rejected"


class Kind(NamedTuple):
    """What an answer is, in words for people; is_missing: whether there is nothing to judge."""

    words: str
    is_missing: bool


KINDS: Mapping[str, Kind] = {
    OK: Kind("answered", is_missing=False),
    TRUNCATED: Kind("cut off with text", is_missing=False),  # by the token limit
    REFUSED: Kind("refused in words", is_missing=False),  # the model's own refusal
    NO_REPLY: Kind("no reply", is_missing=True),  # no reply of this provider could be read
    CUT_OFF_THINKING: Kind("cut off while thinking", is_missing=True),  # or thinking without end
    EMPTY: Kind("empty", is_missing=True),  # ended of itself, without a text
    FILTERED: Kind("filtered", is_missing=True),  # by the provider, whatever form that has
    REJECTED: Kind("rejected", is_missing=True),  # a request that the endpoint does not take
}


class Answers(msgspec.Struct, frozen=True):
    """How many answers there are, and how many of them are missing, by kind.

    of: the model that was examined, "" for all of them. kinds: every kind with its count, the
    missing ones and the others; share: of the missing ones.
    """

    of: str
    answers: int
    missing: int
    share: float
    kinds: dict[str, int]
    missing_kinds: dict[str, int]

    @property
    def words(self) -> str:
        """Return the missing answers in words; "0" where there are none."""
        return missing_words(self.missing_kinds)

    @property
    def judged_kinds(self) -> dict[str, int]:
        """Return by kind the answers with nothing to judge that were judged all the same."""
        lacking = {kind: n for kind, n in self.kinds.items() if kind in KINDS}
        judged = {kind: n - self.missing_kinds.get(kind, 0) for kind, n in lacking.items()}
        return {kind: n for kind, n in judged.items() if n and KINDS[kind].is_missing}

    def fault(self, limit: float) -> str:
        """Return what is wrong where more than this share is missing; "" where it is not."""
        if self.share <= limit:
            return ""
        whose = f" of {self.of}" if self.of else ""
        return (
            f"{self.missing} of {self.answers} answers{whose} are missing ({self.share:.1%}: "
            f"{listed_kinds(self.missing_kinds)}), {limit:.1%} are allowed"
        )


class AnswerCounts(msgspec.Struct, frozen=True):
    """The answers of all examined models together, and of each, in the order of their names."""

    whole: Answers
    models: list[Answers]

    def faults(self, limit: float) -> list[str]:
        """Return what is wrong by the study's limit, over all models and for each of them."""
        several = [self.whole] if len(self.models) > 1 else []
        faults = [counted.fault(limit) for counted in (*several, *self.models)]
        return [fault for fault in faults if fault]


def count_answers(answers: Iterable[tuple[str, str, bool]]) -> AnswerCounts:
    """Return the counts of answers, each given by its model, its kind and whether it is missing."""
    listed = list(answers)
    names = sorted({model for model, _, _ in listed})
    models = [_counted(name, [answer for answer in listed if answer[0] == name]) for name in names]
    return AnswerCounts(whole=_counted("", listed), models=models)


def _counted(of: str, listed: list[tuple[str, str, bool]]) -> Answers:
    kinds = Counter(kind for _, kind, _ in listed)
    lost = Counter(kind for _, kind, is_missing in listed if is_missing)
    missing = lost.total()
    return Answers(
        of=of,
        answers=len(listed),
        missing=missing,
        share=missing / len(listed) if listed else 0.0,
        kinds=dict(sorted(kinds.items())),
        missing_kinds=dict(sorted(lost.items())),
    )


NO_ANSWERS = count_answers([])


def missing_words(kinds: Mapping[str, int]) -> str:
    """Return how many answers are missing, and in brackets how many of which kind."""
    total = sum(kinds.values())
    return f"{total} ({listed_kinds(kinds)})" if total else "0"


def answer_words(missing: Mapping[str, int], judged: Mapping[str, int]) -> str:
    """Return how many answers are missing, and how many without a text were judged, if any."""
    return ", ".join(
        filter(None, [f"missing answers {missing_words(missing)}", judged_words(judged)])
    )


def judged_words(kinds: Mapping[str, int]) -> str:
    """Return how many answers that are none were judged as answers, by kind; "" for none."""
    if not kinds:
        return ""
    return f"{listed_kinds(kinds)} answer{'s' * (sum(kinds.values()) != 1)} judged"


def listed_kinds(kinds: Mapping[str, int]) -> str:
    """Return counts by kind as a list, in the order of the table."""
    order = [kind for kind in KINDS if kind in kinds] + sorted(set(kinds) - set(KINDS))
    return ", ".join(f"{kinds[kind]} {words_of(kind)}" for kind in order)


def words_of(kind: str) -> str:
    """Return a kind in words; one that the table does not have as it is."""
    return KINDS[kind].words if kind in KINDS else kind
