"""Does the model that answered have the name of the one that was asked for?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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


class ServedModels:
    """The names that endpoints gave for their models in the cells of a recording, by our names."""

    def __init__(self, models: Mapping[str, ModelEntry]) -> None:
        self._models = models
        self._names: dict[str, set[str]] = {name: set() for name in models}

    def add(self, served: Mapping[str, Iterable[str]]) -> None:
        """Take in the names of one cell, by model; names of sources are passed by."""
        for name in served.keys() & self._names.keys():
            self._names[name].update(served[name])

    @property
    def warnings(self) -> list[str]:
        """Return a warning for each name that is not of the model that was asked for."""
        return [
            f"{name}: asked for {model.model}, {served} answered; {advice(name, served)}"
            for name, model in self._models.items()
            for served in others_served(model, sorted(self._names[name]))
        ]


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
