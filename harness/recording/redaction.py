"""Keep keys out of what is stored, and out of what decides a match.

Two rules. *Structural*: what stands in a header, a query parameter or a JSON field whose name is
one of those listed here is replaced whatever it is, in the same way while recording and while
replaying, so that another key, or none, replays. *By value*: the keys in use are looked for in
everything else, also percent-encoded, JSON-escaped and base64-encoded.
"""

from __future__ import annotations

import base64
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote_plus

REDACTED = "[REDACTED]"
SHORTEST_KEY = 8  # of those that somebody named as keys
SHORTEST_UNNAMED = 16
FEWEST_CHARACTERS = 5  # different ones
DUMMIES = frozenset(
    "anything changeme dummy-key fake-key lm-studio my-api-key no-key-required none-needed "
    "not-a-key not-needed not-required not-used notneeded placeholder sk-no-key-required "
    "sk-placeholder something test-key token-abc123 unneeded unused-key your-api-key "
    "your_api_key your-api-key-here".split()
)
SECRET_HEADER = re.compile(
    r"(^|-)(authorization|cookie|api-?key|key|token|secret|password)$", re.IGNORECASE
)
SECRET_NAMES = (
    "api_key",
    "apikey",
    "api-key",
    "access_token",
    "refresh_token",
    "id_token",
    "client_secret",
    "password",
    "secret_key",
    "authorization",
    "x-api-key",
    "subscription-key",
)
QUERY_ONLY = ("key", "token", "sig", "signature", "secret", "auth")
_names = "|".join(re.escape(name) for name in SECRET_NAMES)
_query = re.compile(
    rf"(?i)((?:^|[?&])(?:{_names}|{'|'.join(QUERY_ONLY)})=)(?!\[REDACTED\])([^&#\s]*)"
)
_field = re.compile(rf'(?i)("(?:{_names})"\s*:\s*)("(?:[^"\\]|\\.)*")')
_part = re.compile(
    rf'(?is)(\bname="(?:{_names})"[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n).*?(?=\r\n--)'.encode()
)
_userinfo = re.compile(r"^([a-z][a-z0-9+.-]*://)[^/@?#]*@", re.IGNORECASE)
_like_a_key = re.compile(r"(?=.*\d)[!-~]+")
_cookie = re.compile(r"^([^=;]*=)?[^;]*")


def is_secret_header(name: str) -> bool:
    """Tell whether a header is one of those that carry keys."""
    return SECRET_HEADER.search(name) is not None


def is_secret_parameter(name: str) -> bool:
    """Tell whether a query parameter is one of those that carry keys."""
    return name.lower() in (*SECRET_NAMES, *QUERY_ONLY)


def clean_url(url: str) -> str:
    """Replace the values of secret query parameters and any user info of a URL."""
    return _query.sub(rf"\g<1>{REDACTED}", _userinfo.sub(r"\1", url))


def clean_text(text: str) -> str:
    """Replace the string values of secret JSON fields, leaving every other character."""
    return _field.sub(rf'\g<1>"{REDACTED}"', text) if '"' in text else text


def clean_form(text: str) -> str:
    """Replace the values of secret fields of a form-encoded body."""
    return _query.sub(rf"\g<1>{REDACTED}", text)


def clean_multipart(body: bytes) -> bytes:
    """Replace the content of secret fields of a multipart body."""
    return _part.sub(rb"\g<1>" + REDACTED.encode(), body)


def secrets_in(url: str, text: str) -> Iterator[str]:
    """Yield the values of a request's secret places that are keys by `is_key`."""
    values = [unquote_plus(match[2]) for match in _query.finditer(url)]
    if '"' in text:
        values += [_unescaped(match[2]) for match in _field.finditer(text)]
    yield from filter(is_key, values)


def is_key(value: str, *, named: bool = False) -> bool:
    """Tell whether a value counts as a key: searched for everywhere, refused in prompts.

    named: whether somebody said that it is one (`keys=`, an environment variable in a study file);
    then it has 8 characters. A value that merely stands where keys stand has 16, a digit and no
    space. Either has 5 different characters, and is not one of the usual words for "no key".
    """
    if value.lower() in DUMMIES or len(set(value)) < FEWEST_CHARACTERS:
        return False
    if named:
        return len(value) >= SHORTEST_KEY
    return len(value) >= SHORTEST_UNNAMED and _like_a_key.fullmatch(value) is not None


def _unescaped(literal: str) -> str:
    try:
        return str(json.loads(literal, strict=False))
    except ValueError:
        return literal[1:-1]


def clean_header(name: str, value: str) -> str:
    """Replace a secret header's value; of a cookie only the value, its name and rules stay."""
    if name.lower() == "set-cookie":
        return _cookie.sub(rf"\g<1>{REDACTED}", value, count=1)
    if name.lower() == "location":
        return clean_url(value)
    return REDACTED if SECRET_HEADER.search(name) else value


class KeyRing:
    """The values of the keys in use, looked for in everything that is sent or kept.

    What counts as a key, `is_key` says. warns: whether the first one that is taken out of an answer
    is a warning; who counts `replaced` needs none.
    """

    def __init__(self, keys: Iterable[str] = (), *, warns: bool = False) -> None:
        self._keys: set[str] = set()
        self._forms: tuple[bytes, ...] = ()
        self._beginnings: frozenset[bytes] = frozenset()
        self._pattern: re.Pattern[bytes] | None = None
        self._warns = warns
        self.replaced = 0
        for key in keys:
            self.add(key)

    def add(self, key: str, *, named: bool = True) -> None:
        """Search for this value too, where it counts as a key."""
        if key in self._keys or key == REDACTED or not is_key(key, named=named):
            return
        keys = {*self._keys, key}
        forms = {form for plain in keys for form in _forms(plain)}
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        self._beginnings = frozenset(form[:n] for form in forms for n in range(1, len(form)))
        self._pattern = re.compile(b"|".join(map(re.escape, self._forms)))
        self._keys = keys

    def found_in(self, data: bytes) -> bool:
        """Tell whether any key stands in the data, in any of its forms."""
        return any(form in data for form in self._forms)  # quicker than the pattern

    def clean(self, data: bytes) -> bytes:
        """Replace every key by [REDACTED]."""
        if self._pattern is None or not self.found_in(data):
            return data
        cleaned, count = self._pattern.subn(REDACTED.encode(), data)
        self.replaced += count
        if self._warns:
            self._warns = False
            warnings.warn(
                f"a key stood in an answer, and is {REDACTED} there, for the program too: of its "
                "place nothing else is kept. If it is no key but a word, use another dummy.",
                stacklevel=2,
            )
        return cleaned

    def clean_text(self, text: str) -> str:
        """Replace every key in a text by [REDACTED]."""
        if not self._forms:
            return text
        return self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def held_back(self, data: bytes) -> int:
        """Count the bytes at the end of a stream's piece that may be the beginning of a key."""
        longest = len(self._forms[0]) - 1 if self._forms else 0
        for size in range(min(longest, len(data)), 0, -1):
            if data[-size:] in self._beginnings:
                return size
        return 0


def _forms(key: str) -> set[bytes]:
    plain = key.encode()
    quoted = [quote(key, safe=safe) for safe in ("", "/", "/+", "/+=", "/+=:@")]
    escaped = {json.dumps(key, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    escaped |= {json.dumps(text)[1:-1] for text in escaped}  # JSON within JSON
    escaped |= {text.replace("/", "\\/") for text in escaped}
    written = {*quoted, *map(_lower_hex, quoted), *escaped}
    forms = {plain, *(form.encode() for form in written)}
    for shift in range(3):
        inner = _base64_core(plain, shift)
        forms |= {inner, inner.translate(bytes.maketrans(b"+/", b"-_"))}
    return forms


def _lower_hex(quoted: str) -> str:
    return re.sub("%..", lambda match: match[0].lower(), quoted)


def _base64_core(plain: bytes, shift: int) -> bytes:
    """Return the base64 characters that the key alone decides, `shift` bytes into a group of 3."""
    encoded = base64.b64encode(b"\0" * shift + plain)
    first = -(-shift * 8 // 6)
    return encoded[first : (shift + len(plain)) * 8 // 6]
