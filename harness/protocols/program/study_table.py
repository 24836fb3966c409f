"""[program] in study.toml: a command, what it needs, and what it makes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import msgspec
from pydantic import AfterValidator, Field, model_validator

from harness.forms import MOST_CELLS, Name
from harness.results import name_part
from harness.study.plan import Plan

ONLY_CELL = "program"


class ProgramKey(msgspec.Struct, frozen=True, order=True):
    """The place of a cell: a value, as text, of each axis of the grid."""

    grid: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """Return the cell's name, from which its file name is made."""
        return "--".join(f"{axis}={name_part(value)}" for axis, value in self.grid) or ONLY_CELL

    @property
    def examined(self) -> str:
        """Return the program: which models it asks is its own affair."""
        return ONLY_CELL

    def filled(self, text: str) -> str:
        """Return a text with the cell's values in the place of their axes' names in braces."""
        values = dict(self.grid)
        return re.sub(r"\{([^{}]*)\}", lambda match: values.get(match[1], match[0]), text)


def _checked_path(path: str) -> str:
    place = PurePosixPath(path)
    if place.is_absolute() or ".." in place.parts or not path or "\\" in path:
        raise ValueError(f"{path!r}: expected a path below the study's folder")
    return path


FilePath = Annotated[str, AfterValidator(_checked_path)]


class ProgramPlan(Plan):
    """A command that is run once a cell, in a fresh folder with copies of its files.

    files: what it needs, in the study's folder. outputs: what it makes. grid: a cell for each
    combination; {NAME} in command and outputs is a cell's value. timeout: in seconds, of a cell.
    """

    ROLES: ClassVar[tuple[str, ...]] = (ONLY_CELL,)
    CELL: ClassVar[type] = ProgramKey
    TAKES_ENDPOINTS: ClassVar[bool] = True
    NOT_NEEDED: ClassVar[Mapping[str, Any]] = MappingProxyType({"seed": 0, "models": {}})

    command: list[str] = Field(min_length=1)
    files: list[FilePath] = []
    outputs: list[FilePath] = []
    grid: dict[Name, list[str | int | float]] = {}
    timeout: float = Field(default=600, gt=0)

    @model_validator(mode="after")
    def _grid_is_there(self) -> ProgramPlan:
        cells = 1
        for axis, values in self.grid.items():
            if not values or len({str(value) for value in values}) < len(values):
                raise ValueError(f"grid.{axis}: expected values, each once")
            cells *= len(values)
        if cells > MOST_CELLS:
            raise ValueError(f"grid: {cells} cells are more than {MOST_CELLS}")
        return self

    @property
    def roles(self) -> dict[str, list[str]]:
        """Return no models: the command asks endpoints."""
        return {ONLY_CELL: []}

    @property
    def listed_files(self) -> list[str]:
        """Return the files that the command needs."""
        return self.files

    def cells(self) -> Sequence[ProgramKey]:
        """Return the grid, sorted."""
        axes = [[(axis, str(value)) for value in values] for axis, values in self.grid.items()]
        return sorted(ProgramKey(values) for values in itertools.product(*axes))
