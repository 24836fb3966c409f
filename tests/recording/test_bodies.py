"""What is stored and given back of a message, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from loopback import Answer, Pair, Received, json_answer
from recording.sessions import FACES, asked_twice, client, facts, recorded, twice

from harness.recording import cassette as cassettes

ALL_BYTES = bytes(range(256))
AWKWARD = "\ufeffNUL \x00, U+2028 \u2028, U+2029 \u2029, NEL \x85, CRLF \r\n, CR \r, tab \t, 🎈"
ODD_JSON = b'{"b":1.0,  "a":1e-7,"big":12345678901234567890123,"a":2}\n'


def post(body: bytes, kind: str = "application/octet-stream") -> list[httpx.Request]:
    """Ask once, with a body."""
    return [httpx.Request("POST", "http://unused", content=body, headers={"content-type": kind})]


def echo(received: Received) -> Answer:
    """Answer with the request's body."""
    kind = received.header("content-type") or ""
    return Answer(headers=[("Content-Type", kind)], body=received.body)


def echoed(path: Path, body: bytes, kind: str, face: str = "sync") -> httpx.Response:
    """Send a body to an echo and give the replayed response, equal to the live one."""

    def make(url: str) -> list[httpx.Request]:
        return [httpx.Request("POST", url, content=body, headers={"content-type": kind})]

    (live,), (again,) = asked_twice(path, echo, make, face)
    assert facts(live) == facts(again)
    assert again.content == body
    return again


@pytest.mark.parametrize("face", FACES)
def test_all_byte_values_both_ways(tmp_path: Path, face: str) -> None:
    """Every byte value survives in a request and in an answer."""
    echoed(tmp_path / "c.json", ALL_BYTES, "application/octet-stream", face)
    (kept,) = recorded(tmp_path / "c.json")
    assert (kept.request.body, kept.request_bytes, kept.body_bytes) == (None, ALL_BYTES, ALL_BYTES)


def test_changed_binary_body_is_a_miss(tmp_path: Path) -> None:
    """One bit more in a binary request is another request."""
    path = tmp_path / "c.json"
    echoed(path, ALL_BYTES, "application/octet-stream")
    with pytest.raises(BaseException, match="not recorded"), client(path) as again:
        again.post("http://127.0.0.1:9/", content=ALL_BYTES[:-1] + b"\xfe")


@pytest.mark.parametrize("charset", ["shift_jis", "iso-8859-1", "utf-16"])
def test_other_charsets(tmp_path: Path, charset: str) -> None:
    """Text in another charset is read the same live and in replay."""
    text = "日本語テキスト" if charset != "iso-8859-1" else "Größe"
    again = echoed(tmp_path / "c.json", text.encode(charset), f"text/plain; charset={charset}")
    assert again.text == text


def test_large_body(tmp_path: Path) -> None:
    """A body of 20 MB each way is kept whole."""
    path = tmp_path / "c.json"
    echoed(path, b"0123456789abcde\n" * (20 * 2**16), "text/plain")
    assert path.stat().st_size > 40 * 2**20


@pytest.mark.parametrize(
    "body",
    [
        AWKWARD.encode(),
        b"text with a lone \x80 byte",
        b"\xed\xa0\x80 a surrogate in UTF-8",
        b"\r\n",
        b"\x00",
        b"",
        b'"',
        b"\\",
        b"]}\n",
    ],
)
def test_awkward_text(tmp_path: Path, body: bytes) -> None:
    """NUL, a byte order mark, odd line ends and broken UTF-8 come back as they were."""
    echoed(tmp_path / "c.json", body, "text/plain")
    assert len(recorded(tmp_path / "c.json")) == 1


@pytest.mark.parametrize(
    "body", [ODD_JSON, b'{"said": "\\ud800 alone"}', b'{"n": [NaN, -0, 1E400]}', b"{not json"]
)
def test_json_is_not_rewritten(tmp_path: Path, body: bytes) -> None:
    """An answer in JSON keeps its spaces, its numbers' spelling and its repeated keys."""
    again = echoed(tmp_path / "c.json", body, "application/json")
    assert again.content == body


@pytest.mark.parametrize("face", FACES)
def test_headers_keep_order_repeats_and_bytes(tmp_path: Path, face: str) -> None:
    """Headers come back in order, with repeats apart, their case and their Latin-1 bytes."""
    given: list[Pair] = [
        ("X-One", "1"),
        ("Via", "a"),
        ("x-one", "2"),
        ("X-One", "3"),
        ("X-Name", "Größe ÿ"),
        ("Via", "b, c"),
        ("X-Empty", ""),
        ("X-Quote", 'say "hi" \\ back'),
    ]
    (live,), (again,) = asked_twice(
        tmp_path / "c.json",
        lambda received: Answer(headers=given, body=b"x"),
        lambda url: [httpx.Request("GET", url)],
        face,
    )
    sent = [(name.encode(), value.encode("latin-1")) for name, value in given]
    assert live.headers.raw[: len(sent)] == sent
    assert facts(live) == facts(again)


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        (Answer(200, "Quite Fine"), (200, "Quite Fine", "HTTP/1.1")),
        (Answer(299, "Own"), (299, "Own", "HTTP/1.1")),
        (Answer(200, ""), (200, "", "HTTP/1.1")),
        (Answer(418, None, http_version="HTTP/1.0"), (418, "I'm a Teapot", "HTTP/1.0")),
        (Answer(451), (451, "Unavailable For Legal Reasons", "HTTP/1.1")),
    ],
)
def test_status_line(tmp_path: Path, answer: Answer, seen: tuple[int, str, str]) -> None:
    """Status, reason phrase and HTTP version are those of the recording."""
    (live,), (again,) = asked_twice(
        tmp_path / "c.json", lambda received: answer, lambda url: [httpx.Request("GET", url)]
    )
    assert facts(live) == facts(again)
    assert (again.status_code, again.reason_phrase, again.http_version) == seen


def test_refusals_and_empty_answers_are_answers(tmp_path: Path) -> None:
    """A 400, an empty 200 and an empty choice are kept like any other answer."""
    answers = [json_answer({"error": "filtered"}, 400), Answer(), json_answer({"choices": []})]

    def make(url: str) -> list[httpx.Request]:
        return [
            httpx.Request("POST", url, json={"n": n}, extensions={"call": f"turn-{n}/subject"})
            for n in range(3)
        ]

    live, again = asked_twice(
        tmp_path / "c.json", lambda received: answers[received.json()["n"]], make
    )
    assert list(map(facts, live)) == list(map(facts, again))
    assert [response.status_code for response in again] == [400, 200, 200]


def test_file_is_one_line_a_call_in_order(tmp_path: Path) -> None:
    """The file ends its lines at \\n alone, one call each, by name; it is vcrpy's JSON."""
    path, names = tmp_path / "c.json", ["turn-2/judge", "turn-1/subject", "turn-1/judge/b"]

    def make(url: str) -> list[httpx.Request]:
        return [
            httpx.Request("POST", url, content=AWKWARD, extensions={"call": name}) for name in names
        ]

    asked_twice(path, echo, make)
    data = path.read_bytes()
    assert data.endswith(b"\n]}\n")
    assert b"\r" not in data
    assert "\u2028".encode() in data
    assert len(data.split(b"\n")) == 3 + len(names)
    document = json.loads(data)
    assert document["version"] == 1
    assert [entry["response"]["call"] for entry in document["interactions"]] == sorted(names)


def test_request_headers_by_allow_list(tmp_path: Path) -> None:
    """Of a request's headers only those that matter to the answer are on disk."""
    path = tmp_path / "c.json"
    headers = {"anthropic-version": "2023-06-01", "x-own": "private", "user-agent": "me/1"}

    def make(url: str) -> list[httpx.Request]:
        return [httpx.Request("POST", url, content=b"{}", headers=headers)]

    asked_twice(path, echo, make)
    assert recorded(path)[0].request.headers == {"anthropic-version": ["2023-06-01"]}
    assert b"private" not in path.read_bytes()


def test_nothing_new_leaves_the_bytes(tmp_path: Path) -> None:
    """Opening a cassette for more and adding nothing writes the same bytes again."""
    path = tmp_path / "c.json"

    def talk(url: str, mode: str) -> bytes:
        with client(path, mode) as live:
            for n in range(3):
                live.post(url, content=AWKWARD + str(n))
        return path.read_bytes()

    first, _ = twice(path, echo, talk)
    with client(path, "new_episodes"):
        pass
    assert path.read_bytes() == first
    assert cassettes.to_bytes(cassettes.load(path)) == first
