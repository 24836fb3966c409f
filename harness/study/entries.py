"""What a study asks: [models.NAME] and [sources.NAME] as people write them, and [facts.NAME]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from harness.asking.models.provider import Endpoint, provider_of
from harness.asking.sources.inquiry import SourceEndpoint
from harness.asking.sources.source_kind import entry_problem, kind_of
from harness.errors import UsageError
from harness.forms import Strict
from harness.http_names import BaseUrl, Headers, KeyHeader, Query, SourceUrl
from harness.placeholders import advice, unfilled
from harness.registry import DEFAULT_PROVIDER
from harness.results import address_part

CONTACT = r"^[ -'*-~]*$"  # ASCII without brackets, as a User-Agent's comment
Mark = Annotated[str, Field(min_length=2)]


def named_in_registry(name: str, load: Callable[[str], object]) -> str:
    """Return a name as it is; raises ValueError where nothing stands behind it."""
    try:
        load(name)
    except UsageError as error:
        raise ValueError(str(error)) from error
    return name


def _checked_provider(name: str) -> str:
    return named_in_registry(name, provider_of)


def _checked_kind(name: str) -> str:
    return named_in_registry(name, kind_of)


ProviderName = Annotated[str, AfterValidator(_checked_provider)]
KindName = Annotated[str, AfterValidator(_checked_kind)]


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


class EndpointEntry(Strict):
    """[endpoints.NAME]: what a program asks through the proxy.

    kind: the provider whose API it speaks, which says how a key is sent and which variables tell a
    client its address; "" for any other. env: more variables that tell it.
    """

    base_url: BaseUrl = Field(pattern=r"^https?://")
    kind: ProviderName | Literal[""] = ""
    api_key_env: str = ""
    key_header: str = ""
    env: list[str] = []


def _within(option: Any, domain: str) -> Any:
    """Return an option with the domain in the place of {domain}, in lists of texts too."""
    if isinstance(option, list):
        return [_within(text, domain) for text in option]
    return option.replace("{domain}", domain) if isinstance(option, str) else option


class FactsEntry(Strict):
    """[facts.NAME]: what is known of a subject from elsewhere, for the study-level analysis."""

    parameters_b: float | None = Field(default=None, gt=0)
    reasoning: bool | None = None
    outside: dict[str, float] = {}
