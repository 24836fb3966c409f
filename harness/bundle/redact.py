"""Take out of a recording what may not be handed on, and keep account of it.

Of a passage without an open licence goes the source's answer, and every request that hands it to a
model; the span of it that a question rests on is a quotation, and stays. Of a model whose answers
may not be handed on go its answers, and in the cells it spoke in every request, since a dialogue
repeats what was said; what other models answered stays, though it may quote them. Names,
addresses, times, sizes and checksums stay. A cell that lacks a body no longer replays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness import results as results_file
from harness.bundle.licences import pages
from harness.errors import CheckFailed, UsageError
from harness.files import write_atomic
from harness.recording import cassette as cassettes
from harness.recording.cassette import Cassette
from harness.recording.interaction import Interaction
from harness.run.endpoints import with_endpoints
from harness.run.whole import LEFT_OUT, Body, LeftOut
from harness.study.folder import Study
from harness.study.one_model import one_model

ANSWER, REQUEST = "answer", "request"
Reasons = dict[tuple[int, str], str]  # why a part of a call goes, by the call's place in its cell


def leave_out(
    study: Study, fingerprint: str, *, closed_passages: bool, models: Collection[str] = ()
) -> LeftOut:
    """Rewrite a study's cassettes without what may not be handed on, and write LEFT-OUT.json.

    closed_passages: leave out passages whose licence is not known to be open. models: whose answers
    to leave out. Raises UsageError for a model that the study has not.
    """
    for name in models:
        if name not in study.file.models:
            raise UsageError(
                f"--drop {name}: {study.name} has no such model; it has "
                f"{', '.join(study.file.models)}"
            )
    left_out = LeftOut(study.name, fingerprint, [], list(dict.fromkeys(models)))
    speakers = set[str]()
    for cell in study.cells():
        interactions = list(with_endpoints(study, cell))
        names = [interaction.response.endpoint for interaction in interactions]
        speakers.update(names)
        reasons = _spoken(names, models)
        if closed_passages:
            reasons |= _closed(study, interactions, names)
        bodies = [
            _taken(cell.name, interactions[place], side, reason)
            for (place, side), reason in sorted(reasons.items())
        ]
        if bodies:
            Cassette(interactions).save(study.cassette(cell))
            left_out.bodies += bodies
    _require_gone(study, models)
    left_out.same_models = _same_models(study, left_out.models, speakers)
    if left_out.bodies:
        write_atomic(study.root / LEFT_OUT, results_file.canonical(left_out))
    return left_out


def _same_models(
    study: Study, models: Sequence[str], speakers: Collection[str]
) -> dict[str, list[str]]:
    """Return which other speakers are the same model as one that is left out, by its name."""
    served = results_file.read_results(study.results)["cells"]
    cells = [ServedNames(cell["served"]) for cell in served]
    groups = one_model(study, cells, sorted({*speakers, *models} & set(study.file.models)))
    return {
        name: same_models
        for name in models
        for group in groups
        if name in group.judges and (same_models := [o for o in group.judges if o not in models])
    }


@dataclass
class ServedNames:
    """The names that endpoints gave for their models in a cell."""

    served: dict[str, list[str]]


def _require_gone(study: Study, models: Collection[str]) -> None:
    """Raise CheckFailed unless every answer of these models is out of the files as they are now."""
    if not models:
        return
    answers = [
        interaction
        for cell in study.cells()
        for interaction in cassettes.load(study.cassette(cell))
        if interaction.response.endpoint in models
    ]
    spending = results_file.read_results(study.results)["spending"]
    counted = {row["model"]: row["calls"] for row in spending["models"]}
    for name in models:
        calls = [interaction for interaction in answers if interaction.response.endpoint == name]
        gone = sum(not interaction.body_bytes for interaction in calls)
        if gone < max(len(calls), counted.get(name, 0)):
            raise CheckFailed(
                f"--drop {name}: results.json counts {counted.get(name, 0)} calls of it, the "
                f"cassettes hold {len(calls)}, and {gone} answers could be left out. Nothing was "
                "packed."
            )


def _spoken(names: Sequence[str], models: Collection[str]) -> Reasons:
    """Return the answers of these models in a cell, and every request beside them."""
    spoke = sorted({name for name in names if name in models})
    reasons: Reasons = {}
    for place, name in enumerate(names if spoke else ()):
        reasons[place, REQUEST] = f"may repeat the words of {', '.join(spoke)}"
        if name in spoke:
            reasons[place, ANSWER] = f"the words of {name}"
    return reasons


def _closed(study: Study, interactions: Sequence[Interaction], names: Sequence[str]) -> Reasons:
    """Return the look-ups with passages that are not open, and the requests that hand them on.

    A look-up's calls are named LOOK-UP/step, and what is asked of a model about its passages
    LOOK-UP/.../question.
    """
    reasons: Reasons = {}
    under: dict[str, str] = {}
    for place, interaction in enumerate(interactions):
        if reason := _closed_passage(study, interaction, names[place]):
            reasons[place, ANSWER] = reason
            under[(interaction.response.call or "").rpartition("/")[0]] = reason
    for place, interaction in enumerate(interactions):
        for call in under.keys() & _parents(interaction.response.call or ""):
            if names[place] not in study.file.sources:
                reasons[place, REQUEST] = f"hands on {under[call]}"
    return reasons


def _closed_passage(study: Study, interaction: Interaction, name: str) -> str:
    """Say which passage of a look-up's answer is not open; "" for none."""
    if source := study.file.sources.get(name):
        for page in pages(source.kind, interaction):
            if not page.is_open:
                return f"a passage of {name}, licence {page.licence}"
    return ""


def _parents(call: str) -> set[str]:
    steps = call.split("/")
    return {"/".join(steps[:size]) for size in range(1, len(steps))}


def _taken(cell: str, interaction: Interaction, side: str, reason: str) -> Body:
    """Take one body out of an interaction, and give the account of it."""
    request, response = interaction.request, interaction.response
    data = interaction.body_bytes if side == ANSWER else interaction.request_bytes
    if side == ANSWER:
        response.body = {"string": ""}
        response.chunks = None if response.chunks is None else []
    else:
        request.body, response.request_base64 = "", None
    call = cassettes.label_of(interaction)
    digest = hashlib.sha256(data).hexdigest()
    return Body(cell, call, side, request.uri, len(data), digest, reason)
