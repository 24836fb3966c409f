"""What models were asked, and what a recording cost by its answers' tokens and a price list."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from typing import Protocol

from harness.asking.models.model import Answer
from harness.results import ModelCost, Price, Prices, Spending, Usage, Value


class Used(Protocol):
    """Whatever says what its models were asked."""

    @property
    def usage(self) -> Mapping[str, Usage]:
        """Return the usage by model."""


class UsageCount:
    """Count what models are asked and what they call themselves, from any thread."""

    def __init__(self) -> None:
        self._usage: dict[str, Usage] = {}
        self._served: dict[str, set[str]] = {}
        self._guard = threading.Lock()

    def add(self, name: str, answer: Answer) -> None:
        """Count one answer."""
        with self._guard:
            if answer.served:
                self._served.setdefault(name, set()).add(answer.served)
            usage = self._usage.setdefault(name, Usage())
            usage.calls += 1
            if answer.tokens is None:
                usage.calls_without_tokens += 1
            else:
                usage.prompt_tokens += answer.tokens[0]
                usage.completion_tokens += answer.tokens[1]

    @property
    def usage(self) -> dict[str, Usage]:
        """Return what each model was asked, by name."""
        return dict(sorted(self._usage.items()))

    @property
    def served(self) -> dict[str, list[str]]:
        """Return the names that each endpoint gave for its model."""
        return {name: sorted(names) for name, names in sorted(self._served.items())}


def spending(cells: Sequence[Used], prices: Prices | None) -> Spending:
    """Sum calls, tokens and cost by model; unknown is null with its reason, never 0."""
    usage: dict[str, Usage] = {}
    for cell in cells:
        for name, used in cell.usage.items():
            _add(usage.setdefault(name, Usage()), used)
    listed = prices.models if prices else {}
    models = [_model_cost(name, usage[name], listed.get(name)) for name in sorted(usage)]
    return Spending(
        prices.currency if prices else None,
        prices.as_of if prices else None,
        models,
        _total([model.cost for model in models]),
    )


def _add(total: Usage, used: Usage) -> None:
    total.calls += used.calls
    total.prompt_tokens += used.prompt_tokens
    total.completion_tokens += used.completion_tokens
    total.calls_without_tokens += used.calls_without_tokens


def _model_cost(name: str, usage: Usage, price: Price | None) -> ModelCost:
    counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    if price is None:
        return ModelCost(name, *counts, Value(None, usage.calls, "no price"))
    if usage.calls_without_tokens:
        reason = f"{usage.calls_without_tokens} answers name no tokens"
        return ModelCost(name, *counts, Value(None, usage.calls, reason))
    return ModelCost(name, *counts, Value(price.of(*counts[1:]), usage.calls))


def _total(costs: Sequence[Value]) -> Value:
    values = [cost.value for cost in costs if cost.value is not None]
    calls = sum(cost.n for cost in costs)
    if len(values) < len(costs):
        return Value(None, calls, f"the cost of {len(costs) - len(values)} models is unknown")
    return Value(math.fsum(values), calls)
