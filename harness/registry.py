"""What can be added from outside, by name: protocols, providers of models, kinds of sources.

A protocol is a module, a provider and a kind of source an object in one. Those of this package are
listed here; those of other packages are entry points of the same groups
(https://packaging.python.org/en/latest/specifications/entry-points/): a line
`name = "module:OBJECT"` under [project.entry-points."harness.providers"], say.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from harness.errors import UsageError

Group = Literal["harness.protocols", "harness.providers", "harness.sources"]
BUILT_IN: Mapping[Group, Mapping[str, str]] = {
    "harness.protocols": {
        "ddft": "harness.protocols.ddft.protocol",
        "depthcharge": "harness.protocols.depthcharge.protocol",
        "program": "harness.protocols.program.protocol:PROTOCOL",
    },
    "harness.providers": {
        "openai": "harness.asking.models.openai:PROVIDER",
        "azure": "harness.asking.models.azure:PROVIDER",
        "anthropic": "harness.asking.models.anthropic:PROVIDER",
        "gemini": "harness.asking.models.gemini:PROVIDER",
    },
    "harness.sources": {
        "wikipedia-summary": "harness.asking.sources.wikipedia:SUMMARIES",
        "wikipedia-extract": "harness.asking.sources.wikipedia:EXTRACTS",
        "searxng": "harness.asking.sources.searxng:KIND",
        "tavily": "harness.asking.sources.tavily:KIND",
        "brave": "harness.asking.sources.brave:KIND",
        "openalex": "harness.asking.sources.openalex:KIND",
    },
}
DEFAULT_PROVIDER = "openai"  # of a model whose study names none
WORDS: Mapping[Group, str] = {
    "harness.protocols": "protocol",
    "harness.providers": "provider",
    "harness.sources": "kind of source",
}


def names(group: Group) -> list[str]:
    """Return all names of a group, those of this package first."""
    return [*BUILT_IN[group], *sorted(_installed(group))]


def load(group: Group, name: str) -> Any:
    """Return what stands behind a name.

    Raises UsageError for a name that no package has, that two packages have, or whose package
    cannot be imported.
    """
    if name in BUILT_IN[group]:
        return EntryPoint(name, BUILT_IN[group][name], group).load()
    point = _installed(group).get(name)
    if point is None:
        raise UsageError(
            f"{WORDS[group]} {name!r} is unknown; there are: {', '.join(names(group))}. "
            f"Another package may bring it (entry points {group}); is that installed here?"
        )
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{_origin(point)}: {group} {name!r} cannot be loaded: {error}") from error


def _installed(group: Group) -> dict[str, EntryPoint]:
    """Return the entry points of a group; raises UsageError where a name is there already."""
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        if point.name in BUILT_IN[group] or points.setdefault(point.name, point) != point:
            raise UsageError(
                f"{_origin(point)}: its entry point {group} {point.name!r} has a name that is "
                "taken; uninstall one of the two packages"
            )
    return points


def _origin(point: EntryPoint) -> str:
    return f"package {point.dist.name}" if point.dist else point.value
