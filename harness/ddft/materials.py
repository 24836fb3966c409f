"""The package's present texts, traps and prompts, as a study freezes them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.results import Concept, Materials, TrapPool
from harness.version import VERSION

PROTOCOL_VERSION = 1


def present_materials(concept_ids: Sequence[str]) -> Materials:
    """Give what a study of these concepts freezes; raises UsageError for one we do not have."""
    known = {entry["id"]: entry for entry in _data("concepts.toml")["concept"]}
    unknown = [name for name in concept_ids if name not in known]
    if unknown:
        raise UsageError(f"concept {unknown[0]!r} is unknown; expected one of {', '.join(known)}")
    concepts = [msgspec.convert(known[name], Concept) for name in concept_ids]
    domains = {concept.domain for concept in concepts}
    pools = [pool for pool in _data("traps.toml")["pool"] if pool["domain"] in domains]
    return Materials(
        VERSION,
        "ddft",
        PROTOCOL_VERSION,
        _data("prompts.toml"),
        concepts,
        msgspec.convert(pools, list[TrapPool]),
    )


def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((files("harness.ddft") / "data" / name).read_text(encoding="utf-8"))
