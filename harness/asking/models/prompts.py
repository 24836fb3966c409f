"""Prompts as a study froze them, filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count, takewhile

from harness.asking.models.model import Message
from harness.errors import DamagedFile

_NAME = re.compile(r"\{(\w+)\}")


class Prompts:
    """A study's prompts by name, and the protocol version that they were frozen under."""

    def __init__(self, prompts: Mapping[str, str], version: int) -> None:
        self._prompts, self.version = prompts, version

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

    def examples(self, name: str) -> list[Message]:
        """Return a task's worked examples, as turns: NAME_1 and its NAME_1_reply, NAME_2, ..."""
        numbers = takewhile(lambda number: f"{name}_{number}" in self, count(1))
        return [turn for number in numbers for turn in self._example(f"{name}_{number}")]

    def _example(self, name: str) -> list[Message]:
        return [
            {"role": "user", "content": self[name]},
            {"role": "assistant", "content": self[f"{name}_reply"]},
        ]

    def filled(self, name: str, **values: str) -> str:
        """Return a prompt with its {names} filled in."""
        return fill(self[name], values)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill {names} in one pass, so that braces in what is filled in stay as they are."""
    return _NAME.sub(lambda match: values.get(match[1], match[0]), template)
