"""A study's results computed anew from its recording, under other settings of its metrics."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness import results as results_file
from harness.errors import UsageError
from harness.files import write_atomic
from harness.protocols.registry import protocol_of
from harness.recording import checksums
from harness.results import Value
from harness.results.table import Table, TableCell, TableColumn, columns
from harness.run.checked import check_files
from harness.run.metric_settings import study_under
from harness.run.replay import replayed_results
from harness.run.wiring import frozen
from harness.study.folder import Study

SAME = 9  # decimal places to which two numbers are the same


class MetricChange(NamedTuple):
    """One metric of one model at one place, as recorded and under the other settings."""

    model: str
    place: str
    metric: str
    recorded: Value
    scored: Value


class Rescored(NamedTuple):
    """Results under other settings, beside the recorded ones.

    study: with these settings. results: as results.json has them; recorded: those of the study as
    it stands. settings: what was set, by dotted keys. changes: every metric that differs.
    verification: how far the files were checked.
    """

    study: Study
    settings: Mapping[str, object]
    results: Any
    recorded: Any
    changes: list[MetricChange]
    verification: str


def rescore(study: Study, settings: Mapping[str, object], *, verify: bool = True) -> Rescored:
    """Return a study's results under other metric settings, from its recording alone.

    Nothing is sent, no key is needed and nothing is written. settings: see `study_under`.
    verify: compare files with the manifest first. Raises
    UsageError for one that does not fit, CheckFailed where the recording does not replay.
    """
    under = study_under(study, settings)
    verification = check_files(study, verify=verify, edited=("study.toml",))
    recorded = replayed_results(study)
    results = protocol_of(study).score(under, frozen(study).materials, recorded.cells)
    changes = _changes(study, recorded, results)
    return Rescored(under, dict(settings), results, recorded, changes, verification)


def _changes(study: Study, recorded: object, results: object) -> list[MetricChange]:
    scoreboard = protocol_of(study).scoreboard
    pairs = zip(scoreboard(recorded), scoreboard(results), strict=True)
    return [
        MetricChange(old.model, old.place, old.metric.name, old.value, new.value)
        for old, new in pairs
        if not _is_same(old.value, new.value)
    ]


def _is_same(old: Value, new: Value) -> bool:
    if old.value is None or new.value is None:
        return old == new
    return round(old.value, SAME) == round(new.value, SAME) and old.n == new.n


def change_table(rescored: Rescored) -> Table:
    """Return what changes, as a table for people."""
    rows: list[list[TableCell]] = [
        [change.model, change.place, change.metric, change.recorded, change.scored]
        for change in rescored.changes
    ]
    named = ", ".join(f"{key} = {value}" for key, value in rescored.settings.items())
    title = f"What changes under {named or 'the settings of study.toml'}"
    names = columns(
        "model",
        "place",
        "metric",
        TableColumn("recorded", Value),
        TableColumn("scored anew", Value),
    )
    return Table(title if rows else f"{title}: no metric", names, rows)


def write_rescored(rescored: Rescored, path: Path) -> None:
    """Write the results in the form of results.json, with what was set and of which recording.

    Raises UsageError where a file is there already: recorded results are never written over.
    """
    if path.exists():
        raise UsageError(f"{path}: exists already; nothing is overwritten. Name another --out.")
    manifest = checksums.manifest_path(rescored.study.root, rescored.study.name)
    content = msgspec.to_builtins(rescored.results)
    content["rescored"] = {
        "settings": rescored.settings,
        "verification": rescored.verification,
        "fingerprint": checksums.fingerprint(rescored.study.root, rescored.study.name)
        if manifest.is_file()
        else None,
    }
    write_atomic(path, results_file.canonical(content))
