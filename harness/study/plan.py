"""The table of a study's protocol, as the rest of the house knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol

import msgspec
from pydantic import field_validator

from harness.forms import Strict
from harness.study.entries import ModelEntry, SourceEntry

ReplyForm = Literal["text", "json", "word"]


class Cell(Protocol):
    """The place of one cell: a frozen struct that can be sorted, named as its cassette is."""

    @property
    def name(self) -> str:
        """Return the cell's name, from which its file name is made."""

    @property
    def examined(self) -> str:
        """Return the model under test."""


class Plan(Strict):
    """The table that has a protocol's name in study.toml: who is examined, on what, by what rules.

    A protocol has one of its own. ROLES: what its models do in it. CELL: the struct of a cell's
    place. JUDGES: the role of those that judge. TAKES_ENDPOINTS: whether it has [endpoints] besides
    models and sources. NOT_NEEDED: what of every study file is this, where the file has it not.
    params: by role, the parameters of its requests.
    """

    ROLES: ClassVar[tuple[str, ...]] = ()
    CELL: ClassVar[type]
    JUDGES: ClassVar[str] = "judge"
    TAKES_ENDPOINTS: ClassVar[bool] = False
    NOT_NEEDED: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    params: dict[str, dict[str, Any]] = {}

    @field_validator("params")
    @classmethod
    def _params_are_of_roles(cls, params: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for role in params:
            if role not in cls.ROLES:
                raise ValueError(f"{role!r} is no role; there are: {', '.join(cls.ROLES)}")
        return params

    @property
    def examined(self) -> list[str]:
        """Return the models under test: those of the first role."""
        return self.roles[self.ROLES[0]]

    @property
    def roles(self) -> dict[str, list[str]]:
        """Return the models of each role."""
        raise NotImplementedError

    @property
    def listed_sources(self) -> list[str]:
        """Return the sources that the table names."""
        return []

    @property
    def listed_files(self) -> list[str]:
        """Return the files of the study's folder that the table names."""
        return []

    @property
    def has_own_texts(self) -> bool:
        """Tell whether the materials' reference texts are the study's own, not the package's."""
        return False

    def cell_name(self, key: dict[str, Any]) -> str:
        """Return the name of a cell by its place as results.json has it; "" where that is none."""
        try:
            return str(msgspec.convert(key, self.CELL).name)
        except msgspec.ValidationError:
            return ""

    def reply_form(self, model: str, role: str) -> ReplyForm:
        """Return in what form a model's replies in a role are read."""
        del model, role
        return "text"

    def domain_of(self, cell: Cell) -> str:
        """Return the domain that the sources of a cell are asked about; "" where there is none."""
        del cell
        return ""

    def cells(self) -> Sequence[Cell]:
        """Return the grid, sorted."""
        raise NotImplementedError

    def cut_to(self, axes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the table as it is written, with less on these axes of its grid."""
        return {**self.model_dump(exclude_defaults=True), **axes}

    def check_entries(
        self, models: Mapping[str, ModelEntry], sources: Mapping[str, SourceEntry]
    ) -> None:
        """Raise ValueError where the study's models and sources do not fit the table."""
