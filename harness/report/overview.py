"""What was run, as tables: the study, its models as requested and as served, its rules."""

from __future__ import annotations

from collections.abc import Sequence

from harness.page.page import Section
from harness.page.replayed_study import AnyStudy, CalledModel
from harness.results import ModelCost, Value
from harness.results.digits import UNDEFINED, listed
from harness.results.table import Table, TableCell, TableColumn, columns

RUN = Section(
    "run",
    "What was run",
    "Requested is the model's name as it was sent, served what the endpoint called itself in its "
    "answers.",
)


def overview_tables(study: AnyStudy, reference: str) -> list[Table]:
    """Return which model was asked what, when, and what it cost; reference: of the protocol."""
    return [_study(study, reference), _models(study), _rules(study)]


def _study(study: AnyStudy, reference: str) -> Table:
    results, calls = study.results, study.calls
    failed = sum(call.tries for call in calls) - len(calls)
    models = results.spending.models
    prompt = sum(model.prompt_tokens for model in models)
    completion = sum(model.completion_tokens for model in models)
    rows = [
        ("protocol", f"{reference}, version {results.protocol_version}"),
        ("state of the world", study.as_of),
        ("calls made", study.period()),
        ("cells", f"{len(study.recorded)} of {len(study.cells)}"),
        ("calls", f"{len(calls):,}; tries that failed before them: {failed:,}"),
        ("tokens", f"{prompt:,} in, {completion:,} out"),
        ("cost", _cost(study)),
        ("seed", str(study.seed)),
        ("materials frozen by", f"harness {study.frozen_by}"),
    ]
    return Table("The study", columns("what", "value"), rows, section=RUN.slug)


def _cost(study: AnyStudy) -> str:
    spending = study.results.spending
    total: Value = spending.total
    if total.value is None:
        return f"{UNDEFINED} ({total.reason})"
    unit = f" {spending.currency}, prices of {spending.as_of}" if spending.currency else ""
    return f"{total.value:.4f} (n={total.n:,}){unit}"


def _models(study: AnyStudy) -> Table:
    names = columns(
        *("name", "role", "requested", "served", "family", "provider, address"),
        *(
            TableColumn(name, int)
            for name in ("calls", "without tokens", "tokens in", "tokens out")
        ),
        TableColumn("cost", Value, digits=4, has_n=False),
    )
    costs = {cost.model: cost for cost in study.results.spending.models}
    rows = [
        [*_identity(model, study), *_spent(costs.get(model.name), _tokenless(model, study))]
        for model in study.models
    ]
    return Table("Models and sources", names, rows, section=RUN.slug)


def _tokenless(model: CalledModel, study: AnyStudy) -> int:
    """Count the calls of a model whose answers name no tokens."""
    usages = [cell.usage.get(model.name) for cell in study.results.cells]
    return sum(usage.calls_without_tokens for usage in usages if usage)


def _identity(model: CalledModel, study: AnyStudy) -> list[str]:
    served = {name for cell in study.results.cells for name in cell.served.get(model.name, [])}
    return [
        model.name,
        listed(model.roles),
        model.requested,
        _served(model.requested, sorted(served)),
        model.family,
        f"{model.provider}, {model.address}",
    ]


def _served(requested: str, served: Sequence[str]) -> str:
    """Return what was served; what is not as requested stands out."""
    if not served:
        return "not named"
    differs = any(name != requested for name in served)
    return f"{listed(served)} (differs)" if differs else listed(served)


def _spent(cost: ModelCost | None, tokenless: int) -> list[TableCell]:
    if cost is None:
        return [None] * 5
    return [cost.calls, tokenless, cost.prompt_tokens, cost.completion_tokens, cost.cost]


def _rules(study: AnyStudy) -> Table:
    rows = [(name, str(choice)) for name, choice in study.results.rules.items()]
    about = "The choices that numbers depend on, as the study file makes them."
    return Table("Rules", columns("rule", "value"), rows, about, RUN.slug, is_folded=True)
