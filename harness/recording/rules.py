"""What is left out when two requests are compared; given when recording, kept in the cassette."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit, urlunsplit

import msgspec

from harness.errors import UsageError
from harness.recording.exchange import PlainRequest

MOST_MARKS = 3  # in one pattern
MARKS = {  # bounded, so that no text takes long, whoever wrote the pattern
    "<uuid>": r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}",
    "<hex>": r"[0-9a-fA-F]{1,64}",
    "<digits>": r"[0-9]{1,20}",
    "<word>": r"[A-Za-z0-9_-]{1,64}",
    "<date>": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
}
_mark = re.compile("|".join(MARKS))
_host = re.compile(r"[A-Za-z0-9._-]{1,253}(?::(?:[0-9]{1,5}|\*))?")


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Rules of one cassette.

    ignore: a JSON pointer into the body ("/metadata/run_id", * for any key or place), a query
    parameter ("?trace"), or a pattern of a value in body, query and path ("pyd_ai_<uuid>").
    hosts: hosts that count as another, "127.0.0.1:*" for any port.
    """

    ignore: tuple[str, ...] = ()
    hosts: dict[str, str] = {}

    def compared(self, request: PlainRequest) -> PlainRequest:
        """Return what of a request is compared."""
        if not self:
            return request
        url, body = self._url(request.url), request.body
        pointers = [rule[1:].split("/") for rule in self.ignore if rule.startswith("/")]
        patterns = [rule for rule in self.ignore if _mark.search(rule)]
        try:
            text = _without(body.decode(), pointers) if body else ""
        except UnicodeDecodeError:
            return request._replace(url=_replaced(url, patterns))
        return request._replace(
            url=_replaced(url, patterns), body=_replaced(text, patterns).encode()
        )

    def __bool__(self) -> bool:
        return bool(self.ignore or self.hosts)

    def words(self) -> str:
        """Return what is not compared, in a line; "" where all is."""
        hosts = [f"{host} as {other}" for host, other in self.hosts.items()]
        parts = [f"ignored: {', '.join(self.ignore)}"] if self.ignore else []
        return "; ".join([*parts, *([f"hosts: {', '.join(hosts)}"] if hosts else [])])

    def _url(self, url: str) -> str:
        address = urlsplit(url)
        netloc = address.netloc.lower()
        any_port = f"{netloc.partition(':')[0]}:*"
        netloc = self.hosts.get(netloc) or self.hosts.get(any_port) or address.netloc
        names = {rule[1:] for rule in self.ignore if rule.startswith("?")}
        pairs = [p for p in address.query.split("&") if p.partition("=")[0] not in names]
        return urlunsplit(address._replace(netloc=netloc, query="&".join(pairs)))


NO_RULES = Rules()


def rules_of(ignore: Iterable[str] = (), hosts: Mapping[str, str] | None = None) -> Rules:
    """Return rules in their order, checked; raises UsageError for one that is none of the forms."""
    rules = Rules(tuple(sorted(set(ignore))), dict(sorted((hosts or {}).items())))
    check(rules)
    return rules


def check(rules: Rules) -> None:
    """Raise UsageError for a rule that cannot be followed."""
    for rule in rules.ignore:
        marks = len(_mark.findall(rule))
        if not rule.startswith(("/", "?")) and not 0 < marks <= MOST_MARKS:
            raise UsageError(
                f"ignore: {rule!r} is no rule. Expected a JSON pointer (/metadata/run_id), a "
                f"query parameter (?trace), or a pattern with 1 to {MOST_MARKS} of "
                f"{', '.join(MARKS)} (call_<hex>)"
            )
    for host in [*rules.hosts, *rules.hosts.values()]:
        if not _host.fullmatch(host):
            raise UsageError(f"map: {host!r} is no host, such as model.test or 127.0.0.1:*")


def _replaced(text: str, patterns: Iterable[str]) -> str:
    for pattern in patterns:
        form = "".join(MARKS.get(p, re.escape(p)) for p in re.split(f"({_mark.pattern})", pattern))
        text = re.sub(form, pattern.replace("\\", r"\\"), text)
    return text


def _without(text: str, pointers: list[list[str]]) -> str:
    """Return a JSON text without what pointers name; any other text as it is."""
    if not pointers or text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        document = json.loads(
            text, object_pairs_hook=_Pairs, parse_float=_Number, parse_int=_Number
        )
        for pointer in pointers:
            _drop(document, [part.replace("~1", "/").replace("~0", "~") for part in pointer])
        return _written(document)
    except (ValueError, RecursionError):
        return text


class _Pairs(list[tuple[str, object]]):
    """The pairs of an object in their order, repeats kept."""


class _Number(str):
    """A number's literal text."""


def _drop(node: object, pointer: list[str]) -> None:
    name, deeper = pointer[0], pointer[1:]
    if isinstance(node, _Pairs):
        if not deeper:
            node[:] = [pair for pair in node if name not in ("*", pair[0])]
        for key, child in node if deeper else ():
            if name in ("*", key):
                _drop(child, deeper)
    elif isinstance(node, list):
        if not deeper:
            node[:] = [c for n, c in enumerate(node) if name not in ("*", str(n))]
        for number, child in enumerate(node) if deeper else ():
            if name in ("*", str(number)):
                _drop(child, deeper)


def _written(node: object) -> str:
    if isinstance(node, _Pairs):
        return "{" + ",".join(f"{json.dumps(k)}:{_written(v)}" for k, v in node) + "}"
    if isinstance(node, list):
        return "[" + ",".join(map(_written, node)) + "]"
    return str(node) if isinstance(node, _Number) else json.dumps(node)
