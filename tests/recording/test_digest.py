"""What the digest of a request distinguishes, and what it does not."""

from __future__ import annotations

import hashlib
import json

import pytest

from harness.recording.digest import digest

URL = "https://host.example/v1/chat"
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


def of_json(text: str) -> str:
    """Give the digest of a POST with this JSON body."""
    return digest("POST", URL, JSON, text.encode())


def of_url(url: str) -> str:
    """Give the digest of a GET."""
    return digest("GET", url, "", b"")


def multipart(boundary: str, content: bytes, name: str = "file") -> str:
    """Give the digest of an upload of one part."""
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode()
    body = part + content + f"\r\n--{boundary}--\r\n".encode()
    return digest("POST", URL, f"multipart/form-data; boundary={boundary}", body)


def test_form() -> None:
    """A digest is the version and the MD5 of what the module's docstring spells out."""
    whole = (
        '["POST","https://host.example/v1/chat?","json",{"object":[["model","\\u00fc"],'
        '["n",[{"number":"1"},{"number":"2.50"},true]]]}]'
    )
    spelled = "1:" + hashlib.md5(whole.encode()).hexdigest()
    assert of_json('{"n":[1,2.50,true], "api_key":"x", "model":"ü"}') == spelled


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":2}', '{ "b" : 2,\n\t"a" : 1 }'),
        ('{"a":"ü"}', '{"a":"\\u00fc"}'),
        ('{"a":{"c":1,"b":[{"y":1,"x":2}]}}', '{"a":{"b":[{"x":2,"y":1}],"c":1}}'),
        ('{"api_key":"one","a":1}', '{"a":1,"api_key":"another"}'),
        ('{"api_key":"one","a":1}', '{"a":1}'),
        ('{"api_key":null,"a":1}', '{"a":1}'),
        ('{"a":{"Password":"one"}}', '{"a":{"Password":"two"}}'),
    ],
)
def test_same(one: str, other: str) -> None:
    """Key order, white space, escapes and secrets do not count."""
    assert of_json(one) == of_json(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1}', '{"a":"1"}'),
        ('{"a":1}', '{"a":true}'),
        ('{"a":1}', '{"a":1.0}'),
        ('{"a":0}', '{"a":false}'),
        ('{"a":0}', '{"a":-0}'),
        ('{"a":null}', '{"a":"null"}'),
        ('{"a":null}', "{}"),
        ('{"a":9007199254740993}', '{"a":9007199254740992}'),
        ('{"a":1e400}', '{"a":1e401}'),
        ('{"a":0.1}', '{"a":0.10000000000000001}'),
        ('{"a":[1,2]}', '{"a":[2,1]}'),
        ('{"a":1,"a":2}', '{"a":2}'),
        ('{"a":1,"a":2}', '{"a":2,"a":1}'),
        ('{"a":{"number":"1"}}', '{"a":1}'),
        ('{"a":{"object":[["b","c"]]}}', '{"a":{"b":"c"}}'),
        ('{"a":" x"}', '{"a":"x"}'),
        ('{"a":"X"}', '{"a":"x"}'),
        ('{"a":"\\ud800"}', '{"a":"\\ufffd"}'),
        ('{"api_key":{"a":1}}', '{"api_key":{"a":2}}'),
        ("[]", "{}"),
        ("[1]", "[1] x"),
    ],
)
def test_different(one: str, other: str) -> None:
    """Types, numbers' spelling, list order, repeated keys and letters do count."""
    assert of_json(one) != of_json(other)


@pytest.mark.parametrize("depth", [900, 5_000, 100_000])
def test_deep_nesting(depth: int) -> None:
    """JSON too deep to walk still gets a digest, that of its bytes."""
    deep, deeper = "[" * depth + "]" * depth, "[" * (depth + 1) + "]" * (depth + 1)
    assert of_json(deep) == of_json(deep)
    assert of_json(deep) != of_json(deeper)


def test_huge_integer() -> None:
    """An integer of more digits than Python converts is compared as text."""
    assert of_json('{"a":' + "1" * 5000 + "}") != of_json('{"a":' + "1" * 4999 + "2}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://h/p?b=2&a=1", "https://h/p?a=1&b=2"),
        ("https://h:443/p", "https://h/p"),
        ("http://h:80/", "http://h"),
        ("https://H.EXAMPLE/p", "https://h.example/p"),
        ("https://h/p#one", "https://h/p#two"),
        ("https://user:secret@h/p", "https://h/p"),
        ("https://h/p?key=one&a=1", "https://h/p?a=1"),
        ("https://h/p?a=1&API_KEY=one", "https://h/p?a=1&API_KEY=two"),
    ],
)
def test_same_url(one: str, other: str) -> None:
    """Query order, default ports, the host's case, fragments and secrets do not count."""
    assert of_url(one) == of_url(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://h/p?a=1&a=2", "https://h/p?a=2&a=1"),
        ("https://h/p?a=1", "https://h/p?a=1&a=1"),
        ("https://h/p", "http://h/p"),
        ("https://h/p", "https://h:8443/p"),
        ("https://h/p", "https://h/P"),
        ("https://h/p?a=", "https://h/p?a"),
        ("https://h/p?monkey=1", "https://h/p?monkey=2"),
    ],
)
def test_different_url(one: str, other: str) -> None:
    """Repeated keys' order, scheme, port, path and names that only end like a secret's count."""
    assert of_url(one) != of_url(other)


def test_method_counts() -> None:
    """Another method is another request, in whatever case it is written."""
    assert digest("GET", URL, "", b"") != digest("HEAD", URL, "", b"")
    assert digest("get", URL, "", b"") == digest("GET", URL, "", b"")


def test_multipart_boundary() -> None:
    """The boundary does not count; content, name and secrets are as elsewhere."""
    assert multipart("aaa", b"x") == multipart("b-b", b"x")
    assert multipart("aaa", b"x") != multipart("aaa", b"y")
    assert multipart("aaa", b"x") != multipart("aaa", b"x", "other")
    assert multipart("aaa", b"one", "api_key") == multipart("aaa", b"two", "api_key")


def test_multipart_of_another_boundary() -> None:
    """A body that does not hold the boundary of its header is compared by its bytes."""
    kind = "multipart/form-data; boundary=zzz"
    one, other = (digest("POST", URL, kind, body) for body in (b"--aaa one", b"--aaa other"))
    assert one != other


def test_form_secrets() -> None:
    """Another key in a form is the same request; another field is not."""
    one, two, three = (
        digest("POST", URL, FORM, body)
        for body in (b"q=1&api_key=one", b"q=1&api_key=two", b"q=2&api_key=one")
    )
    assert one == two != three


def test_kinds_do_not_mix() -> None:
    """An empty body, the text {} and bytes that are no UTF-8 are all different."""
    bodies = [b"", b"{}", b"\xff", json.dumps("{}").encode()]
    assert len({digest("POST", URL, JSON, body) for body in bodies}) == len(bodies)
