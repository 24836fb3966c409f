"""Keys, and what looks like one, in files that are about to be handed out."""

import base64
import json
from pathlib import Path

import pytest

from harness.bundle.key_search import find_keys
from harness.recording.cassette import to_bytes
from harness.recording.interaction import (
    Interaction,
    RecordedRequest,
    RecordedResponse,
    Status,
    stored_body,
)
from harness.recording.redaction import KeyRing

MADE_UP = "sk-" + "made0up1of2letters3and4digits"


def interaction(sent: str = "{}", answer: bytes = b"{}", **headers: str) -> Interaction:
    """Make a recorded call."""
    listed = {name.replace("_", "-"): [value] for name, value in headers.items()}
    request = RecordedRequest("POST", "http://127.0.0.1/v1/x", sent, {})
    return Interaction(
        request, RecordedResponse(Status(200, "OK"), listed, stored_body(answer), "turn-1/subject")
    )


@pytest.mark.parametrize(
    "key",
    [
        MADE_UP,
        "sk-ant-" + "api03-0123456789abcdefghij",
        "AIza" + "0123456789abcdefghijABCDEFGHIJ01234",
        "AKIA" + "0123456789ABCDEF",
        "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345",
        "hf_" + "abcdefghijABCDEFGHIJabcdefghij",
        "tvly-" + "0123456789abcdef",
        "Bearer " + "0123456789abcdefghij",
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        '"api_key": "' + '0123456789abcdef-long"',
    ],
)
def test_what_looks_like_a_key_is_found_and_not_shown(tmp_path: Path, key: str) -> None:
    """In a paper as in a call; six characters of it are told at most."""
    (tmp_path / "x.md").write_text(f"words {key} words")
    (tmp_path / "c.json").write_bytes(to_bytes([interaction(answer=f"so {key}.".encode())]))
    found = list(find_keys(tmp_path, KeyRing(), {"c.json"}))
    assert {(one.path, one.call) for one in found} == {("c.json", "turn-1/subject"), ("x.md", "")}
    assert all(key not in one.line for one in found)


@pytest.mark.parametrize(
    "before", ["Use this:\n", "key:\t", "la cl\u00e9\u00e9", "\r\n", "\f", "a/", '"', "\U0001f511"]
)
@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize(
    "key", [MADE_UP, "tvly-" + "0123456789abcdef", "Bearer " + "0123456789abcdefghij"]
)
def test_a_key_behind_an_escape_is_found(tmp_path: Path, before: str, times: int, key: str) -> None:
    """In JSON, and in JSON within JSON, a letter stands before it that is none of the text's."""
    text = f"{before}{key}\n"
    for _ in range(times):
        text = json.dumps({"content": text})
    (tmp_path / "report.html").write_text(text)
    (tmp_path / "c.json").write_bytes(to_bytes([interaction(sent=text, answer=text.encode())]))
    found = {(one.path, one.call) for one in find_keys(tmp_path, KeyRing(), {"c.json"})}
    assert found == {("c.json", "turn-1/subject"), ("report.html", "")}


@pytest.mark.parametrize(
    "text",
    [
        f"q=use%20{MADE_UP}",
        f"q=%0A{MADE_UP}",
        "\\tvly-" + "0123456789abcdef",
        "authorization: bearer " + "0123456789abcdefghij",
        "BEARER " + "0123456789abcdefghij",
        '{"sent": "{\\"api_key\\": \\"' + '0123456789abcdef-long\\"}"}',
        '{"sent": "\\u0073k-' + 'made0up1of2letters3and4digits"}',
    ],
)
def test_a_key_in_another_writing_is_found(tmp_path: Path, text: str) -> None:
    """In a form, behind a backslash that escapes nothing, in small letters, in JSON within JSON."""
    (tmp_path / "x.md").write_text(text)
    assert [one.path for one in find_keys(tmp_path, KeyRing(), set())] == ["x.md"]


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-is-a-library-with-many-words",
        "task-0123456789abcdefghijklmnop",
        "the risk-free rate",
        '"api_key": "[REDACTED]"',
        '"password": "to be or not to be, that is"',
        "Bearer of good news, who came in 1815",
        "the bearer of good-news-and-of-nothing-else",
        r"C:\task-0123456789abcdefghijklmnop",
        r"the words \"password\": \"to be or not to be, that is\"",
    ],
)
def test_words_are_no_keys(tmp_path: Path, text: str) -> None:
    """What people and models write about keys is let through."""
    (tmp_path / "x.md").write_text(text)
    assert list(find_keys(tmp_path, KeyRing(), set())) == []


def test_a_key_in_use_is_found_in_every_form(tmp_path: Path) -> None:
    """Also where only base64 shows it, and where it looks like nothing."""
    (tmp_path / "plain.md").write_text("my-own-plain-key")
    (tmp_path / "coded.md").write_bytes(base64.b64encode(b"xx my-own-plain-key xx"))
    found = list(find_keys(tmp_path, KeyRing(["my-own-plain-key"]), set()))
    assert sorted(one.path for one in found) == ["coded.md", "plain.md"]


def test_a_secret_header_is_found(tmp_path: Path) -> None:
    """A cassette that somebody wrote by hand may hold what a recording never does."""
    one = interaction(X_Api_Key="whatever", Date="today")
    (tmp_path / "c.json").write_bytes(to_bytes([one]))
    [found] = find_keys(tmp_path, KeyRing(), {"c.json"})
    assert found.line == "c.json, call turn-1/subject: the header X-Api-Key"


def test_a_text_that_is_no_key_can_be_named(tmp_path: Path) -> None:
    """Exactly that text is let through, and no other."""
    (tmp_path / "x.md").write_text(f"{MADE_UP} and {MADE_UP}2")
    [found] = find_keys(tmp_path, KeyRing(), set(), [MADE_UP])
    assert found.shown.startswith("sk-mad")
