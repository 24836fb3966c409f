"""What goes over the wire, by servers that accept the documented shape and nothing else."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer

from harness.asking.models.chat_model import ChatModel
from harness.asking.models.provider import Endpoint
from harness.errors import EndpointRefused, Incomplete

KEY = "test-key-0123456789"
SCHEMA = {"type": "object", "properties": {"far": {"type": "number"}}, "required": ["far"]}
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Why?"},
    {"role": "assistant", "content": "So."},
    {"role": "user", "content": "And?"},
]
CHAT = {
    "model": "served-1",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "Because."}}],
    "usage": {"prompt_tokens": 11, "completion_tokens": 3},
}
MESSAGE = {
    "type": "message",
    "role": "assistant",
    "model": "claude-served",
    "content": [
        {"type": "thinking", "thinking": "secret", "signature": "x"},
        {"type": "text", "text": "Because."},
    ],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 12, "output_tokens": 4},
}


def ask(reply: Callable[[Received], Answer], endpoint: Mapping[str, Any], **options: Any) -> Any:
    with Loopback(reply) as server, httpx.HTTPTransport() as transport:
        values = {"name": "n", "params": {}, "api_key": KEY, "timeout": 5.0, **endpoint}
        model = ChatModel(Endpoint(base_url=server.url + endpoint.get("base", ""),
                                   **{k: v for k, v in values.items() if k != "base"}),
                          transport)  # fmt: skip
        return model.ask("call", MESSAGES, **options)


def secrets(received: Received) -> set[str]:
    """Give the names of the headers that carry the key."""
    return {name.lower() for name, value in received.headers if KEY in value}


def test_openai_gets_its_documented_request() -> None:
    """Bearer key, model and messages, a strict json_schema response format, tokens read."""

    def reply(received: Received) -> Answer:
        assert (received.method, received.path) == ("POST", "/v1/chat/completions")
        assert received.header("authorization") == f"Bearer {KEY}"
        assert secrets(received) == {"authorization"}
        form = {"name": "reply", "strict": True, "schema": SCHEMA}
        assert received.json() == {
            "model": "gpt-x",
            "messages": MESSAGES,
            "temperature": 0,
            "response_format": {"type": "json_schema", "json_schema": form},
        }
        return json_answer(CHAT)

    endpoint = {"base": "/v1", "model": "gpt-x", "params": {"temperature": 0}}
    answer = ask(reply, endpoint, schema=SCHEMA)
    assert (answer.text, answer.served, answer.tokens) == ("Because.", "served-1", (11, 3))


def test_a_reasoning_model_gets_no_temperature() -> None:
    """A model's params override the role's, and what it omits is not sent."""

    def reply(received: Received) -> Answer:
        assert received.json() == {
            "model": "o9",
            "messages": MESSAGES,
            "max_completion_tokens": 500,
        }
        return json_answer(CHAT)

    endpoint = {
        "model": "o9",
        "params": {"max_completion_tokens": 500},
        "omit": ["temperature", "max_tokens"],
    }
    ask(reply, endpoint, params={"temperature": 0, "max_tokens": 120})


def test_azure_gets_its_documented_request() -> None:
    """The deployment in the path, the version in the query, the key in api-key and nowhere else."""

    def reply(received: Received) -> Answer:
        assert received.method == "POST"
        assert received.path == "/openai/deployments/my-gpt%2F4/chat/completions"
        assert received.query == "api-version=2024-10-21"
        assert received.header("api-key") == KEY
        assert secrets(received) == {"api-key"}
        body = received.json()
        assert body["messages"] == MESSAGES
        assert body["response_format"] == {"type": "json_object"}
        return json_answer(CHAT)

    endpoint = {
        "model": "my-gpt/4",
        "provider": "azure",
        "api_version": "2024-10-21",
        "json_mode": "object",
    }
    assert ask(reply, endpoint, schema=SCHEMA).text == "Because."


def test_azure_ai_gets_its_model_route() -> None:
    """Its address, version and key header can be said; the model's name stands in the body."""

    def reply(received: Received) -> Answer:
        assert received.path == "/models/chat/completions"
        assert received.query == "api-version=2024-05-01-preview&team=a+b%26c"
        assert received.header("api-key") == KEY
        assert received.header("extra-parameters") == "pass-through"
        assert secrets(received) == {"api-key"}
        assert received.json()["model"] == "DeepSeek-V3.1"
        return json_answer(CHAT)

    endpoint = {
        "base": "/models",
        "model": "DeepSeek-V3.1",
        "query": {"api-version": "2024-05-01-preview", "team": "a b&c"},
        "headers": {"extra-parameters": "pass-through"},
        "key_header": "api-key",
    }
    assert ask(reply, endpoint).text == "Because."


@pytest.mark.parametrize("provider", ["azure", "anthropic"])
def test_headers_and_query_go_with_every_provider(provider: str) -> None:
    """A study's own parameters follow the provider's, and its headers stand beside them."""

    def reply(received: Received) -> Answer:
        own = "anthropic-version" if provider == "anthropic" else "api-key"
        assert received.header(own)
        assert received.header("x-team") == "blue"
        assert received.query.endswith("tier=batch")
        assert received.query.startswith("api-version=1&") == (provider == "azure")
        return json_answer(MESSAGE if provider == "anthropic" else CHAT)

    extras = {"headers": {"x-team": "blue"}, "query": {"tier": "batch"}, "api_version": "1"}
    assert ask(reply, {"model": "m", "provider": provider, **extras}).text == "Because."


def test_anthropic_gets_its_documented_request() -> None:
    """Key and version headers, the system prompt apart, max_tokens always, text blocks read."""

    def reply(received: Received) -> Answer:
        assert (received.method, received.path) == ("POST", "/v1/messages")
        assert received.header("x-api-key") == KEY
        assert received.header("anthropic-version") == "2023-06-01"
        assert received.header("content-type") == "application/json"
        assert secrets(received) == {"x-api-key"}
        assert received.json() == {
            "model": "claude-x",
            "max_tokens": 300,
            "system": "Be brief.",
            "messages": MESSAGES[1:],
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        }
        return json_answer(MESSAGE)

    endpoint = {"model": "claude-x", "provider": "anthropic"}
    answer = ask(reply, endpoint, params={"max_tokens": 300}, schema=SCHEMA)
    assert (answer.text, answer.state, answer.tokens) == ("Because.", "ok", (12, 4))
    assert (answer.served, answer.finish_reason) == ("claude-served", "end_turn")


@pytest.mark.parametrize("nothing", ["", " \n"])
def test_anthropic_gets_a_text_where_an_earlier_answer_has_none(nothing: str) -> None:
    """Its API rejects a dialogue with an empty message in it; OpenAI's takes it as it is."""

    def contents(received: Received) -> list[str]:
        return [said["content"] for said in received.json()["messages"]]

    said = [MESSAGES[1], {"role": "assistant", "content": nothing}, MESSAGES[3]]
    heard: list[list[str]] = []
    for provider, reply in (("anthropic", MESSAGE), ("openai", CHAT)):

        def answer(received: Received, reply: Mapping[str, Any] = reply) -> Answer:
            heard.append(contents(received))
            return json_answer(reply)

        with Loopback(answer) as server, httpx.HTTPTransport() as transport:
            endpoint = Endpoint("n", server.url, "m", {}, provider=provider)
            ChatModel(endpoint, transport).ask("call", said)
    assert heard == [["Why?", "(empty)", "And?"], ["Why?", nothing, "And?"]]


@pytest.mark.parametrize(
    ("reason", "text", "state"),
    [
        ("max_tokens", "Becau", "truncated"),
        ("MAX_TOKENS", "Becau", "truncated"),
        ("MAX_TOKENS", "", "cut_off_thinking"),
        ("end_turn", "\u200b\ufeff \u2060", "empty"),
        ("end_turn", "\u3164\u2800\ufe0f", "empty"),
        ("end_turn", "\u200bSo", "ok"),
        ("model_context_window_exceeded", "Becau", "truncated"),
        ("refusal", "", "filtered"),
        ("end_turn", "", "empty"),
        ("stop_sequence", "So", "ok"),
    ],
)
def test_anthropic_stop_reasons(reason: str, text: str, state: str) -> None:
    """Each stop reason is the state that OpenAI's would be."""
    content = [{"type": "text", "text": text}]
    reply = {**MESSAGE, "stop_reason": reason, "content": content}
    endpoint = {"model": "claude-x", "provider": "anthropic"}
    assert ask(lambda _: json_answer(reply), endpoint).state == state


@pytest.mark.parametrize(
    ("message", "text", "state"),
    [
        ({"content": None, "refusal": "I can't assist."}, "I can't assist.", "refused"),
        ({"refusal": "I can't assist."}, "I can't assist.", "refused"),
        ({"content": " ", "refusal": "I can't assist."}, "I can't assist.", "refused"),
        ({"content": "Because.", "refusal": None}, "Because.", "ok"),
        ({"content": "Because.", "refusal": "I can't."}, "Because.", "ok"),
        ({"content": None, "refusal": ""}, "", "empty"),
        ({"content": None, "refusal": {"why": "no"}}, "", "empty"),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "azure"])
def test_a_refusal_in_its_own_field(
    provider: str, message: dict[str, Any], text: str, state: str
) -> None:
    """A model that declines a strict schema does it beside a null content: refused, its words."""
    reply = {**CHAT, "choices": [{"finish_reason": "stop", "message": message}]}
    endpoint = {"model": "m", "provider": provider, "api_version": "2024-10-21"}
    answer = ask(lambda _: json_answer(reply), endpoint, schema=SCHEMA)
    finish = "refusal" if state == "refused" else "stop"
    assert (answer.text, answer.state, answer.finish_reason) == (text, state, finish)


@pytest.mark.parametrize("count", ["1e999", "-1e999", "NaN", "null", '"many"', "[]"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_tokens_that_are_no_number_are_unknown(provider: str, count: str) -> None:
    """The answer counts all the same."""
    reply = json.dumps(CHAT if provider == "openai" else MESSAGE)
    body = reply.replace(" 3}", f" {count}}}").replace(" 4}", f" {count}}}").encode()
    answer = ask(lambda _: Answer(body=body), {"model": "m", "provider": provider})
    assert (answer.text, answer.tokens) == ("Because.", None)


@pytest.mark.parametrize("provider", ["openai", "azure", "anthropic"])
@pytest.mark.parametrize(
    ("status", "expected"),
    [(401, EndpointRefused), (404, EndpointRefused), (429, Incomplete), (529, Incomplete)],
)
def test_a_failure_is_never_an_answer(
    provider: str, status: int, expected: type[Exception]
) -> None:
    """A refused or overloaded endpoint raises, with the status and what to do next."""
    endpoint = {"model": "m", "provider": provider, "api_version": "2024-10-21"}
    with pytest.raises(expected, match=f"{status}.*harness record"):
        ask(lambda _: json_answer({"error": "no"}, status=status), endpoint)


@pytest.mark.parametrize("body", [b"", b"<html>busy</html>", b"[]", b'{"choices": []}', b"null"])
def test_what_is_no_reply_of_the_provider(body: bytes) -> None:
    """What cannot be read is no reply, with its words: missing, and never a crash."""
    answer = ask(lambda _: Answer(200, body=body), {"model": "m"})
    assert (answer.state, answer.lost, answer.text) == ("no_reply", True, "")
    assert answer.problem.startswith("HTTP 200")
