"""What was run: the study, its models as requested and as served, its rules."""

from __future__ import annotations

from harness.report.digits import Notes, listed
from harness.report.form import Call, ModelAsked, Studied
from harness.report.section import Grid, Section
from harness.results import ModelCost

PROTOCOLS = {
    "ddft": "DDFT, the Drill-Down and Fabricate Test (arXiv 2512.23850)",
    "depthcharge": "DepthCharge (arXiv 2603.23514)",
}


def what_was_run(studied: Studied) -> Section:
    """Say what was asked of whom, when, and what it cost."""
    about = (
        "Requested is the model's name as it was sent, served what the endpoint called itself in "
        "its answers."
    )
    return Section(
        "run", "What was run", about, [_study(studied), _models(studied), _rules(studied)]
    )


def calls_of(studied: Studied) -> list[Call]:
    """Give every recorded call."""
    return [call for cassette in studied.cassettes.values() for call in cassette.calls]


def period(studied: Studied, letters: int | None = None) -> str:
    """Give when the first and the last call were made, as so many letters of ISO 8601 say it."""
    dates = {call.recorded_at[:letters] for call in calls_of(studied) if call.recorded_at}
    first, last = min(dates, default="an unknown date"), max(dates, default="")
    return f"{first} to {last}" if last > first else first


def _study(studied: Studied) -> Grid:
    found, calls = studied.found, calls_of(studied)
    notes = Notes()
    tries = sum(call.tries for call in calls) - len(calls)
    tokens = [(model.prompt_tokens, model.completion_tokens) for model in found.spending.models]
    prompt, completion = (sum(column) for column in zip(*tokens, strict=True)) if tokens else (0, 0)
    cost = notes.number(found.spending.total, 4)
    unit = f" {found.spending.currency}, prices of {found.spending.as_of}"
    rows = [
        ("protocol", f"{PROTOCOLS[found.protocol]}, version {found.protocol_version}"),
        ("state of the world", studied.as_of),
        ("calls made", period(studied)),
        ("cells", f"{len(studied.cassettes)} of {len(studied.cells)}"),
        ("calls", f"{len(calls):,}; tries that failed before them: {tries:,}"),
        ("tokens", f"{prompt:,} in, {completion:,} out"),
        ("cost", cost + (unit if found.spending.currency else "")),
        ("seed", str(studied.seed)),
        ("materials frozen by", f"harness {studied.frozen_by}"),
    ]
    return Grid("The study", ("what", "value"), rows, notes=notes.said)


def _models(studied: Studied) -> Grid:
    notes, spent = Notes(), {model.model: model for model in studied.found.spending.models}
    columns = (
        "name", "role", "requested", "served", "family", "provider, address", "calls", "tokens in",
        "tokens out", "cost",
    )  # fmt: skip
    rows = [
        [*_who(model, studied), *_spent(spent.get(model.name), _unnamed(model, studied), notes)]
        for model in studied.models
    ]
    return Grid("Models and sources", columns, rows, notes=notes.said)


def _unnamed(model: ModelAsked, studied: Studied) -> int:
    """Count the calls of a model whose answers name no tokens."""
    used = [cell.usage.get(model.name) for cell in studied.found.cells]
    return sum(usage.calls_without_tokens for usage in used if usage)


def _who(model: ModelAsked, studied: Studied) -> list[str]:
    served = sorted(
        {name for cell in studied.found.cells for name in cell.served.get(model.name, [])}
    )
    where = f"{model.provider}, {model.address}"
    return [
        model.name,
        listed(model.roles),
        model.requested,
        _served(model.requested, served),
        model.family,
        where,
    ]


def _served(requested: str, served: list[str]) -> str:
    """Give what was served; what is not as requested stands out."""
    if not served:
        return "not named"
    others = [name for name in served if name != requested]
    return f"{listed(served)} (differs)" if others else listed(served)


def _spent(cost: ModelCost | None, unnamed: int, notes: Notes) -> list[str]:
    if cost is None:
        return ["", "", "", ""]
    counts = [f"{count:,}" for count in (cost.calls, cost.prompt_tokens, cost.completion_tokens)]
    if unnamed:
        counts[0] += f" ({unnamed:,} name no tokens)"
    return [*counts, notes.bare(cost.cost, 4)]


def _rules(studied: Studied) -> Grid:
    rows = [(name, str(value)) for name, value in studied.found.rules.items()]
    about = "The choices that numbers depend on, as the study file makes them."
    return Grid("Rules", ("rule", "value"), rows, about=about, folded=True)
