"""Gemini's generateContent: its requests and replies, and a study whose models all speak it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from examined import Examination, chat, subject_turn
from loopback import Answer, Loopback, Received, json_answer
from packing import done, unpacked
from recording.search import assert_nowhere
from study_text import study_text

from harness.asking.models.chat_model import ChatModel
from harness.asking.models.provider import Endpoint, provider_of
from harness.cli import main
from harness.errors import EndpointRefused, UsageError
from harness.recording import cassette as cassettes
from harness.results import Results
from harness.run.record import Recording
from harness.run.replay import replayed_results
from harness.run.verdict import replay
from harness.study.folder import Study

KEY = "AIzaSyTestKey0123456789abcdefghij"
NAMES = ("subject-a", "interviewer", "judge-a", "judge-b", "judge-c")
ROLES = "".join(
    f"[ddft.params.{role}]\nmax_tokens = 50\ntemperature = 0\n"
    for role in ("subject", "interviewer", "judge")
)
USAGE = {"promptTokenCount": 40, "candidatesTokenCount": 10, "thoughtsTokenCount": 7}
SCHEMA = {"type": "object", "properties": {"far": {"type": "number"}}}


def generated(*parts: dict[str, Any], finish: str = "STOP", **more: Any) -> Answer:
    """Return a reply with one candidate; without parts its content has none, as the API does."""
    content = {"role": "model", **({"parts": list(parts)} if parts else {})}
    candidate = {"content": content, "finishReason": finish, "index": 0}
    return json_answer(
        {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "g-1", **more}
    )


BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}
ERROR = {"error": {"code": 400, "message": "Unknown name.", "status": "INVALID_ARGUMENT"}}
WRONG_KEY = {
    "error": {
        **ERROR["error"],
        "message": "API key not valid.",
        "details": [{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}],
    }
}
THOUGHT = {"text": "It may be. [far 0, sas 0]", "thought": True}
SAID = {"text": "So. [far 0.5, sas 0.5]"}
LOST: dict[str, tuple[Answer, str]] = {
    "blocked prompt": (json_answer(BLOCKED), "filtered"),
    "filtered": (generated(finish="SAFETY"), "filtered"),
    "filtered in part": (generated({"text": "The"}, finish="RECITATION"), "filtered"),
    "thinking at the limit": (generated(finish="MAX_TOKENS"), "cut_off_thinking"),
    "thought only": (generated(THOUGHT), "empty"),
    "no parts": (generated(), "empty"),
    "rejected": (json_answer(ERROR, 400), "rejected"),
}
ANSWERED: dict[str, tuple[Answer, str]] = {
    "cut off": (generated(SAID, finish="MAX_TOKENS"), "truncated"),
    "thought and said": (generated(THOUGHT, SAID), "ok"),
}


class GeminiServer:
    """Answer in Gemini's words what the models of an examination answer in a chat.

    odd: what the subject's third turn gets in the place of that.
    """

    def __init__(self, odd: Answer | None = None) -> None:
        self._odd, self._models = odd, Examination()

    def __call__(self, received: Received) -> Answer:
        """Return the reply to a request."""
        assert received.path.startswith("/v1beta/models/")
        asked = dataclasses.replace(received, body=json.dumps(as_chat(received)).encode())
        if self._odd is not None and subject_turn(asked) == 3:
            return self._odd
        choice = json.loads(self._models(asked).body)["choices"][0]
        return generated({"text": choice["message"]["content"]})


def as_chat(received: Received) -> dict[str, Any]:
    """Return a request as a chat completion's body."""
    body = received.json()
    turns = [body["systemInstruction"] | {"role": "system"}] if "systemInstruction" in body else []
    roles = {"system": "system", "user": "user", "model": "assistant"}
    messages = [
        {"role": roles[turn["role"]], "content": turn["parts"][0]["text"]}
        for turn in [*turns, *body["contents"]]
    ]
    model = received.path.removeprefix("/v1beta/models/").removesuffix(":generateContent")
    return {"model": model, "messages": messages}


def write(root: Path, url: str, extra: str = ROLES) -> Study:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True)
    rest = "missing_limit = 0.5\n" + extra + "[record]\ntries = 1\n"
    text = study_text(url, subjects=("subject-a",), levels="[0.0]", extra=rest)
    provider = '/v1beta"\nprovider = "gemini"\napi_key_env = "GEMINI_KEY"\nserved_as = ["g-1"]'
    (folder / "study.toml").write_text(text.replace('/v1"', provider))
    return Study(folder)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_KEY", KEY)


def test_gemini_gets_its_documented_request() -> None:
    """System apart, roles user and model, parameters and schema in generationConfig."""
    with Loopback(lambda _: generated(SAID)) as server:
        endpoint = Endpoint(
            "g", f"{server.url}/v1beta", "gemini-2.5-pro",
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 128}}, "safetySettings": []},
            omit=["seed"], api_key=KEY, provider="gemini",
        )  # fmt: skip
        messages = [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "Why?"},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": "Well?"},
        ]
        params = {
            "max_tokens": 9,
            "temperature": 0.5,
            "seed": 7,
            "stop": "END",
            "labels": {},
        }
        model = ChatModel(endpoint, httpx.HTTPTransport())
        answer = model.ask("call", messages, params=params, schema=SCHEMA)
        (received,) = server.received
    assert received.path == "/v1beta/models/gemini-2.5-pro:generateContent"
    assert received.header("x-goog-api-key") == KEY
    assert received.json() == {
        "systemInstruction": {"parts": [{"text": "Be short."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Why?"}]},
            {"role": "model", "parts": [{"text": "(empty)"}]},
            {"role": "user", "parts": [{"text": "Well?"}]},
        ],
        "generationConfig": {
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
            "maxOutputTokens": 9,
            "temperature": 0.5,
            "stopSequences": ["END"],
            "thinkingConfig": {"thinkingBudget": 128},
        },
        "safetySettings": [],
        "labels": {},
    }
    assert (answer.text, answer.state, answer.served, answer.tokens) == (
        "So. [far 0.5, sas 0.5]", "ok", "g-1", (40, 17),
    )  # fmt: skip


def test_first_tokens_of_gemini() -> None:
    """The likeliest first tokens, where they are asked for and given."""
    top = {"candidates": [{"token": "Yes", "logProbability": -0.1}, {"token": "No"}]}
    reply = json.loads(generated({"text": "Yes"}).body)
    asked = provider_of("gemini").parameters({"logprobs": True, "top_logprobs": 5})
    assert asked == {"generationConfig": {"responseLogprobs": True, "logprobs": 5}}
    logprobs = {"chosenCandidates": [{"token": "Yes"}], "topCandidates": [top]}
    reply["candidates"][0]["logprobsResult"] = logprobs
    assert provider_of("gemini").content(reply).first == ()  # a token without its probability
    top["candidates"].pop()
    assert provider_of("gemini").content(reply).first == (("Yes", -0.1),)


@pytest.mark.parametrize("name", [*LOST, *ANSWERED])
def test_what_came_is_counted_for_what_it_is(name: str, tmp_path: Path) -> None:
    """Filtered, cut off, thinking, empty or rejected: a lost answer has no score, others have."""
    answer, kind = {**LOST, **ANSWERED}[name]
    with Loopback(GeminiServer(answer)) as server:
        study = write(tmp_path, server.url)
        assert Recording(study).run().problems == []
    found = replayed_results(study)
    assert isinstance(found, Results)
    turns = found.cells[0].turns
    assert [turn.answer_state for turn in turns] == ["ok", "ok", kind, "ok", "ok"]
    assert [turn.missing for turn in turns] == [place == 2 and name in LOST for place in range(5)]
    assert (turns[2].far is None) == (name in LOST)


def test_recorded_replayed_and_packed_without_a_models_answers(tmp_path: Path) -> None:
    """A replay needs no key and no network; no answer of a dropped model is in the bundle."""
    with Loopback(GeminiServer()) as server:
        study = write(tmp_path, server.url)
        assert Recording(study).run().problems == []
    assert_nowhere(tmp_path, KEY)
    assert replay(study, verify_checksums=True).ok
    answers = answers_of(study, "subject-a")
    assert len(answers) == 5
    done("pack", study.folder, "-o", tmp_path / "x.tar.zst", "--drop", "subject-a")
    inside = unpacked(tmp_path / "x.tar.zst")
    bodies = [
        interaction.body_bytes
        for path in (inside / "cassettes" / "mine").glob("*--*.json")
        for interaction in cassettes.load(path)
        if interaction.response.endpoint == "subject-a"
    ]
    assert bodies == [b""] * 5
    paper = (inside / "LICENCES.md").read_text("utf-8")
    assert "| subject-a | subject-a | 127.0.0.1 |" in paper


def answers_of(study: Study, name: str) -> list[Any]:
    """Return the replies of a model in a study."""
    return [
        json.loads(interaction.body_bytes)["candidates"]
        for cell in study.cells()
        for interaction in cassettes.load(study.cassette(cell))
        if interaction.response.endpoint == name
    ]


def price_list(root: Path) -> Path:
    path = root / "prices.toml"
    rows = "".join(f"[models.{name}]\nprompt = 1000.0\ncompletion = 2000.0\n" for name in NAMES)
    path.write_text(f'as_of = 2026-01-31\ncurrency = "EUR"\n{rows}')
    return path


def test_a_cost_limit_knows_the_token_limit_of_gemini(tmp_path: Path) -> None:
    """The limit stands in generationConfig; thoughts are paid for as what is said is."""
    prices = price_list(tmp_path)
    with Loopback(GeminiServer()) as server:
        study = write(tmp_path, server.url)
        with pytest.raises(UsageError, match="has no token limit"):
            Recording(write(tmp_path / "other", server.url, ""), price_file=prices, cost_limit=1.0)
        words = ["record", str(study.folder), "--prices", str(prices), "--cost-limit"]
        stopped = CliRunner().invoke(main, [*words, "1"])
        assert stopped.exit_code == 3 and "cost limit of 1" in stopped.output
        outcome = Recording(study, price_file=prices, cost_limit=1000.0).run()
    assert outcome.problems == []
    spending = json.loads(study.results.read_bytes())["spending"]
    calls = sum(model["calls"] for model in spending["models"])
    expected = calls * (40 * 1000 + 17 * 2000) / 1e6
    assert spending["total"]["value"] == pytest.approx(expected, rel=1e-9)


def test_a_wrong_key_stops_the_recording_and_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gemini tells it by status 400, as a wrong parameter; nothing of it is kept."""
    models = GeminiServer()

    def answer(received: Received) -> Answer:
        is_right = received.header("x-goog-api-key") == KEY
        return models(received) if is_right else json_answer(WRONG_KEY, 400)

    with Loopback(answer) as server:
        study = write(tmp_path, server.url)
        monkeypatch.setenv("GEMINI_KEY", KEY.lower())
        with pytest.raises(EndpointRefused, match=r"API key not valid.*Check the key"):
            Recording(study).run()
        monkeypatch.setenv("GEMINI_KEY", KEY)
        assert Recording(study).run().problems == []
    assert "rejected" not in study.results.read_text()


def test_chat_words_are_not_read_as_gemini() -> None:
    """A reply of another provider's form is no reply of this one."""
    with pytest.raises((KeyError, TypeError)):
        provider_of("gemini").content(json.loads(chat("Hello.").body))
