"""Why replies were unusable and what to change: said while recording, and of an invalid study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.asking.models.provider import provider_of, value_at
from harness.asking.replies.reply_count import ReplyOutcome
from harness.protocols.registry import protocol_of
from harness.results import Replies
from harness.results.answers import CUT_OFF_THINKING, TRUNCATED
from harness.study.folder import Study

READ_THEM = "read them with `harness show`"
FORMS = (
    "no_json",
    "wrong_shape",
    "missing_field",
    "type_error",
    "out_of_range",
    "non_finite",
    "ambiguous",
)
ADVICE = {
    "refusal": "another model or another provider may not decline",
    "filtered": "set the provider's content filter, or take another provider",
    "rejected": "`harness check` names the parameter; see `omit` and `params`",
    "failed": "`harness check` asks the source once more",
}


def cause_of(study: Study, reply: ReplyOutcome) -> str:
    """Return what made a reply unusable, and what to change."""
    return _cause(study, reply.role, reply.model, reply.state)


def causes(study: Study, results: Any) -> list[str]:
    """Return why a study is invalid, a line for each model and cause, and how to go on."""
    lines = [line for counted in results.fallbacks.replies for line in _of(study, counted)]
    lines += protocol_of(study).stalls(results)
    return [*lines, *_next_steps(study)] if lines else []


def _of(study: Study, counted: Replies) -> Iterator[str]:
    replies = counted.usable + sum(counted.unusable.values())
    for state, count in counted.unusable.items():
        cause = _cause(study, counted.role, counted.model, state)
        yield f"{counted.model} ({counted.role}), {count} of {replies} replies: {cause}."


def _cause(study: Study, role: str, model: str, state: str) -> str:
    words = state.replace("_", " ")
    if state in (TRUNCATED, CUT_OFF_THINKING):
        return f"{words} {_token_limit(study, role, model)}"
    if state in FORMS and study.file.models[model].json_mode != "schema":
        return f'{words}: set json_mode = "schema" in [models.{model}], or {READ_THEM}'
    return f"{words}: {ADVICE.get(state, READ_THEM)}"


def _token_limit(study: Study, role: str, model: str) -> str:
    """Return at how many tokens a role's replies of a model end, and where that is set."""
    entry, plan = study.file.models[model], study.file.protocol
    of_model, of_role = f"[models.{model}.params]", f"[{plan}.params.{role}]"
    provider = provider_of(entry.provider)
    role_params = provider.parameters(study.file.params_of_role.get(role, {}))
    for name in (name for name in provider.limit_names if name not in entry.omit):
        for table, params in ((of_model, entry.params), (of_role, role_params)):
            if (limit := value_at(params, name)) is not None:
                return f"at {limit} tokens: raise {table} {name}"
    if provider.default_limit is not None:
        return f"at {provider.default_limit} tokens, the default: set {of_role} max_tokens"
    return f"at the endpoint's own limit: set {of_role} max_tokens"


def _next_steps(study: Study) -> list[str]:
    """Return how to go on: what is recorded stays under the rules it was recorded with."""
    steps = [
        "Next: change study.toml in a new folder under cassettes/ (study.toml alone), and "
        "`harness record` that; try one cell first."
    ]
    if protocol_of(study).CAN_REJUDGE:
        steps.append(
            f"Where only judges failed: `harness rejudge {study.name} --jury A,B,C` has the "
            "recorded answers judged by others (--models FILE for new [models.NAME] tables)."
        )
    return steps
