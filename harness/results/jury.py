"""Whether the judges of a study are fit."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from harness.results.shared import Interval, Value

FIT, NOT_SHOWN, UNFIT, NOT_CHECKED = "fit", "not shown fit", "unfit", "not checked"


class Phrasings(NamedTuple):
    """Judges that are one model asked in several ways, and the name of that model."""

    model: str
    judges: list[str]

    @property
    def words(self) -> str:
        """Return what the agreement of these judges is, for people."""
        return (
            f"Self-consistency of {self.model} ({len(self.judges)} phrasings), "
            "not agreement between judges"
        )


class Measure(msgspec.Struct):
    """How well a judge tells apart what it should, with its interval, and what that makes of it.

    value: an AUC or a balanced accuracy. rank: the rank correlation with the intended bands, and
    its interval, null where there is none. distinct: how many different scores it used; missing:
    how many it gave not.
    """

    name: str
    value: Value
    interval: Interval
    rank: Value
    rank_interval: Interval
    distinct: int
    missing: int
    state: str


class Habits(msgspec.Struct):
    """What a recording shows of a judge without any gold answer.

    judgements: usable ones. distinct: how many different scores (of FAR and SAS together, or of
    verdict and confidence) it used; 0 where every verdict is "wrong", which weak targets explain.
    copied: the share whose scores and reason are those of one worked example.
    """

    judgements: int
    distinct: int
    copied: Value


class Fitness(msgspec.Struct):
    """Whether one judge or evaluator is fit: FIT, NOT_SHOWN, UNFIT or NOT_CHECKED, and why."""

    judge: str
    state: str
    reasons: list[str]
    measures: list[Measure]
    habits: Habits | None

    @property
    def words(self) -> str:
        """Return the judge, what it is, and why, for people."""
        reasons = f" ({'; '.join(self.reasons)})" if self.reasons else ""
        return f"{self.judge} {self.state}{reasons}"


class JuryCheck(msgspec.Struct):
    """The fitness of every judge or evaluator of a study, and which of them are one model.

    one_model: judges that are one model asked in several ways; their agreement is self-consistency.
    """

    judges: list[Fitness]
    one_model: list[list[str]]

    @property
    def unfit(self) -> list[Fitness]:
        """Return those that are not fit, the worst first: unfit, then not shown fit."""
        return [
            fitness
            for state in (UNFIT, NOT_SHOWN)
            for fitness in self.judges
            if fitness.state == state
        ]

    @property
    def words(self) -> str:
        """Return who is not fit and why, and who is one model; "" where there is nothing to say."""
        lines = [fitness.words for fitness in self.unfit]
        for names in self.one_model:
            listed = ", ".join(names)
            lines.append(f"{listed} are one model: their agreement is self-consistency")
        return "; ".join(lines)
