"""Which recorded answer a request gets, and what is said when it gets none."""

from __future__ import annotations

import cProfile
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer
from recording.sessions import FACES, asked_twice, client, send

from harness.errors import Miss
from harness.recording import guard
from harness.recording.difference import changed_words

PROMPT = "In a long prompt of many words, explain the idea of recursion to a {} reader."
LONG = " ".join(f"word{n}" for n in range(3000))


def number(received: Received) -> Answer:
    """Answer with the number of the request."""
    return json_answer({"number": received.number})


def chat(prompt: str, **more: Any) -> dict[str, Any]:
    """Make a chat request's body."""
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], **more}


def record(path: Path, *bodies: dict[str, Any], call: str | None = None) -> str:
    """Record a POST for each body and give the URL."""
    with Loopback(number) as server, client(path, "once") as live:
        for body in bodies:
            live.post(server.url + "/chat", json=body, extensions={"call": call})
    return server.url + "/chat"


def miss(path: Path, url: str, body: dict[str, Any], call: str | None = None) -> str:
    """Replay a request that is to be a miss and give the message."""
    with pytest.raises(Miss) as stopped, client(path) as again:
        again.post(url, json=body, extensions={"call": call})
    return str(stopped.value)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("count", [3, 30])
def test_equal_requests_keep_their_answers(tmp_path: Path, face: str, count: int) -> None:
    """Equal requests get the recorded answers in turn, and one more is an error that counts."""
    path = tmp_path / "c.json"

    def make(url: str) -> list[httpx.Request]:
        return [httpx.Request("POST", url, json=chat("same")) for _ in range(count)]

    live, again = asked_twice(path, number, make, face)
    assert [response.json()["number"] for response in live] == list(range(count))
    assert [response.json()["number"] for response in again] == list(range(count))
    before = guard.attempts()
    with guard.closed(), pytest.raises(Miss, match=f"exhausted, {count} of {count}"):
        send(face, path, "none", [*make(str(live[0].url)), *make(str(live[0].url))])
    assert guard.attempts() == before


def test_one_word_is_shown_and_not_the_prompt(tmp_path: Path) -> None:
    """A changed word is shown, before and after, and a long prompt around it is not."""
    path = tmp_path / "c.json"
    url = record(path, chat(f"{LONG} curious {LONG}"))
    said = miss(path, url, chat(f"{LONG} patient {LONG}"))
    assert "[curious]" in said and "[patient]" in said
    assert "not recorded" in said and "Nothing was sent" in said
    assert len(said) < 1000
    assert "word1500" not in said


def test_changed_call_names_the_drift(tmp_path: Path) -> None:
    """A named call whose prompt changed says so, names the call, and shows the word."""
    path = tmp_path / "c.json"
    url = record(path, chat(PROMPT.format("curious")), call="turn-4/subject")
    said = miss(path, url, chat(PROMPT.format("patient")), call="turn-4/subject")
    assert re.search(r"turn-4/subject: changed since it was recorded", said)
    assert "[curious]" in said and "[patient]" in said


def test_unknown_name_shows_the_nearest(tmp_path: Path) -> None:
    """A call that is not recorded names the nearest that is."""
    path = tmp_path / "c.json"
    url = record(path, chat("x"), call="turn-4/judge/glm")
    said = miss(path, url, chat("x"), call="turn-4/judge/glm/ask-2")
    assert "turn-4/judge/glm/ask-2: not recorded" in said
    assert "nearest recording: turn-4/judge/glm\n" in said


def test_many_differences_are_shown_in_part(tmp_path: Path) -> None:
    """Of many changed words in a long prompt the first are shown."""
    path = tmp_path / "c.json"
    url = record(path, chat(LONG))
    said = miss(path, url, chat(LONG.replace("1 ", "one ")))
    assert "[word1]" in said and "[wordone]" in said
    assert len(said) < 6000


def changed(words: list[str]) -> dict[str, list[str]]:
    """Give a prompt of many words in four other versions, by how it was changed."""
    return {
        "every 50th word": ["new" if n % 50 == 0 else word for n, word in enumerate(words)],
        "all": [f"x{word}" for word in words],
        "700 more": [*words[:100], *["new"] * 700, *words[100:]],
        "the first 400 gone": words[400:],
    }


@pytest.mark.parametrize("how", ["every 50th word", "all", "700 more", "the first 400 gone"])
def test_the_work_for_a_difference_grows_with_the_text(how: str) -> None:
    """Of 100,000 words as of 10,000 it takes about the same steps of difflib, and few lines."""
    steps = {}
    for count in (10_000, 100_000):
        words = [f"word{n * n % 7919}" for n in range(count)]
        profile = cProfile.Profile()
        lines = profile.runcall(changed_words, " ".join(words), " ".join(changed(words)[how]))
        assert 2 <= len(lines) <= 12
        assert all(len(line) < 1000 for line in lines)
        steps[count] = sum(
            entry.callcount
            for entry in profile.getstats()
            if not isinstance(entry.code, str) and "difflib" in entry.code.co_filename
        )
    assert steps[100_000] <= 2 * steps[10_000] + 100


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a b c", "a x c", ["- ...a [b] c...", "+ ...a [x] c..."]),
        ("a b", "a b c", ["- ...a b[]...", "+ ...a b[ c]..."]),
        ("", "a", ["- ...[]...", "+ ...[a]..."]),
        ("a b b", "a b", ["- ...a b[ b]...", "+ ...a b[]..."]),
        ("a\nb", "a\nc", ["- ...a\\n[b]...", "+ ...a\\n[c]..."]),
    ],
)
def test_a_difference_is_shown_word_by_word(old: str, new: str, lines: list[str]) -> None:
    """Only what differs, in brackets, between the words around it."""
    assert changed_words(old, new) == lines


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 1.0},
        {"temperature": "0.0"},
        {"temperature": 0},
        {"seed": 1},
        {"stop": ["b", "a"]},
        {"big": 2**60 + 1},
        {"flag": 1},
    ],
)
def test_changed_settings_are_misses(tmp_path: Path, change: dict[str, Any]) -> None:
    """A setting of another value, or of another type, is another request."""
    path = tmp_path / "c.json"
    body = {"temperature": 0.0, "stop": ["a", "b"], "big": 2**60, "flag": True}
    url = record(path, chat("x", **body))
    assert "not recorded" in miss(path, url, chat("x", **{**body, **change}))


def test_another_method_host_or_path_is_a_miss(tmp_path: Path) -> None:
    """Method, host, path and query all count."""
    path = tmp_path / "c.json"
    url = record(path, chat("x"))
    for method, other in (
        ("PUT", url),
        ("POST", url + "/"),
        ("POST", url + "?n=1"),
        ("POST", url.replace("127.0.0.1", "localhost")),
        ("POST", url.replace("http:", "https:")),
    ):
        with pytest.raises(Miss, match="not recorded"), client(path) as again:
            again.request(method, other, json=chat("x"))


def test_key_order_and_white_space_do_not_count(tmp_path: Path) -> None:
    """JSON written in another way, and a query in another order, is the same request."""
    path = tmp_path / "c.json"
    with Loopback(number) as server, client(path, "once") as live:
        live.post(f"{server.url}/?b=2&a=1&a=0", content=b'{"x": [1, 2], "y": "\\u00fc"}')
    with client(path) as again:
        body = '{ "y":"ü",\n"x":[1,2]}'.encode()
        assert again.post(f"{server.url}/?a=1&a=0&b=2", content=body).json() == {"number": 0}
    with pytest.raises(Miss), client(path) as again:
        again.post(f"{server.url}/?a=0&a=1&b=2", content=body)


def test_order_of_other_requests_does_not_count(tmp_path: Path) -> None:
    """Two calls that don't depend on each other replay in either order."""
    path = tmp_path / "c.json"
    url = record(path, chat("one"), chat("two"))
    with client(path) as again:
        assert again.post(url, json=chat("two")).json() == {"number": 1}
        assert again.post(url, json=chat("one")).json() == {"number": 0}


def test_multipart_is_its_parts(tmp_path: Path) -> None:
    """The same upload under another boundary is found; other bytes or another name are not."""
    path = tmp_path / "c.json"

    def upload(live: httpx.Client, url: str, content: bytes, boundary: str, name: str) -> Any:
        kind = {"content-type": f"multipart/form-data; boundary={boundary}"}
        files = {"file": (name, content, "application/octet-stream")}
        return live.post(url, files=files, data={"purpose": "x"}, headers=kind).json()

    with Loopback(number) as server, client(path, "once") as live:
        upload(live, server.url, bytes(range(256)), "aaa", "one.bin")
    with client(path) as again:
        found = upload(again, server.url, bytes(range(256)), "b-b", "one.bin")
    assert found == {"number": 0}
    for content, name in ((bytes(255), "one.bin"), (bytes(range(256)), "two.bin")):
        with pytest.raises(Miss), client(path) as again:
            upload(again, server.url, content, "aaa", name)


def test_headers_do_not_count(tmp_path: Path) -> None:
    """Client-made ids, user agents and SDK headers may differ."""
    path = tmp_path / "c.json"
    url = record(path, chat("x"))
    headers = {"user-agent": "other/2", "x-stainless-retry-count": "3", "x-request-id": "77"}
    with client(path) as again:
        assert again.post(url, json=chat("x"), headers=headers).json() == {"number": 0}


def test_unused_is_named(tmp_path: Path) -> None:
    """Four of five recorded calls used: the check fails and names the fifth."""
    path = tmp_path / "c.json"
    url = record(path, *(chat(f"n{n}") for n in range(4)))
    with Loopback(number) as server, client(path, "new_episodes") as live:
        live.post(server.url, json=chat("x"), extensions={"call": "turn-5/subject"})
    again = client(path)
    for n in range(4):
        again.post(url, json=chat(f"n{n}"))
    transport: Any = again._transport
    with pytest.raises(Miss, match=r"1 of 5 recorded calls were not .*turn-5/subject"):
        transport.check()


def test_unused_does_not_hide_an_earlier_miss(tmp_path: Path) -> None:
    """The first miss is what the check reports, whatever is left over."""
    path = tmp_path / "c.json"
    url = record(path, chat("one"), chat("two"))
    again = client(path)
    transport: Any = again._transport
    with pytest.raises(Miss) as first:
        again.post(url, json=chat("three"))
    with pytest.raises(Miss) as reported:
        transport.check()
    assert str(reported.value) == str(first.value)
    assert len(transport.recorder.unused()) == 2
