"""study.toml as people write it: models, sources, and one protocol's table."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from harness.asking.models.provider import Endpoint, provider_of
from harness.asking.sources.source_kind import kind_of
from harness.forms import (
    METRIC,
    AnyName,
    Name,
    Share,
    Strict,
    require_distinct,
    require_grid,
    require_names_apart,
)
from harness.http_names import BaseUrl, Headers, KeyHeader, Query
from harness.registry import DEFAULT_PROVIDER
from harness.results import CellKey, name_part
from harness.study.cuts import Cuts, Danger
from harness.study.drill_table import DepthCharge as DepthCharge
from harness.study.drill_table import SourceEntry as SourceEntry
from harness.study.drill_table import named_in_registry

Mark = Annotated[str, Field(min_length=2)]


def _checked_provider(name: str) -> str:
    return named_in_registry(name, provider_of)


ProviderName = Annotated[str, AfterValidator(_checked_provider)]


class ModelEntry(Strict):
    """[models.NAME]: where a model is, what is sent with every request, and its limits.

    thinking: how its thinking begins and ends in its answers, beside the usual marks.
    headers, query: sent with every request. key_header: the header that carries the bare key, in
    the place of the provider's own, as some gateways want it. served_as: names (with * for
    anything) that an endpoint may give for the model, beside its own and that with a date behind.
    """

    provider: ProviderName = DEFAULT_PROVIDER
    base_url: BaseUrl = Field(pattern=r"^https?://")
    model: str
    api_version: str = ""
    headers: Headers = {}
    query: Query = {}
    family: str = ""
    api_key_env: str | None = None
    key_header: KeyHeader | None = None
    served_as: list[str] = []
    params: dict[str, Any] = {}
    omit: list[str] = []
    json_mode: Literal["schema", "object", "none"] = "schema"
    concurrency: int = Field(default=4, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=600, gt=0)
    thinking: list[Mark] | None = Field(default=None, min_length=2, max_length=2)

    @model_validator(mode="after")
    def _fits_its_provider(self) -> ModelEntry:
        if problem := provider_of(self.provider).entry_problem(self.endpoint("", None)):
            raise ValueError(problem)
        return self

    @model_validator(mode="after")
    def _key_header_has_a_key(self) -> ModelEntry:
        if self.key_header and not self.api_key_env:
            raise ValueError("key_header names a place for a key; api_key_env names its variable")
        return self

    def endpoint(self, name: str, key: str | None) -> Endpoint:
        """Return the model as whoever asks it wants it, under a name, with its key."""
        return Endpoint(
            name=name,
            base_url=self.base_url,
            model=self.model,
            params=self.params,
            omit=tuple(self.omit),
            json_mode=self.json_mode,
            api_key=key,
            timeout=self.timeout,
            provider=self.provider,
            api_version=self.api_version,
            thinking=(self.thinking[0], self.thinking[1]) if self.thinking else None,
            headers=self.headers,
            query=self.query,
            key_header=self.key_header,
        )


class FactsEntry(Strict):
    """[facts.NAME]: what is known of a subject from elsewhere, for the study-level analysis."""

    parameters_b: float | None = Field(default=None, gt=0)
    reasoning: bool | None = None
    outside: dict[str, float] = {}


Scoring = Literal["numbers", "verdict"]


class DDFT(Strict):
    """[ddft]: grid, people and rules of a Drill-Down and Fabricate Test."""

    subjects: list[AnyName] = Field(min_length=1)
    interviewer: str
    jury: list[AnyName] = Field(min_length=1)
    concepts: list[Name] = Field(min_length=1)
    concept_file: str | None = None
    trap_file: str | None = None
    trap_source: Literal["drawn", "invented"] = "drawn"
    levels: list[Share] = Field(default=[0.0, 0.25, 0.5, 0.75, 1.0], min_length=1)
    arms: list[Literal["paper", "assertive", "hedged", "accuracy_first"]] = ["paper"]
    repeats: int = Field(default=1, ge=1)
    judge_reference: bool = True
    rubrics: Literal["joint", "separate"] = "joint"
    scoring: Scoring | dict[Name, Scoring] = "numbers"
    exclude_same_family: bool = False
    empty_answers: Literal["missing", "judged"] = "missing"
    missing_limit: Share = Field(0.05, json_schema_extra=METRIC)
    template_limit: Share = Field(0.20, json_schema_extra=METRIC)
    theta: Share = Field(0.70, json_schema_extra=METRIC)
    hoc_rule: Literal["max", "onset"] = Field("max", json_schema_extra=METRIC)
    empty_far_prime: Literal["undefined", "zero"] = Field("undefined", json_schema_extra=METRIC)
    normalization: Literal["clip", "max", "minmax"] = Field("clip", json_schema_extra=METRIC)
    aggregation: Literal["pooled", "by_concept"] = Field("pooled", json_schema_extra=METRIC)
    danger: Danger = Field(Danger(), json_schema_extra=METRIC)
    cuts: Cuts = Field(Cuts(), json_schema_extra=METRIC)
    params: dict[Literal["subject", "interviewer", "judge"], dict[str, Any]] = {}

    @model_validator(mode="after")
    def _the_grid_fits(self) -> DDFT:
        asked = len(self.subjects) * len(self.concepts)
        require_grid(asked, len(self.levels), len(self.arms), self.repeats)
        return self

    @model_validator(mode="after")
    def _no_twins(self) -> DDFT:
        for field in ("subjects", "jury", "concepts", "levels", "arms"):
            require_distinct(field, getattr(self, field))
        for field in ("subjects", "jury"):
            require_names_apart(field, getattr(self, field), name_part)
        return self

    @model_validator(mode="after")
    def _scoring_is_of_judges(self) -> DDFT:
        for name in self.scoring if isinstance(self.scoring, dict) else {}:
            if name not in self.jury:
                raise ValueError(f"scoring.{name}: is not on the jury ({', '.join(self.jury)})")
        return self

    @model_validator(mode="after")
    def _verdicts_have_one_question(self) -> DDFT:
        named = [judge for judge, scoring in self.scoring_of.items() if scoring == "verdict"]
        if self.rubrics == "separate" and named:
            raise ValueError(
                f'rubrics = "separate" asks for each scale in a call of its own, and {named[0]!r} '
                'with scoring = "verdict" gives no scales but one word; leave out one of the two'
            )
        return self

    @property
    def scoring_of(self) -> dict[str, str]:
        """Return what each judge is asked for: "numbers" or "verdict"."""
        if isinstance(self.scoring, dict):
            return {name: self.scoring.get(name, "numbers") for name in self.jury}
        return dict.fromkeys(self.jury, self.scoring)

    @model_validator(mode="after")
    def _somebody_invents(self) -> DDFT:
        if self.trap_source == "drawn":
            return self
        if self.interviewer == "scripted":
            raise ValueError('trap_source "invented" needs an interviewer; "scripted" invents none')
        if fixed := [arm for arm in self.arms if arm in ("assertive", "hedged")]:
            raise ValueError(
                f'trap_source "invented" goes without the arm {fixed[0]!r}, which puts its own '
                "words before a drawn claim"
            )
        return self

    @property
    def examined(self) -> list[str]:
        """Give the models under test."""
        return self.subjects

    @property
    def roles(self) -> dict[str, list[str]]:
        """Give who plays each part."""
        asks = [] if self.interviewer == "scripted" else [self.interviewer]
        return {"subject": self.subjects, "interviewer": asks, "judge": self.jury}

    def cells(self) -> list[CellKey]:
        """Give the grid, sorted."""
        return sorted(
            CellKey(subject, concept, level, arm, repeat)
            for subject in self.subjects
            for concept in self.concepts
            for level in self.levels
            for arm in self.arms
            for repeat in range(1, self.repeats + 1)
        )


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

    jury_check: whether the gold set is part of the recording, or the concepts of which it is.
    gold_file: a gold set of the study's own, in the place of the package's.
    """

    title: str
    about: str = ""
    protocol: Literal["ddft", "depthcharge"]
    as_of: datetime.date
    seed: int = Field(ge=0, lt=2**63)
    models: dict[AnyName, ModelEntry]
    sources: dict[Name, SourceEntry] = {}
    facts: dict[AnyName, FactsEntry] = Field({}, json_schema_extra=METRIC)
    ddft: DDFT | None = None
    depthcharge: DepthCharge | None = None
    prompts: PromptFiles = PromptFiles()
    record: Record = Record()
    jury_check: bool | list[Name] = False
    gold_file: str | None = None

    @property
    def plan(self) -> DDFT | DepthCharge:
        """Give the table of the study's protocol."""
        plan = self.ddft or self.depthcharge
        assert plan is not None  # the validator below has looked
        return plan

    @property
    def params_of_role(self) -> dict[str, dict[str, Any]]:
        """Give the parameters that the study names for each role, by the role."""
        return {role: dict(params) for role, params in self.plan.params.items()}

    @model_validator(mode="after")
    def _one_protocol(self) -> StudyFile:
        for name in ("ddft", "depthcharge"):
            table = getattr(self, name)
            if name == self.protocol and table is None:
                raise ValueError(f"the table [{name}] is missing, which protocol = {name!r} needs")
            if name != self.protocol and table is not None:
                raise ValueError(f"[{name}] stands in a study whose protocol is {self.protocol!r}")
        return self

    @model_validator(mode="after")
    def _models_are_there(self) -> StudyFile:
        for name in self.facts:
            if name not in self.plan.examined:
                raise ValueError(f"facts.{name}: is not examined in this study")
        wanted = [name for names in self.plan.roles.values() for name in names]
        _require_known("model", wanted, self.models)
        return self

    @model_validator(mode="after")
    def _sources_are_there(self) -> StudyFile:
        drill = self.depthcharge
        _require_known("source", drill.listed_sources if drill else [], self.sources)
        for name in drill.newest_sources if drill else []:
            if not kind_of(self.sources[name].kind).has_dates:
                raise ValueError(
                    f"tiers.CUTTING_EDGE: {name} is of the kind {self.sources[name].kind}, whose "
                    "passages have no date; this tier searches the last months before as_of, and "
                    "needs a source that can keep to them, such as a web search"
                )
        for name in self.sources:
            if name in self.models:
                raise ValueError(f"sources.{name}: a model has this name too")
        return self

    @model_validator(mode="after")
    def _somebody_judges(self) -> StudyFile:
        if self.ddft is None or not self.ddft.exclude_same_family:
            return self
        families = {name: model.family for name, model in self.models.items()}
        for subject in self.ddft.subjects:
            if all(families[name] == families[subject] != "" for name in self.ddft.jury):
                raise ValueError(f"exclude_same_family leaves {subject!r} without a judge")
        return self


def _require_known(what: str, wanted: Sequence[str], known: Mapping[str, object]) -> None:
    for name in wanted:
        if name not in known:
            raise ValueError(
                f"the {what} {name!r} has no [{what}s.{name}] table; "
                f"there are: {', '.join(known) or 'none'}"
            )
