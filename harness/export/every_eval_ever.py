"""A study as records of Every Eval Ever: one JSON file a model, every metric with its meaning.

The form is schema 0.3.0 of github.com/evaleval/every_eval_ever (eval.schema.json). It wants a
number for every score, so metrics that are undefined are listed with their reasons under
source_metadata. Names, dates and file names come from the study alone: the same study, the same
bytes; its as_of date stands where the form asks for times.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from harness.asking.models.provider import provider_of
from harness.protocols.registry import protocol_of
from harness.recording import checksums
from harness.results.scored import Metric, Scored, Spread
from harness.run.checked import Checked
from harness.run.wiring import frozen
from harness.study.entries import ModelEntry
from harness.study.folder import Study
from harness.study.hosts import host_of, is_local
from harness.version import VERSION

SCHEMA = "0.3.0"
UNKNOWN = "unknown"
PLAIN_ARGUMENTS = ("temperature", "top_p", "top_k", "max_tokens")
Json = dict[str, object]
_unfit = re.compile(r"[^A-Za-z0-9._-]+")


class Publisher(NamedTuple):
    """Who hands the records out, and how that is related to the models' makers."""

    organization: str = UNKNOWN
    relationship: str = "other"


NOBODY = Publisher()


def records(checked: Checked, publisher: Publisher) -> Iterator[tuple[str, Json]]:
    """Yield each model's record, and its path below the folder that holds `data/`."""
    study = checked.study
    board = protocol_of(study).scoreboard(checked.results)
    for name in study.file.plan.examined:
        scores = [scored for scored in board if scored.model == name]
        record = _record(checked, name, scores, publisher)
        place = "/".join(("data", study.file.protocol, *_developer_and_model(study, name)))
        yield f"{place}/{_uuid(study, name)}.json", record


def _record(checked: Checked, name: str, scores: Sequence[Scored], publisher: Publisher) -> Json:
    study, results = checked.study, checked.results
    info = _model_info(study, results, name)
    epoch = _epoch(study)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{study.file.protocol}/{info['id']}/{epoch}",
        "evaluation_timestamp": study.file.as_of.isoformat(),
        "retrieved_timestamp": epoch,
        "source_metadata": _source(checked, scores, publisher),
        "eval_library": {"name": "harness", "version": VERSION},
        "model_info": info,
        "evaluation_results": [
            _result(study, results, scored) for scored in scores if scored.value.value is not None
        ],
    }


def _epoch(study: Study) -> str:
    """Return the study's day in seconds since 1970."""
    day = datetime.datetime.combine(study.file.as_of, datetime.time(), datetime.UTC)
    return str(day.timestamp())


def _uuid(study: Study, name: str) -> str:
    """Return a name of the form that the datastore wants, the same for the same study."""
    mark = hashlib.md5(f"{_fingerprint(study)}/{name}".encode(), usedforsecurity=False)
    return str(uuid.UUID(bytes=mark.digest(), version=4))


def _fingerprint(study: Study) -> str:
    path = checksums.manifest_path(study.root, study.name)
    return checksums.fingerprint(study.root, study.name) if path.is_file() else ""


def _developer_and_model(study: Study, name: str) -> tuple[str, str]:
    """Return who made a model and its name, as far as the study says; both fit into a path."""
    model = study.file.models[name]
    developer, slash, model_name = model.model.partition("/")
    if not slash:
        developer, model_name = model.family or UNKNOWN, model.model
    return _unfit.sub("_", developer) or UNKNOWN, _unfit.sub("_", model_name) or UNKNOWN


def _model_info(study: Study, results: Any, name: str) -> Json:
    model = study.file.models[name]
    host = host_of(model.base_url)
    served = sorted(
        {served_name for cell in results.cells for served_name in cell.served.get(name, ())}
    )
    kind = "unknown"
    if is_local(host):
        kind = "self_deployed"
    elif provider_of(model.provider).terms_of(host):
        kind = "externally_managed"
    details = {
        "deployment_type": kind,
        "model_availability": UNKNOWN,
        "name_in_study": name,
        "served_as": ", ".join(served) or UNKNOWN,
    }
    where = {} if is_local(host) else {"inference_platform": host}
    developer, model_name = _developer_and_model(study, name)
    return {
        "name": model.model,
        "id": f"{developer}/{model_name}",
        "developer": developer,
        **where,
        "additional_details": details,
    }


def _source(checked: Checked, scores: Sequence[Scored], publisher: Publisher) -> Json:
    study = checked.study
    undefined = {
        f"undefined: {_name(scored)}": str(scored.value.reason)
        for scored in scores
        if scored.value.value is None
    }
    return {
        "source_name": study.file.title,
        "source_type": "evaluation_run",
        "source_organization_name": publisher.organization,
        "evaluator_relationship": publisher.relationship,
        "additional_details": {
            "study": study.name,
            "verification": checked.verification,
            "fingerprint": (checked.is_verified and _fingerprint(study)) or "none",
            "protocol_version": str(frozen(study).materials.protocol_version),
            **undefined,
        },
    }


def _name(scored: Scored) -> str:
    return f"{scored.metric.name}, {scored.place}"


def _result(study: Study, results: object, scored: Scored) -> Json:
    return {
        "evaluation_result_id": f"{scored.metric.id}/{scored.place}",
        "evaluation_name": f"{study.file.protocol}: {scored.place}",
        "source_data": {
            "dataset_name": study.file.title,
            "source_type": "other",
            "additional_details": {"seed": str(study.file.seed)},
        },
        "metric_config": _metric(study, results, scored.metric),
        "score_details": _score(scored),
        "generation_config": _generation(study, study.file.models[scored.model]),
    }


def _metric(study: Study, results: Any, metric: Metric) -> Json:
    return {
        "evaluation_description": metric.description,
        "metric_id": metric.id,
        "metric_name": metric.name,
        "metric_kind": metric.id.rpartition(".")[2],
        "metric_unit": metric.unit,
        "metric_parameters": {name: _plain(value) for name, value in results.rules.items()},
        "lower_is_better": metric.lower_is_better,
        "score_type": "continuous",
        "min_score": metric.low,
        "max_score": "Infinity" if metric.high is None else metric.high,
        "llm_scoring": _judging(study, results),
    }


def _plain(value: object) -> object:
    return value if isinstance(value, (str, int, float, bool)) else json.dumps(value)


def _judging(study: Study, results: object) -> Json:
    protocol = protocol_of(study)
    names = protocol.judges(study)
    prompts = frozen(study).materials.prompts
    return {
        "judges": [{"model_info": _model_info(study, results, name)} for name in names],
        "input_prompt": prompts.get(protocol.JUDGING, ""),
        "aggregation_method": "average",
    }


def _score(scored: Scored) -> Json:
    assert scored.value.value is not None  # records leaves the others out
    score: Json = {"score": scored.value.value, "details": {"n": str(scored.value.n)}}
    if scored.spread is not None and scored.spread.interval.low is not None:
        score["uncertainty"] = _uncertainty(scored.spread)
    return score


def _uncertainty(spread: Spread) -> Json:
    uncertainty: Json = {
        "confidence_interval": {
            "lower": spread.interval.low,
            "upper": spread.interval.high,
            "confidence_level": spread.interval.level,
            "method": spread.method,
        }
    }
    if spread.se.value is not None:
        uncertainty["standard_error"] = {"value": spread.se.value, "method": spread.method}
    if spread.draws is not None:
        uncertainty["num_bootstrap_samples"] = spread.draws
    return uncertainty


def _generation(study: Study, model: ModelEntry) -> Json:
    """Return what was sent with every request; what the form has no place for, as text."""
    sent = {**study.file.params_of_role.get(protocol_of(study).EXAMINED, {}), **model.params}
    sent_arguments = {key: value for key, value in sent.items() if key not in model.omit}
    plain = {
        key: sent_arguments[key]
        for key in PLAIN_ARGUMENTS
        if isinstance(sent_arguments.get(key), (int, float))
    }
    as_text = {key: json.dumps(value) for key, value in sent_arguments.items() if key not in plain}
    generation: Json = {"generation_args": plain}
    return {**generation, "additional_details": as_text} if as_text else generation
