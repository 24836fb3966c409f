"""What a recording cost, from the tokens that its answers name and the study's price list."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.results import CellResult, ModelCost, Price, Prices, Spending, Usage, Value


def spending(cells: Sequence[CellResult], prices: Prices | None) -> Spending:
    """Sum calls, tokens and cost by model; unknown is null with its reason, never 0."""
    usage: dict[str, Usage] = {}
    for cell in cells:
        for name, part in cell.usage.items():
            _add(usage.setdefault(name, Usage()), part)
    known = prices.models if prices else {}
    models = [_model_cost(name, usage[name], known.get(name)) for name in sorted(usage)]
    return Spending(
        prices.currency if prices else None,
        prices.as_of if prices else None,
        models,
        _total([model.cost for model in models]),
    )


def _add(total: Usage, part: Usage) -> None:
    total.calls += part.calls
    total.prompt_tokens += part.prompt_tokens
    total.completion_tokens += part.completion_tokens
    total.calls_without_tokens += part.calls_without_tokens


def _model_cost(name: str, usage: Usage, price: Price | None) -> ModelCost:
    counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    if price is None:
        return ModelCost(name, *counts, Value(None, usage.calls, "no price"))
    if usage.calls_without_tokens:
        reason = f"{usage.calls_without_tokens} answers name no tokens"
        return ModelCost(name, *counts, Value(None, usage.calls, reason))
    return ModelCost(name, *counts, Value(price.of(*counts[1:]), usage.calls))


def _total(costs: Sequence[Value]) -> Value:
    known = [cost.value for cost in costs if cost.value is not None]
    calls = sum(cost.n for cost in costs)
    if len(known) < len(costs):
        return Value(None, calls, f"the cost of {len(costs) - len(known)} models is unknown")
    return Value(math.fsum(known), calls)
