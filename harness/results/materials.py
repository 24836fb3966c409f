"""What a study freezes at its first record: the texts and prompts that shape its requests."""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.errors import DamagedFile
from harness.json_files import typed
from harness.results.gold import Gold

RESTORE = "Restore it from where you got the study; the recording does not replay without it."
SCHEMA = "schema"  # a part of the names of those prompts that are JSON schemas


class Concept(msgspec.Struct):
    """A concept: slug, name, domain, reference text, and where its facts can be looked up."""

    id: str
    name: str
    domain: str
    text: str
    source: str = ""


class TrapEntry(msgspec.Struct):
    """A fictional thing, its difficulty class, and where its absence was checked."""

    text: str
    difficulty: str
    absence_check: dict[str, str]


class TrapPool(msgspec.Struct):
    """The fictional experts, claims and phrases of one domain."""

    domain: str
    experts: list[TrapEntry]
    claims: list[TrapEntry]
    phrases: list[TrapEntry]


class Price(msgspec.Struct):
    """What a model costs: currency units for a million tokens, in and out."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost of so many tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


class Prices(msgspec.Struct):
    """A price list as the user supplied it, with its date; by the study's names of models."""

    as_of: str
    currency: str
    models: dict[str, Price]


class Materials(msgspec.Struct, omit_defaults=True):
    """Everything besides the study file that shapes a request, frozen at the first record.

    concepts: those of the grid, and those of the gold set that is part of the recording, if there
    is one. prices decide no request; they stand here so that a replay gives the recorded cost.
    """

    harness_version: str
    protocol: str
    protocol_version: int
    prompts: dict[str, str]
    concepts: list[Concept] = []
    pools: list[TrapPool] = []
    prices: Prices | None = None
    gold: Gold | None = None


def read_materials(path: Path) -> Materials:
    """Read a study's frozen materials; raises DamagedFile where they do not fit the form."""
    return decoded_materials(path, path.read_bytes())


def decoded_materials(path: Path, content: bytes) -> Materials:
    """Return the materials in a file's content; raises as `read_materials`."""
    materials = typed(path, content, Materials, RESTORE)
    for name, text in materials.prompts.items():
        if SCHEMA in name:
            _check_schema(path, name, text)
    return materials


def _check_schema(path: Path, name: str, text: str) -> None:
    try:
        if isinstance(msgspec.json.decode(text), dict):
            return
        flaw = "expected a JSON object"
    except (msgspec.DecodeError, RecursionError) as error:
        flaw = str(error)
    raise DamagedFile(f"{path}: prompts.{name} is no JSON schema ({flaw}). {RESTORE}")
