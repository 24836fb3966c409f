"""A provider of models: how its API is asked, and how its replies are read.

A provider is one object, in a module of its own, under a name of harness.registry (or of another
package's entry points `harness.providers`). docs/internals.md says how to add one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlencode

from harness.asking.models.blank import is_blank
from harness.asking.models.model import CUT_OFF, FILTERING, Message, ends_in
from harness.errors import UsageError
from harness.registry import DEFAULT_PROVIDER, load

Body = dict[str, object]
MOST_TOKENS = 10**9  # of one call: no model reads or writes as many
LASTING = tuple(map(str, (400, 401, 402, 403, 404, 413, 422)))  # codes that would come again
# A content filter's signs in an error: its code, its type or the code within; the words of those
# that have no code; what a gateway writes into the error's metadata.
FILTER_CODES = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")
FILTER_WORDS = ("content filtering policy", "usage policy", "content management policy")
FILTER_METADATA = ("flagged_input", "reasons")
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


class Endpoint(NamedTuple):
    """Where a model is and how it wants to be asked.

    name: ours, in call names and results. model: the provider's name of it. params: sent with every
    request, and `omit` names what is taken out again. json_mode: how JSON is asked for ("schema",
    "object", "none"). timeout: seconds. thinking: how this model's begins and ends, where it has
    marks of its own. headers, query: sent with every request. key_header: carries the bare key, in
    the place of the provider's own header.
    """

    name: str
    base_url: str
    model: str
    params: Mapping[str, object]
    omit: Sequence[str] = ()
    json_mode: str = "schema"
    api_key: str | None = None
    timeout: float = 600.0
    provider: str = DEFAULT_PROVIDER
    api_version: str = ""
    thinking: tuple[str, str] | None = None
    headers: Mapping[str, str] = MappingProxyType({})
    query: Mapping[str, str] = MappingProxyType({})
    key_header: str | None = None


class Content(NamedTuple):
    """What a provider's reply holds.

    text: without what stands apart as thinking. finish_reason: why it ended. "length" means that a
    token limit cut it off, "content_filter" that a filter withheld it (model.CUT_OFF and FILTERING
    have the other words that are understood so); a word that is none of these means that the reply
    is whole. served: the name that the endpoint gives for its model, "" where it gives none.
    tokens: prompt and completion, thinking counted with the completion; None where the reply does
    not say. refusal: the words of a refusal that has a field of its own. first: the likeliest first
    tokens (the first that are no white space) with their log probabilities.
    """

    text: str
    finish_reason: str | None
    served: str
    tokens: tuple[int, int] | None
    refusal: str = ""
    first: tuple[tuple[str, float], ...] = ()


class ErrorReply(NamedTuple):
    """An error that stands in a reply's place.

    code: "" where there is none; one of LASTING would come again. words: the endpoint's. by_filter:
    whether a content filter made it, which is an answer of its own kind and never asked again.
    refuses: whether the endpoint refuses every call (key, credit), where the status does not say
    so: that stops the recording.
    """

    code: str
    words: str
    by_filter: bool = False
    refuses: bool = False

    @property
    def is_lasting(self) -> bool:
        """Tell whether the same request would meet it again."""
        return self.code in LASTING


class Provider(ABC):
    """One provider's API; what is set and defined here is the same at most of them.

    unknown_parameters: the parameters of a role that the API does not have. limit_names: the
    parameters of a body that limit the tokens of a reply, thinking among them, with dots where they
    stand within another; choices_name: the one that asks for several replies. default_limit: the
    token limit of a body whose study names none. terms: whose terms govern what comes from a host
    (the end of its name) that speaks this format. key_header: the header that carries a key, and
    its form. address_variables: the environment variables that tell its clients where to ask.
    """

    unknown_parameters: Sequence[str] = ()
    limit_names: Sequence[str] = ("max_completion_tokens", "max_tokens", "max_output_tokens")
    choices_name = "n"
    default_limit: int | None = None
    terms: Mapping[str, str] = MappingProxyType({})
    key_header = ("authorization", "Bearer {key}")
    address_variables: Sequence[str] = ()

    @abstractmethod
    def url(self, endpoint: Endpoint) -> str:
        """Return the address to post to, without the study's query parameters."""

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """Return the headers that the API wants, the key among them where there is one."""
        name, form = self.key_header
        return {name: form.format(key=endpoint.api_key)} if endpoint.api_key else {}

    @abstractmethod
    def body(
        self, endpoint: Endpoint, messages: Sequence[Message], schema: Mapping[str, object] | None
    ) -> Body:
        """Return the body without the parameters that the study and its protocol name.

        messages: of the roles "system", "user" and "assistant". schema: the JSON schema that the
        reply is to follow, asked for as endpoint.json_mode says; None where prose is wanted.
        """

    @abstractmethod
    def content(self, reply: object) -> Content:
        """Return what a reply holds, of its decoded JSON.

        Raises KeyError, IndexError, TypeError or AttributeError for what is no reply.
        """

    def parameters(self, parameters: Mapping[str, object]) -> Body:
        """Return the parameters of a role, in the words of chat completions, in the API's own."""
        items = parameters.items()
        return {name: value for name, value in items if name not in self.unknown_parameters}

    def merged(self, body: Mapping[str, object], parameters: Mapping[str, object]) -> Body:
        """Return a body with parameters over its own."""
        return {**body, **parameters}

    def token_limit(self, body: Mapping[str, object]) -> int | None:
        """Return the most tokens that a body allows, of all replies; None without a limit."""
        values = [value_at(body, name) for name in self.limit_names]
        limits = [value for value in values if isinstance(value, int)]
        choices = value_at(body, self.choices_name)
        return max(limits) * (choices if isinstance(choices, int) else 1) if limits else None

    def error_in(self, reply: object) -> ErrorReply | None:
        """Return the error that stands in the place of a reply, of its decoded JSON; or None.

        Asked of every body, whatever its status. Here: an object "error" (or its words alone),
        unless there are words beside it, or a reason why there are none.
        """
        error = error_of(reply.get("error")) if isinstance(reply, dict) else None
        return error if error and self.is_without_words(reply) else None

    def is_without_words(self, reply: object) -> bool:
        """Tell whether a reply has no text, no refusal and no reason for that."""
        try:
            content = self.content(reply)
        except UNREADABLE:
            return True
        has_reason = ends_in(content.finish_reason, (*FILTERING, *CUT_OFF))
        return not has_reason and is_blank(content.text + content.refusal)

    def entry_problem(self, endpoint: Endpoint) -> str:  # noqa: ARG002
        """Return what is wrong with a study's entry for this provider; "" where nothing is."""
        return ""

    def terms_of(self, host: str) -> str:
        """Return whose terms govern what comes from a host; "" where nobody knows."""
        owners = (
            owner for end, owner in self.terms.items() if host == end or host.endswith(f".{end}")
        )
        return next(owners, "")

    def content_of_version_1(self, reply: object) -> Content:
        """Return what a reply held by the rules of protocol version 1; see version_1.py."""
        return self.content(reply)


def provider_of(name: str) -> Provider:
    """Return the provider of a name; raises UsageError where there is none."""
    provider = load("harness.providers", name)
    if not isinstance(provider, Provider):
        raise UsageError(
            f"provider {name!r}: its entry point is a {type(provider).__name__}; expected an "
            "object of a class that derives from harness.asking.models.provider.Provider"
        )
    return provider


def address(endpoint: Endpoint) -> str:
    """Return the URL that a model's requests are posted to, its study's query parameters in it."""
    url = provider_of(endpoint.provider).url(endpoint)
    if not endpoint.query:
        return url
    return f"{url}{'&' if '?' in url else '?'}{urlencode(endpoint.query)}"


def request_headers(endpoint: Endpoint) -> dict[str, str]:
    """Return the headers of a model's requests, the key and its study's own headers among them."""
    provider = provider_of(endpoint.provider)
    if endpoint.key_header and endpoint.api_key:
        keyless = provider.headers(endpoint._replace(api_key=None))
        return {**keyless, **endpoint.headers, endpoint.key_header: endpoint.api_key}
    return {**provider.headers(endpoint), **endpoint.headers}


def request_body(
    endpoint: Endpoint,
    messages: Sequence[Message],
    params: Mapping[str, object],
    schema: Mapping[str, object] | None = None,
) -> Body:
    """Return what is sent to a model: the role's `params` under its own, `omit` taken out.

    A parameter of the role that the provider's API does not have is left out, too.
    """
    provider = provider_of(endpoint.provider)
    role = {name: value for name, value in params.items() if name not in endpoint.omit}
    body = provider.merged(provider.body(endpoint, messages, schema), provider.parameters(role))
    body = provider.merged(body, endpoint.params)
    return {name: value for name, value in body.items() if name not in endpoint.omit}


def error_of(error: object) -> ErrorReply | None:
    """Return an error object, or its words alone, as an ErrorReply; None for what is neither."""
    if isinstance(error, str) and error:
        return ErrorReply("", error)
    if not isinstance(error, dict) or not error:
        return None
    code = error.get("code")
    words = text_of(error.get("message"))
    return ErrorReply("" if code is None else str(code), words, by_filter=_is_by_filter(error))


def _is_by_filter(error: Mapping[str, object]) -> bool:
    codes = [error.get("code"), error.get("type"), value_at(error, "innererror.code")]
    metadata = error.get("metadata")
    words = str(error.get("message")).casefold()
    return (
        any(code in FILTER_CODES for code in codes)
        or (isinstance(metadata, dict) and any(name in metadata for name in FILTER_METADATA))
        or any(sign in words for sign in FILTER_WORDS)
    )


def text_of(value: object) -> str:
    """Return a text as it is, and "" for whatever is none."""
    return value if isinstance(value, str) else ""


def reason_of(finish: object) -> str | None:
    """Return a finish reason as it is, and None for what is no text."""
    return finish if isinstance(finish, str) else None


def tokens_of(usage: Any, prompt: str, completion: str) -> tuple[int, int] | None:
    """Return the tokens in and out, None where one is missing or more than any model has."""
    try:
        counts = int(usage[prompt]), int(usage[completion])
    except (KeyError, TypeError, ValueError, OverflowError):  # the last: of 1e999
        return None
    return counts if all(0 <= count <= MOST_TOKENS for count in counts) else None


def text_parts(content: Sequence[Any]) -> list[str]:
    """Return the texts of a content in parts, those of thinking and others left out."""
    return [str(piece["text"]) for piece in content if piece["type"] == "text"]


def value_at(body: Mapping[str, object], name: str) -> object:
    """Return what stands in a body under a name, dots leading inwards; None where nothing does."""
    value: object = body
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
