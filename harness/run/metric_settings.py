"""The settings that decide no request: which they are, and a study under other values of them."""

from __future__ import annotations

import copy
import difflib
import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness import results as results_file
from harness.errors import DamagedFile, UsageError
from harness.forms import METRIC, checked, marked_fields
from harness.protocols.registry import protocol_of
from harness.study.entries import FactsEntry
from harness.study.folder import Study
from harness.study.study_file import StudyFile

FACTS = "facts"


class RuleChange(NamedTuple):
    """A rule of the metrics, as a setting: its value in results.json, and in study.toml now."""

    setting: str
    recorded: object
    now: object


def settable(study: Study) -> list[str]:
    """Return the settings that may be computed anew under another value, as dotted keys."""
    protocol = study.file.protocol
    rules = marked_fields(type(study.file.plan), METRIC, protocol)
    return [*rules, *(f"{FACTS}.MODEL.{name}" for name in FactsEntry.model_fields)]


def study_under(study: Study, settings: Mapping[str, object]) -> Study:
    """Return a study whose file has other metric settings; the file on disk stays as it is.

    settings: values by dotted keys, as in "PROTOCOL.missing_limit"; a text stands for what TOML
    makes of it, or for itself. Raises UsageError for a setting that is not there, that would change
    what is asked, or whose value does not fit.
    """
    entries = study.file.model_dump(mode="json", exclude_unset=True)
    for key, value in settings.items():
        _set(entries, _path(study, key), _value(value))
    changed = copy.copy(study)
    changed.file = checked(entries, StudyFile, f"--set for {study.name}")
    return changed


def _path(study: Study, key: str) -> list[str]:
    path = _parts(key)
    allowed = settable(study)
    dotted = ".".join(path)
    is_fact = len(path) > 2 and path[0] == FACTS and path[1] in study.file.models
    if dotted in allowed or is_fact:
        return path
    may = f"Those that may be set: {', '.join(allowed)}."
    if path[0] == FACTS and len(path) > 2:
        raise UsageError(f"--set {key}: the study has no model {path[1]!r}. {may}")
    if _exists(study, path):
        raise UsageError(
            f"--set {key}: it decides what is asked or when a run ends, so another value needs a "
            f"recording of its own (copy study.toml into a new folder, and `harness record`). {may}"
        )
    near = difflib.get_close_matches(dotted, allowed, 1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise UsageError(f"--set {key}: there is no such setting. {meant}{may}")


def _parts(key: str) -> list[str]:
    """Split a dotted key as TOML does: parts in quotes may hold dots."""
    try:
        nested: object = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        raise UsageError(
            f"--set {key}: expected KEY=VALUE, as in PROTOCOL.missing_limit=0.1"
        ) from None
    path = []
    while isinstance(nested, dict):
        [(name, nested)] = nested.items()
        path.append(name)
    return path


def _exists(study: Study, path: Sequence[str]) -> bool:
    place: object = study.file.model_dump(mode="json")
    for name in path:
        if not isinstance(place, dict) or name not in place:
            return False
        place = place[name]
    return True


def _value(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def _set(entries: dict[str, Any], path: Sequence[str], value: object) -> None:
    for name in path[:-1]:
        entries = entries.setdefault(name, {})
    entries[path[-1]] = value


def rule_changes(study: Study) -> list[RuleChange]:
    """Return the rules of the metrics that study.toml has otherwise than results.json.

    [] where there are no results, or none that can be read.
    """
    try:
        results = results_file.read_results(study.results)
    except (DamagedFile, OSError):
        return []
    recorded = results.get("rules") if isinstance(results, dict) else None
    if not isinstance(recorded, dict):
        return []
    now = protocol_of(study).metric_rules(study)._asdict()
    named = {key.rpartition(".")[2]: key for key in settable(study)}
    return [
        RuleChange(named[name], recorded[name], now[name])
        for name in named
        if name in recorded and name in now and recorded[name] != now[name]
    ]


def rescoring_hint(study: Study) -> str:
    """Return how to see a study under the rules that study.toml was changed to.

    "" where they are as recorded.
    """
    changes = rule_changes(study)
    if not changes:
        return ""
    told = ", ".join(
        f"{change.setting} = {json.dumps(change.now)} (recorded: {json.dumps(change.recorded)})"
        for change in changes
    )
    words = " ".join(f"--set {change.setting}={change.now}" for change in changes)
    return (
        f"rules: study.toml now says {told}. Put it back as it was; the same recording under other "
        f"rules, beside the recorded results: `harness score {study.name} {words}`."
    )
