"""The prompts that a new study freezes."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from harness.results import Materials
from harness.version import VERSION

PROTOCOL_VERSION = 2
SUPPORTED_VERSIONS: tuple[int, ...] = (1, 2)  # a study goes on under the rules it was recorded with


def present_materials() -> Materials:
    """Return what a study freezes; its texts come from the sources, as recorded calls."""
    path = files("harness.protocols.depthcharge") / "data" / "prompts.toml"
    prompts = tomllib.loads(path.read_text(encoding="utf-8"))
    return Materials(VERSION, "depthcharge", PROTOCOL_VERSION, prompts)
