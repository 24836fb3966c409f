"""The table [depthcharge] of study.toml, as people write it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

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
from harness.results import RunKey, name_part, slug, tier_of
from harness.study.entries import ModelEntry, SourceEntry
from harness.study.folder import Study
from harness.study.plan import Cell, Plan, ReplyForm

Tier = Literal["COMMON", "TEXTBOOK", "PROFESSIONAL", "SPECIALIST", "CUTTING_EDGE"]
Tiers = dict[Tier, list[Name]]
Depths = Annotated[int, Field(ge=1, le=1000)]
CLOZE = "cloze"  # in the place of an extractor


class DomainEntry(Strict):
    """[depthcharge.domain.NAME]: the sources of one domain, by tier, in the place of the others."""

    tiers: Tiers = {}


class DepthChargePlan(Plan):
    """[depthcharge]: targets, people, sources and rules of a drill.

    extractor: a model, or "cloze": questions made by code, a name or a number blanked in its
    sentence; then `directions` names the model that names aspects and topics. questions: N at every
    depth. branches: how many aspects a run begins with, N where it is not said. passes: Q depths a
    tier, for all tiers or by tier. tiers: the sources of each tier, in the order they are tried;
    domain: those of a domain, where they are others. recent_months: what the newest tier searches,
    before as_of. redeals: K, how often slots without a fact are dealt anew. answerable_check: the
    extractor must answer each question from its passage. unverifiable_limit: the share of a depth's
    slots without a fact above which the run is short there, and gets no rank. survival_cut: the S
    that the median survival depth is the first to reach.
    """

    ROLES = ("target", "extractor", "evaluator")
    CELL = RunKey
    JUDGES = "evaluator"

    targets: list[AnyName] = Field(min_length=1)
    extractor: str
    directions: str | None = None
    evaluator: str
    domains: list[AnyName] = Field(min_length=1)
    tiers: Tiers
    domain: dict[AnyName, DomainEntry] = {}
    questions: int = Field(default=30, ge=1, le=10_000)
    branches: int | None = Field(default=None, ge=1, le=10_000)
    passes: Depths | dict[Tier, Depths] = 3
    theta: Share = 0.20
    max_depth: int = Field(default=15, ge=1, le=1000)
    repeats: int = Field(default=1, ge=1)
    redeals: int = Field(default=2, ge=0, le=100)
    recent_months: int = Field(default=24, ge=1, le=1200)
    history: Literal["single", "path"] = "single"
    evaluator_form: Literal["object", "verdict"] = "object"
    answerable_check: bool = False
    missing_limit: Share = Field(0.05, json_schema_extra=METRIC)
    unverifiable_limit: Share = Field(0.20, json_schema_extra=METRIC)
    survival_cut: Share = Field(0.5, json_schema_extra=METRIC)

    @model_validator(mode="after")
    def _the_grid_fits(self) -> DepthChargePlan:
        require_grid(len(self.targets), len(self.domains), self.repeats)
        return self

    @model_validator(mode="after")
    def _no_twins(self) -> DepthChargePlan:
        for field in ("targets", "domains"):
            require_distinct(field, getattr(self, field))
        for domain in (None, *self.domain):
            for tier, names in self.sources_of(domain).items():
                require_distinct(f"tiers.{tier}", names)
        require_names_apart("targets", self.targets, name_part)
        require_names_apart("domains", self.domains, slug)
        return self

    @model_validator(mode="after")
    def _every_tier_has_a_source(self) -> DepthChargePlan:
        for domain in self.domains:
            sources = self.sources_of(domain)
            for depth in range(1, self.max_depth + 1):
                tier = self.tier_at(depth)
                if not sources.get(tier):  # type: ignore[call-overload]
                    where = f"domain.{domain!r}.tiers" if domain in self.domain else "tiers"
                    raise ValueError(f"{where}: depth {depth} is {tier}, which has no source")
        return self

    @model_validator(mode="after")
    def _domains_are_of_the_study(self) -> DepthChargePlan:
        for name in self.domain:
            if name not in self.domains:
                raise ValueError(
                    f"domain.{name!r}: is none of the domains: {', '.join(self.domains)}"
                )
        return self

    @model_validator(mode="after")
    def _somebody_names_directions(self) -> DepthChargePlan:
        if self.extractor == CLOZE and self.directions is None:
            raise ValueError(
                'extractor "cloze" makes questions only; who names aspects and topics? Say '
                'directions = "MODEL"'
            )
        if self.extractor != CLOZE and self.directions is not None:
            raise ValueError('directions is for extractor = "cloze"; a model names its own')
        if self.extractor == CLOZE and self.answerable_check:
            raise ValueError(
                'answerable_check asks a model; with extractor = "cloze" every question is '
                "answered by its sentence"
            )
        return self

    @property
    def examined(self) -> list[str]:
        """Return the models under test."""
        return self.targets

    @property
    def roles(self) -> dict[str, list[str]]:
        """Return the models of each role."""
        people = {"extractor": [self.directions or self.extractor], "evaluator": [self.evaluator]}
        return {"target": self.targets, **people}

    def tier_at(self, depth: int) -> str:
        """Return the tier of a depth."""
        return tier_of(depth, self.passes)

    def sources_of(self, domain: str | None) -> Tiers:
        """Return the sources of a domain by tier; None: those of domains without their own."""
        entry = self.domain.get(domain) if domain is not None else None
        return {**self.tiers, **entry.tiers} if entry else self.tiers

    @property
    def listed_sources(self) -> list[Name]:
        """Return every source that a tier names, in order."""
        tables = [self.tiers, *(entry.tiers for entry in self.domain.values())]
        return [name for tiers in tables for names in tiers.values() for name in names]

    @property
    def newest_sources(self) -> list[Name]:
        """Return the sources of the newest tier, where the drill may come to it."""
        if self.tier_at(self.max_depth) != "CUTTING_EDGE":
            return []
        return [name for domain in self.domains for name in self.sources_of(domain)["CUTTING_EDGE"]]

    def reply_form(self, model: str, role: str) -> ReplyForm:
        """Return "text" for a target; "json" for others, but for an evaluator of verdicts."""
        del model
        if role == "evaluator" and self.evaluator_form == "verdict":
            return "word"
        return "text" if role == "target" else "json"

    def domain_of(self, cell: Cell) -> str:
        """Return the domain of a run; "" for the gold set, which asks no source."""
        return cell.domain if isinstance(cell, RunKey) else ""

    def cells(self) -> list[RunKey]:
        """Return the grid, sorted."""
        return sorted(
            RunKey(target, domain, repeat)
            for target in self.targets
            for domain in self.domains
            for repeat in range(1, self.repeats + 1)
        )

    def cut_to(self, axes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the table with fewer domains, and without the sources of those that are gone."""
        table = super().cut_to(axes)
        if own_sources := table.get("domain"):
            domains = axes["domains"]
            table["domain"] = {name: own_sources[name] for name in own_sources if name in domains}
        return table

    def check_entries(
        self, models: Mapping[str, ModelEntry], sources: Mapping[str, SourceEntry]
    ) -> None:
        """Raise ValueError where a source of the newest tier has passages without dates."""
        del models
        for name in self.newest_sources:
            if not kind_of(sources[name].kind).has_dates:
                raise ValueError(
                    f"tiers.CUTTING_EDGE: {name} is of the kind {sources[name].kind}, whose "
                    "passages have no date; this tier searches the last months before as_of, and "
                    "needs a source that can keep to them, such as a web search"
                )


def depthcharge_plan(study: Study) -> DepthChargePlan:
    """Return a study's table [depthcharge]; raises UsageError where it is of another protocol."""
    return study.plan_as(DepthChargePlan, "depthcharge")
