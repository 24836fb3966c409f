"""A drill as study.toml has it: [sources.NAME] and the table [depthcharge]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from harness.asking.sources.inquiry import SourceEndpoint
from harness.asking.sources.source_kind import entry_problem, kind_of
from harness.errors import UsageError
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
from harness.http_names import SourceUrl
from harness.placeholders import advice, unfilled
from harness.results import RunKey, address_part, name_part, slug, tier_of

Tier = Literal["COMMON", "TEXTBOOK", "PROFESSIONAL", "SPECIALIST", "CUTTING_EDGE"]
Tiers = dict[Tier, list[Name]]
Depths = Annotated[int, Field(ge=1, le=1000)]
CONTACT = r"^[ -'*-~]*$"  # ASCII without brackets, as a User-Agent's comment


def named_in_registry(name: str, load: Callable[[str], object]) -> str:
    """Return a name as it is; raises ValueError where nothing stands behind it."""
    try:
        load(name)
    except UsageError as error:
        raise ValueError(str(error)) from error
    return name


def _checked_kind(name: str) -> str:
    return named_in_registry(name, kind_of)


KindName = Annotated[str, AfterValidator(_checked_kind)]
CLOZE = "cloze"  # in the place of an extractor


class SourceEntry(Strict):
    """[sources.NAME]: where facts are looked up, and how.

    base_url: {domain} in it stands for the domain, as in quantum-computing, where each has pages
    of its own. contact: an address for the User-Agent, which some ask for. query: what a web
    search is given, {direction} for what is looked for and, if it helps, {domain}. options: more
    parameters of the search, {domain} in their texts too. fetch: read the pages of a web search's
    results, where their robots.txt allows it, in the place of its snippets; allow_private: also
    from addresses that are not public.
    """

    kind: KindName
    base_url: SourceUrl = Field(pattern=r"^https?://")
    api_key_env: str | None = None
    contact: str = Field(default="", pattern=CONTACT)
    fetch: bool = False
    allow_private: bool = False
    query: str = Field(default="{direction}", pattern=r"\{direction\}")
    max_results: int = Field(default=5, ge=1, le=20)
    options: dict[str, str | bool | int | list[str]] = {}
    concurrency: int = Field(default=4, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=60, gt=0)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> SourceEntry:
        if problem := entry_problem(self.endpoint("", None)):
            raise ValueError(problem)
        if kind_of(self.kind).needs_key and not self.api_key_env:
            raise ValueError(f"{self.kind} needs a key: api_key_env names its variable")
        return self

    @model_validator(mode="after")
    def _placeholders_are_filled(self) -> SourceEntry:
        lists = [value for value in self.options.values() if isinstance(value, list)]
        options = [value for value in self.options.values() if isinstance(value, str)]
        texts = [self.base_url, *options, *(text for texts in lists for text in texts)]
        places = [(self.query, ("direction", "domain")), *((text, ("domain",)) for text in texts)]
        for text, filled in places:
            if placeholder := unfilled(text, filled):
                raise ValueError(f"{{{placeholder}}} in {text!r}: {advice(placeholder, filled)}")
        return self

    def endpoint(self, name: str, key: str | None, domain: str = "{domain}") -> SourceEndpoint:
        """Return the source as whoever asks it wants it, within a domain."""
        return SourceEndpoint(
            name=name,
            kind=self.kind,
            base_url=self.base_url.replace("{domain}", address_part(domain)),
            api_key=key,
            contact=self.contact,
            query=self.query.replace("{domain}", domain),
            max_results=self.max_results,
            fetch=self.fetch,
            options={name: _within(option, domain) for name, option in self.options.items()},
            timeout=self.timeout,
        )


def _within(option: Any, domain: str) -> Any:
    """Return an option with the domain in the place of {domain}, in lists of texts too."""
    if isinstance(option, list):
        return [_within(text, domain) for text in option]
    return option.replace("{domain}", domain) if isinstance(option, str) else option


class DomainEntry(Strict):
    """[depthcharge.domain.NAME]: the sources of one domain, by tier, in the place of the others."""

    tiers: Tiers = {}


class DepthCharge(Strict):
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
    params: dict[Literal["target", "extractor", "evaluator"], dict[str, Any]] = {}

    @model_validator(mode="after")
    def _the_grid_fits(self) -> DepthCharge:
        require_grid(len(self.targets), len(self.domains), self.repeats)
        return self

    @model_validator(mode="after")
    def _no_twins(self) -> DepthCharge:
        for field in ("targets", "domains"):
            require_distinct(field, getattr(self, field))
        for domain in (None, *self.domain):
            for tier, names in self.sources_of(domain).items():
                require_distinct(f"tiers.{tier}", names)
        require_names_apart("targets", self.targets, name_part)
        require_names_apart("domains", self.domains, slug)
        return self

    @model_validator(mode="after")
    def _every_tier_has_a_source(self) -> DepthCharge:
        for domain in self.domains:
            sources = self.sources_of(domain)
            for depth in range(1, self.max_depth + 1):
                tier = self.tier_at(depth)
                if not sources.get(tier):  # type: ignore[call-overload]
                    where = f"domain.{domain!r}.tiers" if domain in self.domain else "tiers"
                    raise ValueError(f"{where}: depth {depth} is {tier}, which has no source")
        return self

    @model_validator(mode="after")
    def _domains_are_of_the_study(self) -> DepthCharge:
        for name in self.domain:
            if name not in self.domains:
                raise ValueError(
                    f"domain.{name!r}: is none of the domains: {', '.join(self.domains)}"
                )
        return self

    @model_validator(mode="after")
    def _somebody_names_directions(self) -> DepthCharge:
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
        """Give the models under test."""
        return self.targets

    @property
    def roles(self) -> dict[str, list[str]]:
        """Give who plays each part."""
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

    def cells(self) -> list[RunKey]:
        """Give the grid, sorted."""
        return sorted(
            RunKey(target, domain, repeat)
            for target in self.targets
            for domain in self.domains
            for repeat in range(1, self.repeats + 1)
        )
