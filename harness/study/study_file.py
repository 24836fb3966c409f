"""study.toml as people write it: models, sources, and the table of one protocol."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, create_model, model_validator

from harness import registry
from harness.forms import METRIC, AnyName, Name, Strict
from harness.study.entries import (
    EndpointEntry,
    FactsEntry,
    ModelEntry,
    SourceEntry,
    named_in_registry,
)
from harness.study.plan import Plan

PROTOCOLS: registry.Group = "harness.protocols"


def _checked_protocol(name: str) -> str:
    if name in StudyFile.model_fields:
        raise ValueError(f"{name!r} is a key of every study file; no protocol can be named so")
    return named_in_registry(name, plan_form)


ProtocolName = Annotated[str, AfterValidator(_checked_protocol)]


def plan_form(protocol: str) -> type[Plan]:
    """Return the form of a protocol's table; raises UsageError for a name that no package has."""
    return cast(type[Plan], registry.load(PROTOCOLS, protocol).PLAN)


class PromptFiles(Strict):
    """[prompts]: files of prompts that stand before the package's of the same name."""

    files: list[str] = []


class Record(Strict):
    """[record]: how to record; decides nothing about the results."""

    workers: int = Field(default=4, ge=1, le=64)
    tries: int = Field(default=6, ge=1, le=20)
    stop_after_unusable: int = Field(default=10, ge=1)
    rejected_limit: int = Field(default=3, ge=0)


class StudyFile(Strict):
    """A whole study.toml: one protocol, and the table of its name.

    What is validated as a StudyFile comes out as one with a field for that table. jury_check:
    whether the gold set is part of the recording, or the concepts of which it is. gold_file: a gold
    set of the study's own, in the place of the package's.
    """

    title: str
    about: str = ""
    protocol: ProtocolName
    as_of: datetime.date
    seed: int = Field(ge=0, lt=2**63)
    models: dict[AnyName, ModelEntry]
    sources: dict[Name, SourceEntry] = {}
    endpoints: dict[Name, EndpointEntry] = {}
    facts: dict[AnyName, FactsEntry] = Field({}, json_schema_extra=METRIC)
    prompts: PromptFiles = PromptFiles()
    record: Record = Record()
    jury_check: bool | list[Name] = False
    gold_file: str | None = None

    @property
    def plan(self) -> Plan:
        """Return the table of the study's protocol."""
        return cast(Plan, getattr(self, self.protocol))

    @property
    def params_of_role(self) -> dict[str, dict[str, Any]]:
        """Return the parameters that the study names for each role, by the role."""
        return {role: dict(params) for role, params in self.plan.params.items()}

    @model_validator(mode="wrap")
    @classmethod
    def _with_the_table_of_its_protocol(
        cls, entries: Any, validate: ModelWrapValidatorHandler[StudyFile]
    ) -> StudyFile:
        """Validate a file by the form that its protocol's table is a field of."""
        if cls is not StudyFile or not isinstance(entries, Mapping):
            return validate(entries)
        protocol, protocols = entries.get("protocol"), registry.names(PROTOCOLS)
        if protocol not in protocols:
            return validate({key: entries[key] for key in entries if key not in protocols})
        if protocol not in entries:
            raise ValueError(
                f"the table [{protocol}] is missing, which protocol = {protocol!r} needs"
            )
        for name in protocols:
            if name != protocol and name in entries and name not in cls.model_fields:
                raise ValueError(f"[{name}] stands in a study whose protocol is {protocol!r}")
        return study_form(protocol).model_validate({**plan_form(protocol).NOT_NEEDED, **entries})

    @model_validator(mode="after")
    def _models_are_there(self) -> StudyFile:
        for name in self.facts:
            if name not in self.plan.examined:
                raise ValueError(f"facts.{name}: is not examined in this study")
        named = [name for names in self.plan.roles.values() for name in names]
        _require_entries("model", named, self.models)
        return self

    @model_validator(mode="after")
    def _sources_are_there(self) -> StudyFile:
        _require_entries("source", self.plan.listed_sources, self.sources)
        if self.endpoints and not self.plan.TAKES_ENDPOINTS:
            raise ValueError("endpoints: this protocol asks models and sources only")
        for name in self.sources:
            if name in self.models:
                raise ValueError(f"sources.{name}: a model has this name too")
        self.plan.check_entries(self.models, self.sources)
        return self


@cache
def study_form(protocol: str) -> type[StudyFile]:
    """Return the form of a study file with the table of a protocol, named as the protocol is."""
    table: Any = (plan_form(protocol), ...)
    return create_model(StudyFile.__name__, __base__=StudyFile, **{protocol: table})


def _require_entries(kind: str, names: Sequence[str], entries: Mapping[str, object]) -> None:
    """Raise ValueError for a name that has no table of its kind."""
    for name in names:
        if name not in entries:
            raise ValueError(
                f"the {kind} {name!r} has no [{kind}s.{name}] table; "
                f"there are: {', '.join(entries) or 'none'}"
            )
