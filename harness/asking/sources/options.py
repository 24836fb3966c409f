"""The options that each kind of source may be sent, as a study file names them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

OPTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "wikipedia-summary": (),
        "wikipedia-extract": (),
        "searxng": ("categories", "engines", "language", "safesearch"),
        "tavily": (
            *("country", "exclude_domains", "include_domains", "include_raw_content"),
            *("search_depth", "topic"),
        ),
        "brave": ("country", "extra_snippets", "goggles", "safesearch", "search_lang"),
    }
)


def unknown_option(kind: str, names: Mapping[str, object]) -> str:
    """Return what is wrong with the first option that a kind has not; "" where there is none."""
    for name in names:
        if name not in OPTIONS[kind]:
            options = ", ".join(OPTIONS[kind]) or "none"
            return f"option {name!r}; expected one of those for {kind}: {options}"
    return ""
