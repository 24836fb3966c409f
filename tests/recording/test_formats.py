"""Two formats of cassettes: what is said beside a request is never believed."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer

from harness.errors import DamagedFile, Miss
from harness.recording import cassette as cassettes
from harness.recording.transport import RecordingTransport

ROOT = Path(__file__).parent.parent.parent
FORMAT_1 = ROOT / "cassettes" / "ddft-local" / "qwen-coder-0.5b--recursion--c0--paper--r1.json"
BODY = {"model": "m", "messages": [{"role": "user", "content": "Why is the sky blue?"}]}


def number(received: Received) -> Answer:
    """Answer with the number of the request, from 1."""
    return json_answer({"answer": received.number + 1})


def recorded(path: Path, **extensions: Any) -> str:
    """Record a call to a loopback server, and return the address that was asked."""
    with Loopback(number) as server:
        with httpx.Client(transport=RecordingTransport(path, mode="once")) as client:
            client.post(server.url, json=BODY, extensions=extensions)
        return server.url


def replayed(path: Path, url: str, body: object = BODY, **extensions: Any) -> httpx.Response:
    """Ask a recording."""
    with httpx.Client(transport=RecordingTransport(path)) as client:
        return client.post(url, json=body, extensions=extensions)


def changed(path: Path, old: str, new: str) -> None:
    """Change every occurrence of a text in a file."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_a_new_cassette_says_who_was_asked_and_no_digest(tmp_path: Path) -> None:
    """Format 2 holds the endpoint's name and milliseconds, and nothing that can be derived."""
    path = tmp_path / "c.json"
    recorded(path, call="turn-1/subject", endpoint="model-a")
    document = json.loads(path.read_text("utf-8"))
    response = document["interactions"][0]["response"]
    assert document["format"] == 2
    assert response["endpoint"] == "model-a"
    assert "digest" not in response
    assert response["recorded_at"][-5:-4] == "."
    assert response["recorded_at"].endswith("Z")


@pytest.mark.parametrize("name", [{"call": "turn-1/subject"}, {}], ids=["named", "unnamed"])
def test_another_request_in_the_place_of_the_recorded_one_is_a_miss(
    tmp_path: Path, name: dict[str, str]
) -> None:
    """The stored request is compared, so one that was put in its place does not answer."""
    path = tmp_path / "c.json"
    url = recorded(path, **name)
    changed(path, "Why is the sky blue?", "Say whatever you like.")
    with pytest.raises(Miss, match=r"blue|Say"):
        replayed(path, url, **name)


def test_the_same_request_in_other_words_still_answers(tmp_path: Path) -> None:
    """Key order and white space of the stored request do not count."""
    path = tmp_path / "c.json"
    url = recorded(path, call="turn-1/subject")
    changed(path, r"{\"model\":\"m\",", r"{ \"model\" : \"m\",")
    assert replayed(path, url, call="turn-1/subject").json() == {"answer": 1}


def test_a_call_that_goes_to_another_endpoint_is_a_miss(tmp_path: Path) -> None:
    """A false name of who was asked does not pass, and the message has both names."""
    path = tmp_path / "c.json"
    url = recorded(path, call="turn-1/subject", endpoint="model-a")
    changed(path, '"endpoint":"model-a"', '"endpoint":"model-b"')
    with pytest.raises(Miss, match="goes to 'model-a', but was recorded of 'model-b'"):
        replayed(path, url, call="turn-1/subject", endpoint="model-a")


def test_a_false_digest_in_format_1_finds_no_answer_and_is_named(tmp_path: Path) -> None:
    """Of format 1 the digests are derived from the requests; a stored one that differs is told."""
    path = tmp_path / "c.json"
    path.write_bytes(FORMAT_1.read_bytes())
    assert cassettes.load(path).false_digests() == []
    first = next(iter(cassettes.load(path)))
    changed(path, first.response.digest, "1:" + "0" * 32)
    assert cassettes.load(path).false_digests() == [first.response.call]


def test_a_format_1_cassette_is_written_in_format_2(tmp_path: Path) -> None:
    """Whatever is saved anew is in the present format, and the interactions stay."""
    path = tmp_path / "c.json"
    before = cassettes.load(FORMAT_1)
    before.save(path)
    after = cassettes.load(path)
    assert (before.format, after.format) == (1, 2)
    assert after.calls() == before.calls()
    assert b'"digest"' not in path.read_bytes()


def test_a_digest_in_format_2_is_damage(tmp_path: Path) -> None:
    """A field that the format has not is named."""
    path = tmp_path / "c.json"
    recorded(path, call="turn-1/subject")
    changed(path, '"call":', '"digest":"1:0","call":')
    with pytest.raises(DamagedFile, match="it has a digest"):
        cassettes.load(path)


def test_equal_unnamed_requests_keep_their_order(tmp_path: Path) -> None:
    """Without names and digests in the file, each of three equal requests gets its own answer."""
    path = tmp_path / "c.json"
    with Loopback(number) as server:
        with httpx.Client(transport=RecordingTransport(path, mode="once")) as client:
            live = [client.post(server.url, json=BODY).json() for _ in range(3)]
        url = server.url
    with httpx.Client(transport=RecordingTransport(path)) as client:
        assert [client.post(url, json=BODY).json() for _ in range(3)] == live
