"""Prompts as a study froze them, filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.errors import DamagedFile

_NAME = re.compile(r"\{(\w+)\}")


class Prompts:
    """A study's prompts by name."""

    def __init__(self, prompts: Mapping[str, str]) -> None:
        self._prompts = prompts

    def __contains__(self, name: str) -> bool:
        return name in self._prompts

    def __getitem__(self, name: str) -> str:
        try:
            return self._prompts[name]
        except KeyError:
            raise DamagedFile(
                f"materials.json: the prompt {name!r} is missing; restore the file, "
                "or use the harness version it names"
            ) from None

    def filled(self, name: str, **values: str) -> str:
        """Give a prompt with its {names} filled in."""
        return fill(self[name], values)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill {names} in one pass, so that braces in what is filled in stay as they are."""
    return _NAME.sub(lambda match: values.get(match[1], match[0]), template)
