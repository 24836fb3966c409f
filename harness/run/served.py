"""Does the model that answered have the name of the one that was asked for?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from harness.study.entries import ModelEntry

# What providers put behind a name for a dated version of the same model: gpt-4o-2024-08-06,
# claude-haiku-4-5-20251001, mistral-large-2411, gpt-3.5-turbo-0125.
DATED = re.compile(r"[-@:._](\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4})")


def others_served(model: ModelEntry, served: Iterable[str]) -> list[str]:
    """Return the names among `served` that are not of the model that was asked for.

    Its own name, that with a date behind, and what served_as allows are; capitals do not count. An
    endpoint that gives no name says nothing.
    """
    return [name for name in served if name and not _is_model(model, name)]


def _is_model(model: ModelEntry, served: str) -> bool:
    name, requested = served.casefold(), model.model.casefold()
    if name.startswith(requested) and DATED.fullmatch(name.removeprefix(requested)):
        return True
    allowed = (pattern.casefold() for pattern in model.served_as)
    return name == requested or any(fnmatchcase(name, pattern) for pattern in allowed)


def advice(name: str, served: str) -> str:
    """Return what to do where a model serves another name."""
    return (
        f'warning: if that is the model you want, write served_as = ["{served}"] in '
        f"[models.{name}]; if not, correct its model or base_url"
    )
