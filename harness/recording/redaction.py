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
from collections.abc import Iterable
from urllib.parse import quote

REDACTED = "[REDACTED]"
SHORTEST_KEY = 8
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
    rf"(?i)((?:^|[?&])(?:{_names}|{'|'.join(QUERY_ONLY)})=)(?!\[REDACTED\])[^&#\s]*"
)
_field = re.compile(rf'(?i)("(?:{_names})"\s*:\s*)"(?:[^"\\]|\\.)*"')
_userinfo = re.compile(r"^([a-z][a-z0-9+.-]*://)[^/@?#]*@", re.IGNORECASE)
_cookie = re.compile(r"^([^=;]*=)[^;]*")


def clean_url(url: str) -> str:
    """Replace the values of secret query parameters and any user info of a URL."""
    return _query.sub(rf"\g<1>{REDACTED}", _userinfo.sub(r"\1", url))


def clean_text(text: str) -> str:
    """Replace the string values of secret JSON fields, leaving every other character."""
    return _field.sub(rf'\g<1>"{REDACTED}"', text) if '"' in text else text


def clean_form(text: str) -> str:
    """Replace the values of secret fields of a form-encoded body."""
    return _query.sub(rf"\g<1>{REDACTED}", text)


def clean_header(name: str, value: str) -> str:
    """Replace a secret header's value; of a cookie only the value, its name and rules stay."""
    if name.lower() == "set-cookie":
        return _cookie.sub(rf"\g<1>{REDACTED}", value)
    if name.lower() == "location":
        return clean_url(value)
    return REDACTED if SECRET_HEADER.search(name) else value


class KeyRing:
    """The values of the keys in use, looked for in everything that is sent or kept.

    Keys under 8 characters ("none", "test") are not searched for: they would match by accident.
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys: set[str] = set()
        self._pattern: re.Pattern[bytes] | None = None
        self._longest = 0
        self.replaced = 0
        for key in keys:
            self.add(key)

    def add(self, key: str) -> None:
        """Search for this value too."""
        if len(key) < SHORTEST_KEY or key in self._keys or key == REDACTED:
            return
        self._keys.add(key)
        forms = sorted({form for known in self._keys for form in _forms(known)}, key=len)
        self._longest = len(forms[-1])
        self._pattern = re.compile(b"|".join(re.escape(form) for form in reversed(forms)))

    def found_in(self, data: bytes) -> bool:
        """Tell whether any key stands in the data, in any of its forms."""
        return self._pattern is not None and self._pattern.search(data) is not None

    def clean(self, data: bytes) -> bytes:
        """Replace every key by [REDACTED]."""
        if self._pattern is None:
            return data
        cleaned, count = self._pattern.subn(REDACTED.encode(), data)
        self.replaced += count
        return cleaned

    def held_back(self, data: bytes) -> int:
        """Count the bytes at the end of a stream's piece that may be the beginning of a key."""
        forms = [form for key in self._keys for form in _forms(key)]
        for size in range(min(self._longest - 1, len(data)), 0, -1):
            if any(form.startswith(data[-size:]) for form in forms):
                return size
        return 0


def _forms(key: str) -> set[bytes]:
    plain = key.encode()
    forms = {plain, quote(key, safe="").encode(), json.dumps(key)[1:-1].encode()}
    for shift in range(3):
        inner = _base64_core(plain, shift)
        forms |= {inner, inner.translate(bytes.maketrans(b"+/", b"-_"))}
    return forms


def _base64_core(plain: bytes, shift: int) -> bytes:
    """Give the base64 characters that the key alone decides, `shift` bytes into a group of 3."""
    encoded = base64.b64encode(b"\0" * shift + plain)
    first = -(-shift * 8 // 6)
    return encoded[first : (shift + len(plain)) * 8 // 6]
