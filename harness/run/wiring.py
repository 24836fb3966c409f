"""Make the parts of a study from its file: materials, models, sources."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec

from harness import results as results_file
from harness.asking.executor import Each, in_turn
from harness.asking.models.chat_model import MANNER, ChatModel, Manner
from harness.asking.replies.structured_output import Heard, ignored
from harness.asking.sources.fact_source import open_source
from harness.asking.sources.page_transport import PageTransport, extractor
from harness.errors import UsageError
from harness.files import write_atomic
from harness.protocols.registry import protocol_of
from harness.protocols.seam import RunCommand, Surroundings
from harness.results import Materials
from harness.run.exam import with_own_gold
from harness.study.entries import ModelEntry, SourceEntry
from harness.study.folder import Cell, Study
from harness.study.prices import read_prices
from harness.study.texts import changed_prompt, read_prompts, require_filled

KEYED = ("models", "sources", "endpoints")  # tables of a study file that name keys


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
    frozen_now = frozen(study)
    _require_frozen_prompts(study, frozen_now.materials)
    return frozen_now


def _require_frozen_prompts(study: Study, materials: Materials) -> None:
    if changed := changed_prompt(_prompt_files(study), materials.prompts):
        raise UsageError(
            f"{changed} is not the prompt that {study.materials} froze when the study was first "
            "recorded. Nothing was sent. Put it back, or make a study of its own in a new folder."
        )


def _prompt_files(study: Study) -> list[Path]:
    return [study.folder / name for name in study.file.prompts.files]


def foreseen(study: Study, price_file: Path | None = None) -> Materials:
    """Return the materials that a recording would use, without writing anything."""
    is_frozen = study.materials.is_file()
    present = frozen(study).materials if is_frozen else _fresh(study)
    filled = protocol_of(study).PLACEHOLDERS
    if is_frozen:
        _require_frozen_prompts(study, present)
    else:
        present.prompts = read_prompts(_prompt_files(study), present.prompts, filled)
    if is_frozen and not any(study.cassette(cell).exists() for cell in study.cells()):
        require_filled(study.materials, present, filled)  # they may have been edited by hand
    if price_file is not None:
        prices = read_prices(price_file, list(study.file.models))
        return msgspec.structs.replace(present, prices=prices)
    return present


def _fresh(study: Study) -> Materials:
    return with_own_gold(study, protocol_of(study).fresh(study))


def frozen(study: Study) -> Frozen:
    """Return the study's materials, read once as long as their file is the same.

    They are for all who ask: nobody changes them. Raises UsageError where this release cannot run
    them, DamagedFile where they do not fit the form.
    """
    if not study.materials.is_file():
        raise UsageError(
            f"{study.materials}: there is no such file; the study has not been "
            f"recorded yet (`harness record {study.name}`), or was not copied whole."
        )
    state = study.materials.stat()
    content = _read(study.materials, state.st_ino, state.st_size, state.st_mtime_ns)
    materials = content.materials
    versions = protocol_of(study).VERSIONS
    if materials.protocol_version not in versions:
        raise UsageError(
            f"{study.materials}: protocol version {materials.protocol_version}, this "
            f"release runs {' and '.join(map(str, versions))}. Install harness "
            f"{materials.harness_version}, which recorded it."
        )
    return content


@lru_cache(maxsize=4)
def _read(path: Path, *_: int) -> Frozen:
    """Read materials; inode, size and time tell one state of their file from another."""
    content = path.read_bytes()
    return Frozen(content, results_file.decoded_materials(path, content))


def keys_in_use(study: Study) -> dict[str, str]:
    """Return the value of every key that the study file names, by model or source."""
    return {
        name: os.environ.get(entry.api_key_env, "").strip()
        for name, entry in {**endpoints(study), **study.file.endpoints}.items()
        if entry.api_key_env
    }


def endpoints(study: Study) -> dict[str, ModelEntry | SourceEntry]:
    """Return everything that a study asks, by name: models first, then sources."""
    return {**study.file.models, **study.file.sources}


def require_keys(study: Study, keys: Mapping[str, str]) -> None:
    """Raise UsageError for a key that the study file names and the environment does not hold."""
    for name, value in keys.items():
        kind = next(kind for kind in KEYED if name in getattr(study.file, kind))
        variable = getattr(study.file, kind)[name].api_key_env
        if not value:
            raise UsageError(
                f"{study.folder / 'study.toml'}: {kind}.{name} needs a key in the "
                f"environment variable {variable}, which is not set."
            )
        if not value.isascii() or not value.isprintable() or " " in value:
            raise UsageError(
                f"{kind}.{name}: the environment variable {variable} "
                "holds a character that no key has (a space, a line end, a letter beyond ASCII)."
            )


def way_out(entry: ModelEntry | SourceEntry, wire: httpx.BaseTransport) -> httpx.BaseTransport:
    """Return the way out to an endpoint over a wire: to pages too, where a source reads them.

    Raises UsageError where that needs a library which is not installed.
    """
    if isinstance(entry, SourceEntry) and entry.fetch:
        extractor()
        return PageTransport(wire, allow_private=entry.allow_private)
    return wire


def surroundings(
    study: Study,
    cell: Cell,
    transports: Mapping[str, httpx.BaseTransport],
    keys: Mapping[str, str],
    heard: Heard = ignored,
    each: Each = in_turn,
    manner: Manner = MANNER,
    run_command: RunCommand | None = None,
) -> Surroundings:
    """Return every model and source of the study over its transport, for one cell."""
    domain = study.file.plan.domain_of(cell)
    models = {
        name: ChatModel(model.endpoint(name, keys.get(name)), transports[name], manner)
        for name, model in study.file.models.items()
    }
    sources = {
        name: open_source(source.endpoint(name, keys.get(name), domain), transports[name])
        for name, source in study.file.sources.items()
    }
    return Surroundings(models, sources, heard, each, run_command)
