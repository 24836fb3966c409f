"""Take in the cassettes of vcrpy, YAML or JSON, of its present layout and its older httpx one."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.decoding import DecodesToTooMuch, are_known, decoded
from harness.errors import DamagedFile, UsageError
from harness.recording.cassette import Cassette, label_of
from harness.recording.exchange import (
    Pairs,
    PlainRequest,
    plain_body,
    sent_bytes,
    stored_request,
)
from harness.recording.interaction import (
    Interaction,
    RecordedResponse,
    Status,
    encodings,
    header_map,
    stored_body,
)
from harness.recording.redaction import KeyRing, clean_header


def import_vcr(path: Path, keys: KeyRing) -> Cassette:
    """Read a vcrpy cassette into ours; secrets are taken out on the way.

    Raises UsageError where the file is no vcrpy cassette, DamagedFile where it is a broken one.
    """
    data = _document(path)
    if not isinstance(data, dict) or not isinstance(data.get("interactions"), list):
        raise UsageError(
            f"{path}: is no vcrpy cassette (no list `interactions`). Cassettes from "
            "before vcrpy 1.0 go through `python -m vcr.migration` first."
        )
    seen: Counter[str] = Counter()
    return Cassette(_interactions(path, data["interactions"], keys, seen))


def _document(path: Path) -> object:
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path}: byte {error.start} is not UTF-8") from error
    try:
        return json.loads(text) if text.lstrip().startswith("{") else _yaml(text)
    except Exception as error:
        raise DamagedFile(f"{path}: cannot be read, and nothing in it was run: {error}") from error


def _yaml(text: str) -> object:
    """Use vcrpy's own loader, which builds plain values only and refuses to run anything."""
    from vcr.serializers import yamlserializer

    return yamlserializer.deserialize(text)


def _interactions(
    path: Path, entries: list[Any], keys: KeyRing, seen: Counter[str]
) -> Iterable[Interaction]:
    for number, entry in enumerate(entries, 1):
        try:
            interaction = _interaction(entry["request"], entry["response"], keys)
        except DecodesToTooMuch as error:
            raise DamagedFile(f"{path}: interaction {number}: {error}") from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DamagedFile(
                f"{path}: interaction {number} does not have vcrpy's form "
                f"({type(error).__name__}: {error})"
            ) from error
        label = label_of(interaction)
        interaction.response.occurrence = seen[label]
        seen[label] += 1
        yield interaction


def _interaction(
    request: Mapping[str, Any], response: Mapping[str, Any], keys: KeyRing
) -> Interaction:
    plain = _without_keys(_plain_request(request), keys)
    kept = stored_request(plain)
    pairs, body = _plain(_pairs(response["headers"]), _body(response))
    pairs = [(name, clean_header(name, keys.clean_text(_latin(value)))) for name, value in pairs]
    code, reason = _status(response)
    binary = kept.body is None
    return Interaction(
        kept,
        RecordedResponse(
            Status(code, reason),
            header_map(pairs),
            stored_body(keys.clean(body)),
            http_version=str(response.get("http_version") or "HTTP/1.1"),
            request_base64=base64.b64encode(sent_bytes(plain)).decode() if binary else None,
        ),
    )


def _without_keys(plain: PlainRequest, keys: KeyRing) -> PlainRequest:
    """Take keys out of a request; a compressed body that holds one is kept decompressed."""
    body, headers = plain.body, plain.headers
    if keys.found_in(plain_body(plain)):
        body = plain_body(plain)
        headers = [pair for pair in headers if pair[0] != b"content-encoding"]
    return plain._replace(
        url=keys.clean_text(plain.url),
        headers=[(name, keys.clean(value)) for name, value in headers],
        body=keys.clean(body),
    )


def _latin(value: str) -> str:
    """Return a header's text as it came over the wire: what is not Latin-1 was UTF-8 there."""
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode("latin-1")
    return value


def _plain_request(request: Mapping[str, object]) -> PlainRequest:
    headers = [
        (name.lower().encode(), value.encode())
        for name, value in _pairs(request.get("headers") or {})
    ]
    return PlainRequest(
        str(request["method"]), str(request["uri"]), headers, _bytes(request.get("body"))
    )


def _pairs(headers: Any) -> Pairs:
    listed = headers.items() if isinstance(headers, dict) else headers
    return [
        (str(name), str(value))
        for name, values in listed
        for value in (values if isinstance(values, (list, tuple)) else [values])
    ]


def _bytes(value: Any) -> bytes:
    if value is None:
        return b""
    if hasattr(value, "read"):
        return _bytes(value.read())
    if isinstance(value, (list, tuple)) or hasattr(value, "__next__"):
        return b"".join(map(_bytes, value))
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")


def _status(response: Mapping[str, Any]) -> tuple[int, str]:
    """Older httpx cassettes have `status_code`; newer ones a code and a message."""
    if "status_code" in response:
        return int(response["status_code"]), ""
    return int(response["status"]["code"]), str(response["status"].get("message") or "")


def _body(response: Mapping[str, Any]) -> bytes:
    if "status_code" in response:
        return _bytes(response.get("content"))
    return _bytes((response.get("body") or {}).get("string"))


def _plain(pairs: Pairs, body: bytes) -> tuple[Pairs, bytes]:
    """Decode what is still encoded; vcrpy may keep the header beside a decoded body."""
    coding = encodings(pairs)
    if not coding or not body or not are_known(coding):
        return pairs, body
    plain = decoded(coding, body)
    dropped = ("content-encoding", "content-length")
    kept = [pair for pair in pairs if pair[0].lower() not in dropped]
    return kept, body if plain is None else plain
