from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import openai
import pytest
from loopback import Answer, Received, json_answer, sse_answer
from provider import Provider, Reply, chat_body, chat_events, error_answer, read_ask
from sdk.stage import (
    CANARY,
    CHANGED,
    PROMPT,
    Outcome,
    Sdk,
    Stage,
    entered,
    first,
    in_turn,
    read_out,
    settled,
    shortened,
)

from harness.errors import Miss

SDK = Sdk(openai, openai.OpenAI, openai.AsyncOpenAI, "/v1")
LIMITED = json_answer({"error": {"message": "slow down"}}, 429, [("Retry-After", "30")])
DROPPED = Answer(status=0)


@pytest.fixture(params=["sync", "async"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    return Stage(SDK, request.param, tmp_path)


def asked(prompt: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": prompt}]
    return {"model": "subject-a", "max_tokens": 99, "messages": messages}


async def ask(client: Any, prompt: str = PROMPT) -> Any:
    return await settled(client.chat.completions.create(**asked(prompt)))


async def ask_raw(client: Any) -> Any:
    return await settled(client.chat.completions.with_raw_response.create(**asked(PROMPT)))


async def begin(client: Any) -> Any:
    return await settled(client.chat.completions.create(**asked(PROMPT), stream=True))


async def stream(client: Any) -> Outcome:
    return await read_out(await begin(client))


async def leave_early(client: Any) -> Any:
    chunks = await begin(client)
    chunk = await first(chunks)
    await settled(chunks.close())
    return chunk


def numbered(received: Received) -> Answer:
    return json_answer(chat_body(read_ask(received), Reply(f"Answer {received.number}.")))


def telltale(received: Received) -> Answer:
    """Give the caller's own key away, in a stream in the middle of two pieces."""
    request, reply = read_ask(received), Reply(f"Your key is {CANARY}, is it not?")
    if not request.stream:
        return json_answer(chat_body(request, reply))
    pieces = list(sse_answer(chat_events(request, reply)).chunks or [])
    whole = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    middle = whole.index(CANARY.encode()) + 9
    return sse_answer([whole[:middle], whole[middle:]], pause=0.02)


def test_library(stage: Stage) -> None:
    """The client under test is of the library this SDK stands on: httpx2 from openai 3 on."""
    major = int(version("openai").partition(".")[0])
    name = "httpx" if major < 3 else "httpx2"
    made = openai.OpenAI(api_key="none")._client  # by itself
    assert f"{name}.Client" in [f"{kind.__module__}.{kind.__name__}" for kind in type(made).__mro__]
    stage.record(ask, Provider())
    assert stage.seen == [name]


def test_plain(stage: Stage) -> None:
    """Objects, text and headers are the same when the server, the network and the key are gone."""

    async def look_around(client: Any) -> Any:
        web = (await ask_raw(client)).http_response
        models = await settled(client.models.list())
        return await ask(client), models.data, web.text, web.headers.multi_items()

    live, replayed = stage.both(look_around, Provider())
    assert replayed == live
    assert live[0].choices[0].message.content in live[2]
    assert len(stage.seen) == len(stage.recorded()) == 3


def test_other_headers(stage: Stage) -> None:
    """What an SDK tells of itself, and an idempotency key, may differ in the replay."""
    live = stage.record(ask, Provider())
    headers = {"User-Agent": "x/9", "X-Stainless-Lang": "cobol", "Idempotency-Key": "k" * 30}
    assert stage.replay(ask, default_headers=headers) == live


def test_stream(stage: Stage) -> None:
    """A stream gives the same chunks, and is whole though some of OpenAI's SDKs leave at [DONE]."""
    live, replayed = stage.both(stream, Provider())
    assert replayed == live
    assert live.error is None and len(live.items) > 10
    response = stage.recorded()[0].response
    assert response.chunks is not None and not response.partial


def test_stream_manager(stage: Stage) -> None:
    """The SDK's own stream manager gives the same events and the same final completion."""

    async def gather(client: Any) -> Any:
        events = await entered(client.chat.completions.stream(**asked(PROMPT)))
        outcome = await read_out(events)
        return outcome, await settled(events.get_final_completion())

    live, replayed = stage.both(gather, Provider())
    assert replayed == live
    assert live[0].error is None and live[1].choices[0].message.content


def test_equal_requests(stage: Stage) -> None:
    """The third of three equal requests gets the third answer, and a fourth is a miss."""

    async def ask_often(client: Any, times: int) -> list[str]:
        return [(await ask(client)).choices[0].message.content for _ in range(times)]

    live, replayed = stage.both(partial(ask_often, times=3), numbered)
    assert replayed == live == ["Answer 0.", "Answer 1.", "Answer 2."]
    with pytest.raises(Miss, match="exhausted, 3 of 3"):
        stage.replay(partial(ask_often, times=4))
    assert len(stage.seen) == 4


def test_key_in_answer(stage: Stage) -> None:
    """A key that comes back is taken out, for the program too, even between two pieces."""

    async def listen(client: Any) -> Any:
        reply, outcome = await ask(client), await stream(client)
        assert stage.leaks() == []  # the journal's turn
        return reply, outcome

    live, replayed = stage.both(listen, telltale)
    assert replayed == live
    assert live[0].choices[0].message.content == "Your key is [REDACTED], is it not?"
    said = "".join(chunk.choices[0].delta.content or "" for chunk in live[1].items)
    assert said == "Your key is [REDACTED], is it not?"


def test_miss(stage: Stage) -> None:
    """A changed prompt ends the program at its first call, the SDK's retries being as they are."""
    stage.record(ask, Provider())
    with pytest.raises(Miss, match=r"not recorded\. Nothing was sent") as caught:
        stage.replay(partial(ask, prompt=CHANGED))
    assert len(stage.seen) == 1
    assert "metric" in str(caught.value) and "nearest recording" in str(caught.value)


def test_miss_in_careless_program(stage: Stage) -> None:
    """Neither `except Exception` nor more retries swallow a miss."""

    async def insist(client: Any) -> None:
        for _ in range(3):
            try:
                await ask(client, CHANGED)
            except Exception:
                continue

    stage.record(ask, Provider())
    with pytest.raises(Miss, match="metric"):
        stage.replay(insist, max_retries=5)
    assert len(stage.seen) == 1


def test_miss_in_reckless_program(stage: Stage) -> None:
    """Who swallows even that gets the first miss again for every call, and at the end."""
    misses: list[BaseException] = []

    async def ignore(client: Any) -> None:
        for prompt in (CHANGED, PROMPT):
            try:
                await ask(client, prompt)
            except BaseException as error:
                misses.append(error)

    stage.record(ask, Provider())
    with pytest.raises(Miss, match="metric") as caught:
        stage.replay(ignore)
    assert list(map(str, misses)) == [str(caught.value)] * 2


def test_program(stage: Stage) -> None:
    """A program of its own is answered, and at a miss ends with our words and a nonzero exit."""
    live = stage.record(ask, Provider())
    done = stage.run_alone(PROMPT)
    assert done.stdout == f"{live.model_dump_json()}\nwent on\n", done.stderr
    assert done.returncode == 0
    done = stage.run_alone(CHANGED)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "harness.errors.Miss: cell, call POST" in done.stderr
    assert "not recorded. Nothing was sent." in done.stderr


@pytest.mark.parametrize("bad", [LIMITED, DROPPED], ids=["429", "dropped"])
def test_retry(stage: Stage, bad: Answer, naps: list[float]) -> None:
    """An attempt that the SDK repeats is an occurrence of its own; only the SDK sleeps."""

    async def persist(client: Any) -> Any:
        raw = await ask_raw(client)
        return raw.retries_taken, await settled(raw.parse())

    live, replayed = stage.both(persist, in_turn([bad], Provider()))
    assert replayed == live
    assert [entry.response.occurrence for entry in stage.recorded()] == [0, 1]
    assert live[0] == 1 and len(naps) == 2
    assert bad is DROPPED or naps == [30.0, 30.0]


@pytest.mark.parametrize(
    ("bad", "attempts"),
    [(LIMITED, 3), (DROPPED, 3), (error_answer(400, "too long"), 1)],
    ids=["429", "dropped", "400"],
)
def test_error(stage: Stage, bad: Answer, attempts: int, naps: list[float]) -> None:
    """An error that the SDK gives up at is the same error, after as many attempts."""

    async def fail(client: Any) -> Any:
        with pytest.raises(openai.APIError) as caught:
            await ask(client)
        return type(caught.value), str(caught.value), caught.value.body

    live, replayed = stage.both(fail, lambda received: bad)
    assert replayed == live
    assert len(stage.seen) == attempts
    assert len(naps) == 2 * (attempts - 1)


def test_cut_stream(stage: Stage) -> None:
    """A stream cut after its second event gives two chunks and the same error."""
    live, replayed = stage.both(stream, shortened(Provider(), 2, cut=True))
    assert replayed == live
    assert len(live.items) == 2
    assert live.error is not None and not issubclass(live.error, openai.APIStatusError)
    failure = stage.recorded()[0].response.error
    assert failure is not None and failure.type == "RemoteProtocolError"


def test_stream_left_early(stage: Stage) -> None:
    """A stream that the program closed replays as far as it went; beyond is a miss that stays."""

    async def read_further(client: Any) -> None:
        with pytest.raises(Miss, match="left this stream early"):
            await stream(client)

    live, replayed = stage.both(leave_early, shortened(Provider(), 2, hang=True))
    assert replayed == live
    assert stage.recorded()[0].response.partial
    with pytest.raises(Miss, match="left this stream early"):
        stage.replay(read_further)


def test_stream_never_closed(stage: Stage) -> None:
    """A stream that nobody closed, its program having left the loop, is kept all the same."""
    kept_open = []

    async def abandon(client: Any) -> Any:
        kept_open.append(await begin(client))
        return await first(kept_open[-1])

    live, replayed = stage.both(abandon, shortened(Provider(), 2, hang=True))
    assert replayed == live
    assert stage.recorded()[0].response.partial
