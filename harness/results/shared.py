"""What the results of every protocol have: values with their n, usage, missing, spending."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

RESULTS_VERSION = 2  # the form of results.json; one that was written under an older may lack fields


class Value(msgspec.Struct):
    """A number with how many observations it rests on; null has a reason."""

    value: float | None
    n: int
    reason: str | None = None


@dataclass(frozen=True)
class Interval:
    """A lower and an upper bound; both are None, with the reason, or neither is."""

    low: float | None
    high: float | None
    level: float = 0.95
    reason: str | None = None

    @property
    def half_width(self) -> float | None:
        """Return half the distance between the bounds; None where there are none."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2


class Share(msgspec.Struct):
    """A count, and its share of n."""

    name: str
    count: int
    share: Value


class Usage(msgspec.Struct):
    """What a model was asked: calls, tokens in and out, and the calls that named no tokens."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls_without_tokens: int = 0


class Missing(msgspec.Struct):
    """How many judgements are missing, by state, against the study's limit."""

    judgements: int
    missing: int
    share: float
    limit: float
    states: dict[str, int]

    def fault(self, name: str) -> str:
        """Say that too many are missing; "" where they are not. what: how they are called."""
        if self.share <= self.limit:
            return ""
        return (
            f"{self.missing} of {self.judgements} {name} are missing "
            f"({self.share:.1%}), {self.limit:.1%} are allowed"
        )


class ModelCost(msgspec.Struct):
    """What a model was asked in all of a study, and what that cost by the price list."""

    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: Value


class Spending(msgspec.Struct):
    """The cost of a recording; null where a price or a count of tokens is unknown."""

    currency: str | None
    as_of: str | None
    models: list[ModelCost]
    total: Value
