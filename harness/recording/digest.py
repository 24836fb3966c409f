"""What makes two requests the same request.

They are the same where their canonical forms are. The digest "1:" names such a form where nothing
else names a request; it is derived whenever it is needed, and cassettes of format 2 store none. It
is the MD5 of the JSON array [method, URL, kind, body], without spaces, in ASCII.
In it a JSON body's objects stand as {"object": [[key, value], ...]} sorted by key, its numbers as
{"number": "literal text"}, so that key order and white space do not count, and list order, 1 and
"1" and true, large integers and repeated keys do. A multipart body stands as its parts, without
its boundary; any other body as base64 of its bytes. Headers do not count. Secrets are left
out first (redaction.py names them), so that another key, or none, gives the same digest.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from urllib.parse import urlsplit

from harness.recording.redaction import REDACTED, SECRET_NAMES, clean_form, clean_url

VERSION = "1:"
_ports = {"http": ":80", "https": ":443"}
_boundary = re.compile(r'boundary="?([^";,]+)"?', re.IGNORECASE)
_part_name = re.compile(rb'name="([^"]*)"')


def canonical_request(method: str, url: str, content_type: str, body: bytes) -> str:
    """Return the form in which requests are compared; `body` is decoded of any Content-Encoding."""
    kind, value = canonical_body(content_type, body)
    return json.dumps([method.upper(), normal_url(url), kind, value], separators=(",", ":"))


def digest(method: str, url: str, content_type: str, body: bytes) -> str:
    """Return the version and the MD5 of a request's canonical form."""
    form = canonical_request(method, url, content_type, body)
    return VERSION + hashlib.md5(form.encode("ascii"), usedforsecurity=False).hexdigest()


def normal_url(url: str) -> str:
    """Return the URL without secrets, fragment and default port, its query sorted by name."""
    parts = urlsplit(clean_url(url))
    scheme, host = parts.scheme.lower(), parts.netloc.lower()
    host = host.removesuffix(_ports.get(scheme, "\0"))
    pairs = sorted(
        (pair for pair in parts.query.split("&") if not pair.endswith("=" + REDACTED)),
        key=lambda pair: pair.partition("=")[0],
    )
    return f"{scheme}://{host}{parts.path or '/'}?{'&'.join(pairs)}"


def canonical_body(content_type: str, body: bytes) -> tuple[str, object]:
    """Return the kind of a body ("empty", "json", "multipart", "bytes") and its comparable form."""
    if not body:
        return "empty", ""
    boundary = _boundary.search(content_type)
    if content_type.lower().startswith("multipart/") and boundary:
        parts = _parts(body, boundary[1].encode())
        if parts:  # else the boundary is not the body's: compared by its bytes
            return "multipart", parts
    text = _text(body)
    if text is not None and text.lstrip()[:1] in ("{", "["):
        try:
            return "json", canonical_json(text)
        except (ValueError, RecursionError):
            pass  # not JSON after all, or nested too deep to walk: compared by its bytes
    if text is not None and "x-www-form-urlencoded" in content_type.lower():
        body = clean_form(text).encode()
    return "bytes", base64.b64encode(body).decode()


def canonical_json(text: str) -> object:
    """Return a JSON text's comparable form; raises ValueError, or RecursionError where too deep."""
    form = json.loads(
        text,
        object_pairs_hook=_object,
        parse_int=_number,
        parse_float=_number,
        parse_constant=_number,
    )
    json.dumps(form)  # as deep as reading goes, writing must go too
    return form


def _object(pairs: list[tuple[str, object]]) -> dict[str, list[tuple[str, object]]]:
    kept = [pair for pair in pairs if not (pair[0].lower() in SECRET_NAMES and _secret(pair[1]))]
    return {"object": sorted(kept, key=lambda pair: pair[0])}


def _secret(value: object) -> bool:
    return value is None or isinstance(value, str)


def _number(literal: str) -> dict[str, str]:
    return {"number": literal}


def _text(body: bytes) -> str | None:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _parts(body: bytes, boundary: bytes) -> list[list[str]]:
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary)
    return [_part(piece) for piece in pieces[1:] if not piece.startswith(b"--")]


def _part(piece: bytes) -> list[str]:
    head, _, content = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
    name = _part_name.search(head)
    if name and name[1].decode("latin-1").lower() in SECRET_NAMES:
        content = REDACTED.encode()
    return [head.decode("latin-1"), base64.b64encode(content).decode()]
