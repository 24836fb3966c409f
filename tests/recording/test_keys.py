"""A key in a request: not on disk, not part of the match, not sent where it would be stored."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import vcr
from loopback import Answer, Loopback, Received, json_answer
from recording.search import assert_nowhere
from recording.sessions import FACES, client, recorded, send, twice

from harness.errors import KeyInRequest, Miss
from harness.run.look import import_cassette

KEY, OTHER = "sk-Te/st+0123456789abcdef==", "sk-other-9876543210fedcba"
Make = Callable[[str, str], httpx.Request]


def post(url: str, **more: Any) -> httpx.Request:
    """Make a request."""
    return httpx.Request("POST", url, **more)


PLACES: dict[str, Make] = {
    "bearer": lambda url, key: post(url, json={}, headers={"Authorization": f"Bearer {key}"}),
    "x-api-key": lambda url, key: post(url, json={}, headers={"X-API-KEY": key}),
    "api-key": lambda url, key: post(url, json={}, headers={"Api-Key": key}),
    "own header": lambda url, key: post(url, json={}, headers={"X-Own-Token": key}),
    "cookie": lambda url, key: post(url, json={}, headers={"Cookie": f"session={key}"}),
    "query": lambda url, key: post(url, params={"key": key, "a": "1"}),
    "query, in another case": lambda url, key: post(url, params={"Api_Key": key, "a": "1"}),
    "JSON field": lambda url, key: post(url, json={"api_key": key, "a": 1}),
    "inner JSON field": lambda url, key: post(url, json={"auth": [{"ApiKey": key}], "a": 1}),
    "form field": lambda url, key: post(url, data={"client_secret": key, "a": "1"}),
    "multipart field": lambda url, key: post(
        url, data={"api_key": key}, files={"file": ("a.txt", b"text")}
    ),
    "binary multipart": lambda url, key: post(
        url, data={"api_key": key}, files={"file": ("a.bin", b"\xff\xfe")}
    ),
    "basic": lambda url, key: post(url, headers={"Authorization": httpx_basic(key)}),
}


def httpx_basic(key: str) -> str:
    """Give the header of HTTP's basic authentication."""
    request = httpx.Request("GET", "http://unused")
    return str(next(httpx.BasicAuth("user", key).auth_flow(request)).headers["authorization"])


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("place", PLACES)
def test_places_for_keys(tmp_path: Path, place: str, face: str) -> None:
    """A key in a place for keys is sent, is not on disk though echoed, and does not count."""
    path, make = tmp_path / "c.json", PLACES[place]

    def answer(received: Received) -> Answer:
        assert KEY in str(received) or place in (
            "basic",
            "query",
            "query, in another case",
            "form field",
        )
        said = KEY if place not in ("cookie", "form field", "own header") else "-"
        return json_answer({"error": f"wrong key {said}", "kept": 1}, 400)

    if place in ("multipart field", "binary multipart", "basic"):
        keys: list[str] = [KEY]
    else:
        keys = []

    def talk(url: str, mode: str) -> bytes:
        key = KEY if mode == "once" else OTHER
        request = make(url, key)
        return send(face, path, mode, [request], keys=keys)[0].content

    live, again = twice(path, answer, talk)
    assert live == again
    assert b'"kept": 1' in live
    assert_nowhere(tmp_path, KEY)


@pytest.mark.parametrize("place", ["bearer", "query", "JSON field", "inner JSON field"])
def test_no_key_replays(tmp_path: Path, place: str) -> None:
    """Without any key the recording replays."""
    path, make = tmp_path / "c.json", PLACES[place]

    def without(request: httpx.Request) -> httpx.Request:
        url = request.url.copy_remove_param("key")
        body = json.loads(request.content or b"{}")
        body.pop("api_key", None)
        for inner in body.get("auth", []):
            inner.pop("ApiKey", None)
        content = json.dumps(body) if request.content else b""
        return httpx.Request("POST", url, content=content)

    def talk(url: str, mode: str) -> bytes:
        request = make(url, KEY)
        return send("sync", path, mode, [request if mode == "once" else without(request)])[
            0
        ].content

    live, again = twice(path, lambda received: json_answer("fine"), talk)
    assert live == again == b'"fine"'


REFUSED: dict[str, Make] = {
    "prompt": lambda url, key: post(url, json={"prompt": f"my key is {key}, keep it"}),
    "escaped": lambda url, key: post(url, content=json.dumps({"p": key}).replace("/", "\\/")),
    "path": lambda url, key: post(f"{url}/v1/{key}/x"),
    "other parameter": lambda url, key: post(url, params={"q": key}),
    "other header": lambda url, key: post(url, headers={"X-Note": f"see {key}"}),
    "form": lambda url, key: post(url, data={"q": key}),
    "binary": lambda url, key: post(url, content=b"\xff" + key.encode()),
    "gzip": lambda url, key: post(
        url, content=gzip.compress(key.encode()), headers={"Content-Encoding": "gzip"}
    ),
}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("place", REFUSED)
def test_places_not_for_keys(tmp_path: Path, place: str, face: str) -> None:
    """A key anywhere else stops before it is sent; the message does not repeat it."""
    path = tmp_path / "c.json"
    with Loopback(lambda received: json_answer("fine")) as server:
        request = REFUSED[place](server.url, KEY)
        with pytest.raises(KeyInRequest, match="was not sent") as stopped:
            send(face, path, "once", [request], keys=[KEY])
        assert server.received == []
    assert KEY not in str(stopped.value)
    assert_nowhere(tmp_path, KEY)


def test_compressed_key_field_is_refused(tmp_path: Path) -> None:
    """A key's field inside a compressed body cannot be taken out, so it is not sent."""
    body = gzip.compress(json.dumps({"api_key": KEY}).encode())
    with Loopback(lambda received: json_answer("fine")) as server:
        request = post(server.url, content=body, headers={"Content-Encoding": "gzip"})
        with pytest.raises(KeyInRequest):
            send("sync", tmp_path / "c.json", "once", [request])
        assert server.received == []


def test_miss_does_not_show_keys(tmp_path: Path) -> None:
    """The message of a miss shows neither a key's parameter nor its field."""
    path = tmp_path / "c.json"
    with Loopback(lambda received: json_answer("fine")) as server:
        send("sync", path, "once", [post(server.url, params={"key": KEY}, json={"a": 1})])
    wrong = post(server.url, params={"key": KEY}, json={"a": 2, "api_key": KEY})
    with pytest.raises(Miss) as stopped:
        send("sync", path, "none", [wrong])
    assert KEY not in str(stopped.value)
    assert "sk-Te" not in str(stopped.value)


def sent_with_key(url: str, live: httpx.Client) -> None:
    """Send a key in every way that vcrpy would store."""
    live.post(url, json={"prompt": f"my key is {KEY}"}, headers={"Authorization": f"Bearer {KEY}"})
    live.post(url, params={"key": KEY, "q": KEY}, json={"api_key": KEY})
    live.post(f"{url}/{KEY}", content=b"\xff\xfe" + KEY.encode())
    packed = gzip.compress(json.dumps({"prompt": KEY}).encode())
    live.post(url, content=packed, headers={"Content-Encoding": "gzip"})


def leaking(received: Received) -> Answer:
    """Answer with the key in the head and in a compressed body."""
    headers = [
        ("Content-Encoding", "gzip"),
        ("Set-Cookie", "session=private-session-value; Path=/"),
        ("X-Echo", KEY),
    ]
    return Answer(headers=headers, body=gzip.compress(f'{{"wrong": "{KEY}"}}'.encode()))


def test_import_takes_keys_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An imported cassette holds the key nowhere, in its head, paths and packed bodies."""
    monkeypatch.setenv("THEIR_KEY", KEY)
    source, target = tmp_path / "theirs" / "c.yaml", tmp_path / "ours" / "c.json"
    target.parent.mkdir()
    with Loopback(leaking) as server, vcr.use_cassette(str(source)):
        with httpx.Client(trust_env=False) as live:
            sent_with_key(server.url, live)
    assert KEY in source.read_text()
    assert import_cassette(source, target, ["THEIR_KEY"]) == 4
    assert_nowhere(target.parent, KEY)
    assert_nowhere(target.parent, "private-session-value")
    assert {kept.body_bytes for kept in recorded(target)} == {b'{"wrong": "[REDACTED]"}'}
    with client(target) as again:
        found = again.post(f"{server.url}?q=[REDACTED]", json={"api_key": OTHER})
    assert found.json() == {"wrong": "[REDACTED]"}
