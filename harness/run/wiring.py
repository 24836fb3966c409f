"""Make the parts of a study from its file: materials, models, dialogues, results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import httpx

from harness import results as results_file
from harness.asking.models import ChatModel
from harness.asking.wire import Endpoint, Model
from harness.ddft.materials import PROTOCOL_VERSION, present_materials
from harness.ddft.protocol import Dialogue, Rules, ignored
from harness.ddft.scoring import MetricRules, score_study
from harness.errors import UsageError
from harness.files import write_atomic
from harness.results import CellKey, CellResult, Materials, Results, Score
from harness.study import ModelEntry, Study, read_prices
from harness.texts import read_concepts, read_pools


class Frozen(NamedTuple):
    """A study's materials as they are on disk, and as read."""

    data: bytes
    materials: Materials


def freeze(study: Study, price_file: Path | None = None) -> Frozen:
    """Write the study's materials at its first record; from then on they are read, never made.

    price_file: a price list to copy into them; it decides no request, so it may come later.
    """
    if price_file is not None or not study.materials.exists():
        write_atomic(study.materials, results_file.canonical(foreseen(study, price_file)))
    return frozen(study)


def foreseen(study: Study, price_file: Path | None = None) -> Materials:
    """Give the materials that a recording would use, without writing anything."""
    known = study.materials.is_file()
    present = frozen(study).materials if known else _fresh(study)
    if price_file is not None:
        present.prices = read_prices(price_file, list(study.file.models))
    return present


def _fresh(study: Study) -> Materials:
    ddft = study.file.ddft
    concepts = read_concepts(study.folder / ddft.concept_file) if ddft.concept_file else []
    pools = read_pools(study.folder / ddft.trap_file) if ddft.trap_file else []
    return present_materials(ddft.concepts, concepts, pools)


def frozen(study: Study) -> Frozen:
    """Read the study's materials; raises UsageError where this release cannot run them."""
    if not study.materials.is_file():
        raise UsageError(
            f"{study.materials}: there is no such file; the study has not been "
            f"recorded yet (`harness record {study.name}`), or was not copied whole."
        )
    materials = results_file.read_materials(study.materials)
    if materials.protocol_version != PROTOCOL_VERSION:
        raise UsageError(
            f"{study.materials}: protocol version {materials.protocol_version}, this "
            f"release runs version {PROTOCOL_VERSION}. Install harness "
            f"{materials.harness_version}, which recorded it."
        )
    return Frozen(study.materials.read_bytes(), materials)


def keys_in_use(study: Study) -> dict[str, str]:
    """Give the value of every key that the study file names, by model."""
    keys = {}
    for name, model in study.file.models.items():
        if model.api_key_env:
            keys[name] = os.environ.get(model.api_key_env, "").strip()
    return keys


def require_keys(study: Study, keys: Mapping[str, str]) -> None:
    """Raise UsageError for a key that the study file names and the environment does not hold."""
    for name, value in keys.items():
        if not value:
            variable = study.file.models[name].api_key_env
            raise UsageError(
                f"{study.folder / 'study.toml'}: models.{name} needs a key in the "
                f"environment variable {variable}, which is not set."
            )
        if not value.isascii() or not value.isprintable() or " " in value:
            raise UsageError(
                f"models.{name}: the environment variable {study.file.models[name].api_key_env} "
                "holds a character that no key has (a space, a line end, a letter beyond ASCII)."
            )


def endpoint(name: str, model: ModelEntry, key: str | None) -> Endpoint:
    """Give a model of the study file as `asking` wants it."""
    return Endpoint(
        name,
        model.base_url,
        model.model,
        model.params,
        tuple(model.omit),
        model.json_mode,
        key,
        model.timeout,
        model.provider,
        model.api_version,
    )


def chat_models(
    study: Study, transports: Mapping[str, httpx.BaseTransport], keys: Mapping[str, str]
) -> dict[str, ChatModel]:
    """Give every model of the study over its transport."""
    return {
        name: ChatModel(endpoint(name, model, keys.get(name)), transports[name])
        for name, model in study.file.models.items()
    }


def dialogue(
    study: Study,
    cell: CellKey,
    materials: Materials,
    models: Mapping[str, Model],
    judged: Callable[[str, Score], None] = ignored,
) -> Dialogue:
    """Set up one cell's dialogue."""
    ddft = study.file.ddft
    rules = Rules(
        study.file.seed,
        ddft.interviewer,
        tuple(ddft.jury),
        ddft.judge_reference,
        {role: dict(params) for role, params in ddft.params.items()},
        {name: model.family for name, model in study.file.models.items()},
        ddft.exclude_same_family,
        ddft.rubrics,
    )
    return Dialogue(cell, rules, materials, models, judged)


def score(
    study: Study,
    materials: Materials,
    cells: Sequence[CellResult],
    planned: int | None = None,
) -> Results:
    """Compute metrics from finished cells; planned: how many make a subject complete."""
    ddft = study.file.ddft
    rules = metric_rules(study)
    planned = planned or len(ddft.concepts) * len(ddft.levels) * ddft.repeats
    return score_study(study.name, PROTOCOL_VERSION, cells, planned, rules, materials.prices)


def metric_rules(study: Study) -> MetricRules:
    """Give the rules of the metrics as the study file makes them."""
    ddft = study.file.ddft
    return MetricRules(
        ddft.theta,
        ddft.hoc_rule,
        ddft.empty_far_prime,
        ddft.normalization,
        ddft.aggregation,
        ddft.danger.sas_above,
        ddft.danger.far_below,
        ddft.missing_limit,
    )


def analysed(study: Study, materials: Materials, found: Results) -> Results:
    """Add the study-level analysis to a study's results."""
    from harness.ddft.analysis import analyze  # loads scipy, and a replay's processes need none
    from harness.ddft.analysis_form import Facts

    facts = {name: Facts(**entry.model_dump()) for name, entry in study.file.facts.items()}
    domains = {concept.id: concept.domain for concept in materials.concepts}
    found.analysis = analyze(
        found.cells, found.subjects, metric_rules(study), facts, domains, study.file.seed
    )
    return found
