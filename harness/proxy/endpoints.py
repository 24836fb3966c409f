"""Where a proxy's calls go: the [endpoints] of a study file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import httpx
import msgspec

from harness.asking.models.provider import provider_of
from harness.errors import UsageError
from harness.files import write_atomic
from harness.registry import DEFAULT_PROVIDER, names

STUDY_FILE = "study.toml"
EXAMPLE_NAME, EXAMPLE_URL = "model", "http://127.0.0.1:8080/v1"


class ServedEndpoint(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One endpoint of a study file.

    base_url: where its calls go. kind: the provider whose API it speaks, which says how a key is
    sent and which variables tell a client its address; "" for any other. api_key_env: the variable
    that holds the key; key_header: the header that it is sent in as it is. env: variables more that
    tell a client the address.
    """

    base_url: str
    kind: str = ""
    api_key_env: str = ""
    key_header: str = ""
    env: list[str] = []

    @property
    def variables(self) -> list[str]:
        """Return the environment variables that tell a client where to ask."""
        known = provider_of(self.kind).address_variables if self.kind else ()
        return [*known, *self.env]

    def key_headers(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the header that carries the key, from the environment; {} where there is none."""
        if not self.api_key_env:
            return {}
        key = environment.get(self.api_key_env, "")
        if not key:
            raise UsageError(f"{self.api_key_env} is not set; it holds the key of {self.base_url}")
        header, form = provider_of(self.kind or DEFAULT_PROVIDER).key_header
        if self.key_header:
            header, form = self.key_header, "{key}"
        return {header: form.format(key=key)}


def read_endpoints(folder: Path, added: Iterable[str] = ()) -> dict[str, ServedEndpoint]:
    """Return the endpoints of a folder's study file.

    added: NAME=URL each; in a folder without a study file, one is written with them. Raises
    UsageError for what is not there or not valid.
    """
    path = folder / STUDY_FILE
    new = dict(map(_pair, added))
    if new and not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(path, _study_file(new).encode())
    if not path.exists():
        raise UsageError(
            f"{path}: there is no study file. Name what the program asks: "
            f"--endpoint {EXAMPLE_NAME}={EXAMPLE_URL}"
        )
    endpoints = _of_file(path)
    for name, url in new.items():
        if name not in endpoints or endpoints[name].base_url != url:
            raise UsageError(f"{path}: has no endpoint {name!r} with base_url {url!r}; write it.")
    return endpoints


def _of_file(path: Path) -> dict[str, ServedEndpoint]:
    try:
        content = tomllib.loads(path.read_text("utf-8"))
        endpoints = msgspec.convert(content.get("endpoints", {}), dict[str, ServedEndpoint])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: {error}") from error
    if not endpoints:
        raise UsageError(
            f"{path}: has no endpoints. Add, say:\n[endpoints.{EXAMPLE_NAME}]\n"
            f'base_url = "{EXAMPLE_URL}"\nkind = "{DEFAULT_PROVIDER}"'
        )
    for name, endpoint in endpoints.items():
        _check(path, name, endpoint)
    return endpoints


def _check(path: Path, name: str, endpoint: ServedEndpoint) -> None:
    where = f"{path}: endpoints.{name}"
    if not name.replace("-", "").replace("_", "").isalnum() or name == "c":
        raise UsageError(f"{where}: a name has letters, digits, - and _, and is not 'c'")
    kinds = names("harness.providers")
    if endpoint.kind and endpoint.kind not in kinds:
        raise UsageError(f"{where}.kind: {endpoint.kind!r}: expected one of {', '.join(kinds)}")
    try:
        url = httpx.URL(endpoint.base_url)
    except httpx.InvalidURL as error:
        raise UsageError(
            f"{where}.base_url: {endpoint.base_url!r} is no address: {error}"
        ) from error
    if url.scheme not in ("http", "https") or not url.host or url.query or url.fragment:
        raise UsageError(
            f"{where}.base_url: expected an address like {EXAMPLE_URL}, without ? and "
            f"#, got {endpoint.base_url!r}"
        )


def _pair(text: str) -> tuple[str, str]:
    name, equals, url = text.partition("=")
    if not equals:
        raise UsageError(f"--endpoint {text}: expected NAME=URL")
    return name, url


def _study_file(endpoints: Mapping[str, str]) -> str:
    """Return a study file with these endpoints; a name that is a kind gets it."""
    lines = ['title = "Recorded by harness serve"', 'protocol = "program"']
    for name, url in endpoints.items():
        lines += ["", f"[endpoints.{name}]", f"base_url = {msgspec.json.encode(url).decode()}"]
        lines += [f'kind = "{name}"'] if name in names("harness.providers") else []
    return "\n".join(lines) + "\n"


def keys_of(
    endpoints: Mapping[str, ServedEndpoint], environment: Mapping[str, str] = os.environ
) -> list[str]:
    """Return the keys of endpoints that the environment holds."""
    variables = [endpoint.api_key_env for endpoint in endpoints.values() if endpoint.api_key_env]
    return [environment[name] for name in variables if environment.get(name)]
