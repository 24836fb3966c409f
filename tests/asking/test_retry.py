"""Tries: which answers are worth another one, how long to wait, what is kept, when to give up."""

from __future__ import annotations

import email.utils
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result
from loopback import Answer, Loopback, Pair, Received, json_answer
from provider import Provider
from study_folder import edit, kept_calls, left_over, write_study

from harness.asking.rate_limits import Limits, LimitTransport
from harness.asking.retry import RetryTransport
from harness.cli import main
from harness.errors import Incomplete
from harness.recording import cassette as cassettes
from harness.recording.interaction import Interaction
from harness.recording.journal import read_journal
from harness.run.replay import replay_cells
from harness.study.folder import Study

DROPPED = Answer(status=0)


def answering(*answers: Answer) -> Callable[[Received], Answer]:
    """Give one answer after the other, and the last one for ever."""
    return lambda received: answers[min(received.number, len(answers) - 1)]


def refusal(status: int, *headers: Pair) -> Answer:
    return json_answer({"error": status}, status, headers)


def send(
    url: str, tries: int = 3, stop: threading.Event | None = None, first_wait: float = 0.01
) -> httpx.Response:
    """Send one request through the tries."""
    wire = httpx.HTTPTransport()
    retry = RetryTransport(wire, stop or threading.Event(), tries=tries, first_wait=first_wait)
    with httpx.Client(transport=retry, timeout=5) as client:
        return client.post(url, json={})


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_a_passing_error_is_worth_another_try(status: int) -> None:
    """The answer that comes in the end is given, with the earlier one in `attempts`."""
    with Loopback(answering(refusal(status), json_answer("good"))) as server:
        response = send(server.url)
    assert response.json() == "good"
    assert response.extensions["attempts"] == [{"status": status, "retry_after": None}]


@pytest.mark.parametrize("status", [200, 400, 401, 402, 403, 404, 413, 422])
def test_a_lasting_answer_is_not_asked_for_again(status: int) -> None:
    """What would be the same again is given at once."""
    with Loopback(answering(refusal(status), json_answer("good"))) as server:
        response = send(server.url)
        assert len(server.received) == 1
    assert response.status_code == status
    assert response.extensions["attempts"] == []


def test_dropped_connections_are_tried_again() -> None:
    """A connection that ends without an answer, or in the middle of one, is opened once more."""
    half = Answer(body=b'"goo', cut=True)

    def two_kinds(received: Received) -> Answer:
        return (DROPPED, half, json_answer("good"))[received.number]

    with Loopback(two_kinds) as server:
        limit = LimitTransport(httpx.HTTPTransport(), Limits(1), threading.Event())
        retry = RetryTransport(limit, threading.Event(), tries=3, first_wait=0.01)
        with httpx.Client(transport=retry) as client:
            response = client.post(server.url)
    assert response.json() == "good"
    assert response.extensions["attempts"] == [{"error": "RemoteProtocolError"}] * 2


def test_the_last_try_is_given_as_it_is() -> None:
    """When the tries end, the last answer comes back, and the earlier ones with it."""
    with Loopback(answering(refusal(500), refusal(429), refusal(503))) as server:
        response = send(server.url)
        assert len(server.received) == 3
    assert response.status_code == 503
    assert [attempt["status"] for attempt in response.extensions["attempts"]] == [500, 429]


def test_the_last_error_is_raised_as_it_is() -> None:
    """When the tries end with a dropped connection, its error carries the earlier tries."""
    with Loopback(answering(refusal(500), DROPPED)) as server:
        with pytest.raises(httpx.RemoteProtocolError) as caught:
            send(server.url, tries=2)
    assert caught.value.attempts == [{"status": 500, "retry_after": None}]  # type: ignore[attr-defined]


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "http://127.0.0.1:1/x"])
def test_what_cannot_be_sent_is_not_tried_again(url: str) -> None:
    """An address of no known kind fails at once; a closed port is tried as often as asked."""
    tried = Counter[str]()
    retry = RetryTransport(
        httpx.HTTPTransport(),
        threading.Event(),
        tries=3,
        first_wait=0.01,
        retried=lambda: tried.update("x"),
    )
    with pytest.raises((httpx.UnsupportedProtocol, httpx.ConnectError)):
        retry.handle_request(httpx.Request("POST", url))
    assert tried.total() == (0 if url.startswith("ftp") else 2)


def in_a_second() -> str:
    return email.utils.formatdate(time.time() + 2, usegmt=True)  # whole seconds: 1 to 2 from now


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        (lambda: "0.6", 0.6),
        (in_a_second, 0.9),
        (lambda: "soon", 0.3),
        (lambda: "²", 0.3),
        (lambda: "-5", 0.3),
        (lambda: "Wed, 21 Oct 99999999999 07:28:00 GMT", 0.3),
        (lambda: "", 0.3),
    ],
    ids=["0.6", "date", "word", "superscript", "negative", "no-date", "empty"],
)
def test_retry_after_is_honoured(value: Callable[[], str], wait: float) -> None:
    """Seconds and dates are waited for; what cannot be read is as if it were not there (0.3 s)."""
    written: list[str] = []

    def busy(received: Received) -> Answer:
        if received.number:
            return json_answer("good")
        written.append(value())
        return refusal(429, ("Retry-After", written[0]))

    began = time.monotonic()
    with Loopback(busy) as server:
        response = send(server.url, first_wait=0.3)
    assert response.json() == "good"
    assert time.monotonic() - began >= wait
    assert response.extensions["attempts"][0]["status"] == 429


@pytest.mark.parametrize("value", ["0", "Wed, 21 Oct 2015 07:28:00 GMT"], ids=["0", "past-date"])
def test_retry_after_may_be_over(value: str) -> None:
    """Of no seconds and of a date that is past nothing is waited for, whatever the own wait is."""
    busy = refusal(429, ("Retry-After", value))
    with Loopback(lambda received: json_answer("good") if received.number else busy) as server:
        assert send(server.url, first_wait=3600).json() == "good"  # waited for, it never ends


@pytest.mark.parametrize("value", ["301", "86400", "9" * 400, "Thu, 01 Jan 2099 00:00:00 GMT"])
def test_an_overlong_retry_after_ends_the_tries(value: str) -> None:
    """Who asks for more than five minutes gets no further try now."""
    with Loopback(answering(refusal(429, ("Retry-After", value)))) as server:
        response = send(server.url)
        assert len(server.received) == 1
    assert response.status_code == 429


def test_waiting_ends_when_the_recording_stops() -> None:
    """Incomplete is raised out of a wait of minutes."""
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with Loopback(answering(refusal(429, ("Retry-After", "200")))) as server:
        with pytest.raises(Incomplete, match="not sent"):
            send(server.url, stop=stop)


def test_no_more_than_so_many_at_a_time() -> None:
    """Of twelve requests at once, an endpoint with three places never sees a fourth."""
    now, most, guard = 0, 0, threading.Lock()

    def slow(received: Received) -> Answer:
        nonlocal now, most
        with guard:
            now += 1
            most = max(most, now)
        time.sleep(0.02)
        with guard:
            now -= 1
        return json_answer("good")

    limit = LimitTransport(httpx.HTTPTransport(), Limits(3), threading.Event())
    with Loopback(slow) as server:
        crew = [
            threading.Thread(target=limit.handle_request, args=[httpx.Request("POST", server.url)])
            for _ in range(12)
        ]
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
        assert len(server.received) == 12
        limit.close()
    assert most == 3


def record(study: Study, *words: str) -> Result:
    """Record from the command line."""
    return CliRunner().invoke(main, ["record", str(study.folder), *words])


def recorded(study: Study) -> Iterator[Interaction]:
    for cell in study.cells():
        yield from cassettes.load(study.cassette(cell))


class Faulty:
    """The provider, with faults before the answers to one model."""

    def __init__(self, model: str, *faults: Answer) -> None:
        self._model, self._faults = model, faults
        self._provider, self._asked = Provider(), count()
        self.mended = False

    def __call__(self, received: Received) -> Answer:
        if self.mended or received.json()["model"] != self._model:
            return self._provider(received)
        number = next(self._asked)
        return self._faults[number] if number < len(self._faults) else self._provider(received)


def test_tries_are_kept_and_a_replay_does_not_wait(tmp_path: Path) -> None:
    """The cassette says what came before the answer; a replay gives it without the two seconds."""
    busy, full = refusal(429, ("Retry-After", "1")), refusal(529, ("Retry-After", "0"))
    faulty = Faulty("judge-b", DROPPED, busy, full)
    with Loopback(faulty) as server:
        study = write_study(tmp_path, server.url, levels="[0.0]")
        done = record(study)
        assert done.exit_code == 0, done.output
    tried = [i.response for i in recorded(study) if i.response.attempts]
    assert [response.call for response in tried] == ["turn-1/judge/judge-b"]
    kept = [(a.status, a.retry_after, a.error) for a in tried[0].attempts]
    assert kept == [
        (None, None, "RemoteProtocolError"),
        (429, "1", None),
        (529, "0", None),
    ]
    assert tried[0].status.code == 200
    (replay,) = replay_cells(study)
    assert replay.problem == ""


@pytest.mark.parametrize("fault", [refusal(503), DROPPED, refusal(429, ("Retry-After", "900"))])
def test_when_the_tries_end_the_cell_is_gone_on_with_later(fault: Answer, tmp_path: Path) -> None:
    """Exit 3: the other cells are complete, the error is in the journal as evidence and not as an
    answer, and the next `record` sends that call again and completes.
    """
    faulty = Faulty("subject-b", *[fault] * 50)
    with Loopback(faulty) as server:
        study = write_study(
            tmp_path,
            server.url,
            subjects=("subject-a", "subject-b"),
            levels="[0.0]",
            record="tries = 1",
        )
        done = record(study)
        assert done.exit_code == 3, done.output
        assert "subject-b--harm-principle--c0--paper--r1: turn-1/subject" in done.output
        assert "incomplete. Go on with: harness record" in done.output
        good, bad = study.cells()
        assert len(cassettes.load(study.cassette(good))) == 25
        assert not study.cassette(bad).exists()
        lines = read_journal(study.cassette(bad).with_suffix(".journal")).lines
        assert [line.partition(b" ")[0] for line in lines] == [b"answer", b"failed"]
        evidence = cassettes.from_line(lines[1].partition(b" ")[2])
        assert evidence.response.call == "turn-1/subject"
        assert not study.results.exists()
        faulty.mended, before = True, len(server.received)
        assert record(study).exit_code == 0
        assert len(server.received) - before == 24
    assert {i.response.status.code for i in recorded(study)} == {200}
    assert left_over(study) == []


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_an_endpoint_that_refuses_stops_everything(status: int, tmp_path: Path) -> None:
    """Exit 3 after one refusal: nothing of it is stored, and nothing more is sent."""
    faulty = Faulty("judge-a", *[refusal(status)] * 50)
    with Loopback(faulty) as server:
        study = write_study(tmp_path, server.url, levels="[0.0, 0.25, 0.5, 0.75, 1.0]")
        done = record(study, "--workers", "1")
        assert done.exit_code == 3, done.output
        assert f"answered {status}" in done.output
        assert "harness check" in done.output
        sent = [received.json()["model"] for received in server.received]
        assert sent == ["interviewer", "subject-a", "judge-a"]
        journals = b"".join(path.read_bytes() for path in study.folder.glob("*.journal"))
        assert journals.count(b"\n") == 1 + 2
        assert b"failed" not in journals
        faulty.mended = True
        assert record(study).exit_code == 0
        assert len(server.received) == 5 * 25 + 1


def test_a_refusal_lets_the_calls_in_flight_end(tmp_path: Path) -> None:
    """With four workers, what the others had sent is kept, and they send nothing after it."""
    faulty = Faulty("judge-a", *[refusal(401)] * 50)
    with Loopback(faulty) as server:
        study = write_study(tmp_path, server.url, levels="[0.0, 0.25, 0.5, 0.75, 1.0]")
        assert record(study, "--workers", "4").exit_code == 3
        refused = sum(received.json()["model"] == "judge-a" for received in server.received)
        assert kept_calls(study).total() == len(server.received) - refused
        assert len(server.received) <= 4 * 3 + 3


def test_a_content_filter_is_an_answer(tmp_path: Path) -> None:
    """A 400 that every repetition would meet is stored, is in the state "filtered", and replays."""
    words: Sequence[object] = ["subject-a"]
    refused = json_answer({"error": {"code": "content_filter", "message": "filtered"}}, 400)
    with Loopback(Faulty("subject-a", refused)) as server:
        study = write_study(tmp_path, server.url, levels="[0.0]")
        edit(study, "levels =", "missing_limit = 0.2\nlevels =")
        study = Study(study.folder)
        done = record(study)
        assert done.exit_code == 0, done.output
        asked = [received.json()["model"] for received in server.received]
        assert [asked.count(word) for word in words] == [5]
    (stored,) = [i.response for i in recorded(study) if i.response.status.code == 400]
    assert stored.call == "turn-1/subject"
    (replay,) = replay_cells(study)
    assert replay.result is not None
    states = [turn.answer_state for turn in replay.result.turns]
    assert states == ["filtered", "ok", "ok", "ok", "ok"]


def test_a_key_with_a_line_end_within_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that no header can carry is a mistake told before anything is sent, without the key."""
    monkeypatch.setenv("TEST_RETRY_KEY", "sk-0123456789\nabcdef")
    with Loopback(Provider()) as server:
        study = write_study(tmp_path, server.url, levels="[0.0]")
        edit(
            study, 'model = "interviewer"', 'model = "interviewer"\napi_key_env = "TEST_RETRY_KEY"'
        )
        done = record(study)
        assert server.received == []
    assert done.exit_code == 2, done.output
    assert "sk-0123456789" not in done.output
    written = [path.read_bytes() for path in study.folder.iterdir() if path.is_file()]
    assert not [data for data in written if b"sk-0123456789" in data]
