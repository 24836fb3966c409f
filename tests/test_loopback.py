"""The loopback server and the provider do what the other tests rely on."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer, sse_answer
from provider import CALL_HEADER, DIRT, Provider, finished, md5, running

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"


def ok(received: Received) -> Answer:
    """Answer with the number of the request."""
    return json_answer({"number": received.number})


def ask(model: str, prompt: str = "Explain recursion.", **more: object) -> dict[str, Any]:
    """Make the body of a request, for either wire format."""
    return {"model": model, "messages": [{"role": "user", "content": prompt}], **more}


def content(response: httpx.Response) -> str:
    """Return what the model said in a chat completion."""
    text = response.raise_for_status().json()["choices"][0]["message"]["content"]
    assert isinstance(text, str)
    return text


def data(response: httpx.Response) -> list[str]:
    """Return the data of all server-sent events."""
    return [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """Make a real client that ignores the machine's proxies."""
    with httpx.Client(trust_env=False, timeout=5.0) as client:
        yield client


def test_request_is_kept_as_it_was_sent(client: httpx.Client) -> None:
    """Method, path, query, repeated headers in order and a chunked body arrive unchanged."""
    headers = [("X-B", "1"), ("X-A", "2"), ("X-B", "3")]
    with Loopback(ok) as server:
        body = (part for part in (b"ab", b"\x00\xff"))
        client.put(f"{server.url}/a%20b?q=1&q=2", headers=headers, content=body)
        [got] = server.received
    assert (got.method, got.path, got.query, got.number) == ("PUT", "/a%20b", "q=1&q=2", 0)
    assert [pair for pair in got.headers if pair[0].startswith("X-")] == headers
    assert (got.body, got.header("x-a")) == (b"ab\x00\xff", "2")


def test_answer_is_sent_as_it_was_given(client: httpx.Client) -> None:
    """Status, reason, header order and repeats and every byte value reach the client."""
    body, pairs = bytes(range(256)), [("X-B", "1"), ("X-A", "2"), ("X-B", "3")]
    with Loopback(lambda received: Answer(418, "Tea", pairs, body)) as server:
        response = client.get(server.url)
    assert (response.status_code, response.reason_phrase) == (418, "Tea")
    assert (response.content, response.http_version) == (body, "HTTP/1.1")
    raw = [(key.decode(), value.decode()) for key, value in response.headers.raw]
    assert raw == [*pairs, ("Content-Length", "256")]


def test_connection_is_kept(client: httpx.Client) -> None:
    """Many requests of one client share a connection, also after answers without a body."""
    answers = [Answer(204), Answer(304), Answer(200, body=b"x"), Answer(chunks=[b"y"])]
    with Loopback(lambda received: answers[received.number % 4]) as server:
        bodies = [client.get(server.url).content for _ in answers]
        head = client.head(server.url), client.head(server.url), client.head(server.url)
        assert (server.connections, server.wait_answered(7)) == (1, True)
    assert bodies == [b"", b"", b"x", b"y"]
    assert (head[2].content, head[2].headers["content-length"]) == (b"", "1")


def test_requests_run_at_once_and_are_numbered(client: httpx.Client) -> None:
    """Fifty clients are served concurrently, each under a number of its own."""
    all_there = threading.Barrier(50)

    def together(received: Received) -> Answer:
        all_there.wait(timeout=60)  # one after the other, the first would wait in vain
        return ok(received)

    with Loopback(together) as server, ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda n: client.get(server.url), range(50)))
        assert server.wait_answered(50)
    assert sorted(answer.json()["number"] for answer in answers) == list(range(50))


def test_pauses_arrive_live(client: httpx.Client) -> None:
    """Each event reaches the client before the pause that follows it is over."""
    stream = sse_answer(["one", {"n": 2}, "three"], pause=0.4)
    with Loopback(lambda received: stream) as server:
        begin, seen = time.monotonic(), []
        with client.stream("GET", server.url) as response:
            for chunk in response.iter_raw():
                seen.append((chunk, time.monotonic() - begin))
    assert [chunk for chunk, _ in seen] == [
        b"data: one\n\n",
        b'data: {"n": 2}\n\n',
        b"data: three\n\n",
    ]
    assert all(later - earlier > 0.2 for (_, earlier), (_, later) in pairwise(seen))
    assert seen[0][1] < 0.4


@pytest.mark.parametrize(
    "answer", [Answer(chunks=[b"one", b"two"], cut=True), Answer(body=b"onetwo", cut=True)]
)
def test_cut_ends_short(client: httpx.Client, answer: Answer) -> None:
    """All given bytes of a cut answer arrive, then the client sees a broken protocol."""
    seen = b""
    with Loopback(lambda received: answer) as server:
        with client.stream("GET", server.url) as response:
            chunks = response.iter_raw()
            while len(seen) < 6:
                seen += next(chunks)
            with pytest.raises(httpx.RemoteProtocolError):
                next(chunks)
        assert server.answered == 0
    assert seen == b"onetwo"


def test_drop_sends_nothing(client: httpx.Client) -> None:
    """Status 0 closes the connection before any response; the next request is fine."""
    with Loopback(lambda received: ok(received) if received.number else Answer(0)) as server:
        with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
            client.post(server.url, content=b"x")
        assert client.post(server.url, content=b"x").json() == {"number": 1}
        assert (server.wait_answered(1), server.answered) == (True, 1)


def test_hang_stays_open_until_someone_leaves(client: httpx.Client) -> None:
    """A hanging stream gives its chunks, then silence, and holds up neither side's end."""
    with Loopback(lambda received: sse_answer(["one"], hang=True)) as server:
        with client.stream("GET", server.url, timeout=0.2) as response:
            chunks = response.iter_raw()
            assert next(chunks) == b"data: one\n\n"
            with pytest.raises(httpx.ReadTimeout):
                next(chunks)
        with client.stream("GET", server.url) as response:
            chunks = response.iter_raw()
            assert next(chunks) == b"data: one\n\n"
            server.close()
            with pytest.raises(httpx.RemoteProtocolError):
                next(chunks)
        assert server.answered == 0


def test_silence_is_a_timeout_and_the_end_frees_the_port(client: httpx.Client) -> None:
    """Status 0 with hang accepts and says nothing; a closed server refuses connections."""
    silent = Loopback(lambda received: Answer(0, hang=True))
    with silent as server, pytest.raises(httpx.ReadTimeout):
        client.get(server.url, timeout=0.2)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", silent.port))


def test_failing_answer_fails_the_test(client: httpx.Client) -> None:
    """What the answer function raises is a 500 for the client and raised when the context ends."""

    def broken(received: Received) -> Answer:
        raise AssertionError("unexpected request")

    with pytest.raises(AssertionError, match="unexpected request"), Loopback(broken) as server:
        assert client.get(server.url).status_code == 500


def test_provider_is_the_same_in_two_places(client: httpx.Client, tmp_path: Path) -> None:
    """Two servers, one of them another process, give the same bytes whatever the order."""
    bodies = [ask(model, f"Prompt {n}") for model in ("subject-a", "judge-b") for n in range(4)]
    with Loopback(Provider()) as here, running(tmp_path) as there:
        first = [client.post(here.url + CHAT, json=body).content for body in bodies]
        second = [client.post(there + CHAT, json=body).content for body in reversed(bodies)]
    assert first == second[::-1]
    assert len(set(first)) == 8


def test_provider_plays_its_roles(client: httpx.Client) -> None:
    """A subject speaks 40 to 80 words, an interviewer keeps the expert, judges differ."""
    name = 'Dr. Ilse "Bo" Vandermeer-Quist, of Ghent'
    with Loopback(Provider()) as server:
        url = server.url + CHAT
        for n in range(50):
            answer = content(client.post(url, json=ask("subject-a", f"Prompt {n}")))
            assert 40 <= len(answer.split()) <= 80
            assert answer.count(".") >= 4
        trap = content(client.post(url, json=ask("interviewer", f"Use:\nExpert: {name}\nNow.")))
        quoted = content(client.post(url, json=ask("interviewer", 'Bring in "Aldo Renn" here.')))
        judges = [client.post(url, json=ask(f"judge-{j}", "Rate.")) for j in "abc"]
        marks = [json.loads(content(judge)) for judge in judges]
    assert name in trap
    assert "Aldo Renn" in quoted
    assert len(trap.split()) < 40
    assert {tuple(mark) for mark in marks} == {("far", "far_reason", "sas", "sas_reason")}
    assert len({mark["far"] for mark in marks}) == 3
    assert all(round(mark["sas"] * 20) / 20 == mark["sas"] for mark in marks)


def test_dirty_verdicts_come_in_every_kind(client: httpx.Client) -> None:
    """With dirty = 0.5 about half of the verdicts are unclean, of each kind some."""
    with Loopback(Provider(dirty=0.5)) as server:
        bodies = [ask("judge-a", f"Rate {n}.") for n in range(120)]
        choices = [
            client.post(server.url + CHAT, json=body).json()["choices"][0] for body in bodies
        ]
    starts = Counter(choice["message"]["content"][:5] for choice in choices)
    assert {"```js", "Here ", "I'm s", "", '{"far'} == set(starts)
    assert 40 <= starts['{"far'] <= 100
    assert any(choice["finish_reason"] == "length" for choice in choices)
    assert any('"8/10"' in choice["message"]["content"] for choice in choices)
    assert len(DIRT) == 7


def test_provider_streams_what_it_says_plainly(client: httpx.Client) -> None:
    """The deltas of both wire formats add up to the plain reply for the same body."""
    body = ask("subject-a", stream=True, stream_options={"include_usage": True})
    with Loopback(Provider()) as server:
        chat = data(client.post(server.url + CHAT, json=body))
        message = [json.loads(d) for d in data(client.post(server.url + MESSAGES, json=body))]
    chunks = [json.loads(item) for item in chat[:-1]]
    said = [c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"]]
    also = [e["delta"]["text"] for e in message if e["type"] == "content_block_delta"]
    assert "".join(said) == "".join(also)
    assert 40 <= chunks[-1]["usage"]["completion_tokens"] <= 80
    assert (chat[-1], message[-1]) == ("[DONE]", {"type": "message_stop"})


def test_faults_let_a_retry_through(client: httpx.Client) -> None:
    """With a share of 1 every body fails twice, in all four ways, and then gets its reply."""
    statuses: Counter[int] = Counter()
    with Loopback(Provider(faults="7:1")) as server:
        for n in range(20):
            for attempt in range(3):
                try:
                    response = client.post(server.url + CHAT, json=ask("subject-a", f"Prompt {n}"))
                except httpx.RemoteProtocolError:
                    statuses[0] += 1
                    continue
                statuses[response.status_code] += 1
                assert (response.status_code == 200) == (attempt == 2)
                assert (response.status_code == 429) == ("retry-after" in response.headers)
    assert (statuses[200], set(statuses)) == (20, {0, 200, 429, 500, 529})


def test_log_counts_what_was_answered(client: httpx.Client, tmp_path: Path) -> None:
    """A line a completely answered call, with the call's header; faults and drops leave none."""
    log, body = tmp_path / "provider.log", json.dumps(ask("subject-a")).encode()
    with running(tmp_path, "--faults", "1:1", "--delay", "0.01") as url:
        for _ in range(4):
            try:
                client.post(url + CHAT, content=body, headers={CALL_HEADER: "turn-1/subject"})
            except httpx.RemoteProtocolError:
                continue
        assert client.get(f"{url}/v1/models").json()["data"][0]["id"] == "subject-a"
        wanted = Counter({f"{md5(body)} turn-1/subject": 2})
        deadline = time.monotonic() + 5.0
        while finished(log) != wanted and time.monotonic() < deadline:
            time.sleep(0.01)
        assert finished(log) == wanted
    log.write_text("whole\ntorn")
    assert finished(log) == Counter({"whole": 1})
