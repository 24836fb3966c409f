"""Look at what is recorded, and take in what others recorded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from harness.errors import DamagedFile, UsageError
from harness.recording import cassette as cassettes
from harness.recording import checksums
from harness.recording.interaction import Interaction
from harness.recording.redaction import KeyRing
from harness.recording.vcr import import_vcr
from harness.study.folder import Study


def describe(study: Study) -> str:
    """Return one line on a study."""
    cells = study.cells()
    finished = sum(study.cassette(cell).exists() for cell in cells)
    manifest = checksums.manifest_path(study.root, study.name)
    mark = checksums.fingerprint(study.root, study.name) if manifest.exists() else "not finished"
    return (
        f"{study.name}: {study.file.protocol}, cells {finished}/{len(cells)}, "
        f"fingerprint {mark}: {study.file.title}"
    )


def show_call(study: Study, place: str) -> str:
    """Return a recorded call in full, the calls of a cell, or the study's cells.

    place: "CELL:CALL", "CELL", or "". Raises UsageError with what there is.
    """
    cell_name, _, call = place.partition(":")
    names = {cell.name: study.cassette(cell) for cell in study.cells()}
    if not place:
        return "\n".join(
            f"{name}{'' if path.exists() else ' (not recorded)'}" for name, path in names.items()
        )
    if cell_name not in names:
        raise UsageError(f"{study.name}: no cell {cell_name!r}; there are: {', '.join(names)}")
    if not names[cell_name].exists():
        raise UsageError(f"{names[cell_name]}: this cell is not recorded yet")
    return _show_in_cell(names[cell_name], call)


def _show_in_cell(path: Path, call: str) -> str:
    cassette = cassettes.load(path)
    if false := cassette.false_digests():
        raise DamagedFile(
            f"{path}: the digest beside the request of {false[0]} is not that request's; one of "
            "them was changed after the recording. Restore the file."
        )
    recorded = dict(cassette.labelled())
    if not call:
        return "\n".join(recorded)
    if call not in recorded:
        raise UsageError(f"{path.stem}: no call {call!r}; there are: {', '.join(recorded)}")
    return _shown(recorded[call])


def _shown(interaction: Interaction) -> str:
    request, response = interaction.request, interaction.response
    lines = [
        f"{request.method} {request.uri}",
        _pretty(interaction.request_bytes),
        "",
        f"{response.status.code} {response.status.message}  {response.recorded_at}  "
        f"{response.elapsed:g} s{f'  asked of {response.endpoint}' if response.endpoint else ''}",
    ]
    lines += [f"{name}: {value}" for name, value in interaction.header_pairs]
    if response.attempts:
        lines.append(f"earlier tries: {len(response.attempts)}")
    if response.error:
        lines.append(f"error: {response.error.type}: {response.error.message}")
    return "\n".join([*lines, _pretty(interaction.body_bytes)])


def _pretty(body: bytes) -> str:
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        return body.decode("utf-8", "backslashreplace")


def import_cassette(path: Path, target: Path, key_variables: Iterable[str]) -> int:
    """Write a vcrpy cassette as one of ours and count its calls; never over an existing file."""
    if target.exists():
        raise UsageError(f"{target}: exists already; nothing is overwritten. Name another --out.")
    ring = KeyRing(os.environ.get(name, "") for name in key_variables)
    imported = import_vcr(path, ring)
    imported.save(target)
    return len(imported)
