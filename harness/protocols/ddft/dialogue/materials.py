"""The texts, traps and prompts that a new study freezes: the package's, or the user's own."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.results import Concept, Materials, TrapPool
from harness.version import VERSION

PROTOCOL_VERSION = 2
SUPPORTED_VERSIONS: tuple[int, ...] = (1, 2)  # a study goes on under the rules it was recorded with


def present_materials(
    concept_ids: Sequence[str],
    own_concepts: Sequence[Concept] = (),
    own_pools: Sequence[TrapPool] = (),
) -> Materials:
    """Return what a study of these concepts freezes.

    own_concepts and own_pools: the user's, which stand before the package's of the same name.
    Raises UsageError for a concept that nobody has, or a domain without traps.
    """
    texts = {concept.id: concept for concept in [*_packaged_concepts(), *own_concepts]}
    unknown = [name for name in concept_ids if name not in texts]
    if unknown:
        raise UsageError(f"concept {unknown[0]!r} is unknown; expected one of {', '.join(texts)}")
    concepts = [texts[name] for name in concept_ids]
    pools = {pool.domain: pool for pool in [*_packaged_pools(), *own_pools]}
    return Materials(
        VERSION, "ddft", PROTOCOL_VERSION, _data("prompts.toml"), concepts, _needed(pools, concepts)
    )


def with_texts(
    concepts: Sequence[Concept], needed: Sequence[str], own_concepts: Sequence[Concept] = ()
) -> list[Concept]:
    """Return concepts with those that are needed besides, of the user's or the package's.

    Raises UsageError for one that nobody has.
    """
    texts = {concept.id: concept for concept in [*_packaged_concepts(), *own_concepts, *concepts]}
    for name in needed:
        if name not in texts:
            raise UsageError(
                f"the gold set has answers about {name!r}, of which there is no text; give a "
                "concept_file that has it"
            )
    needed_concepts = [texts[name] for name in needed]
    return [*concepts, *(concept for concept in needed_concepts if concept not in concepts)]


def _needed(pools: dict[str, TrapPool], concepts: Sequence[Concept]) -> list[TrapPool]:
    for concept in concepts:
        if concept.domain not in pools:
            raise UsageError(
                f"concept {concept.id!r}: there are no traps for its domain {concept.domain!r}; "
                f"give a trap_file that has them, or one of the domains {', '.join(pools)}"
            )
    domains = {concept.domain for concept in concepts}
    return [pool for domain, pool in pools.items() if domain in domains]


def _packaged_concepts() -> list[Concept]:
    return msgspec.convert(_data("concepts.toml")["concept"], list[Concept])


def _packaged_pools() -> list[TrapPool]:
    return msgspec.convert(_data("traps.toml")["pool"], list[TrapPool])


def _data(name: str) -> dict[str, Any]:
    path = files("harness.protocols.ddft") / "data" / name
    return tomllib.loads(path.read_text(encoding="utf-8"))
