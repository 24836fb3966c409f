"""The likeliest first tokens of a reply, in the shape that OpenAI and llama.cpp give them."""

from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer

from harness.asking.models.chat_model import ChatModel
from harness.asking.models.provider import Endpoint

PARAMS = {"max_tokens": 1, "logprobs": True, "top_logprobs": 20}
YES = {"token": "Yes", "logprob": -0.1, "bytes": [89, 101, 115]}
NO = {"token": " no", "logprob": -2.5, "bytes": [32, 110, 111]}
BLANK = {"token": "\n", "logprob": -0.01, "top_logprobs": [{"token": "\n", "logprob": -0.01}]}


def asked(logprobs: Any, provider: str = "openai") -> tuple[Any, dict[str, Any]]:
    """Return the answer to a call with PARAMS, and the body that the server was sent."""
    bodies: list[dict[str, Any]] = []

    def reply(received: Received) -> Answer:
        bodies.append(received.json())
        if provider == "anthropic":
            return json_answer({"content": [{"type": "text", "text": "Yes"}], "model": "m"})
        choice = {"message": {"content": "Yes"}, "finish_reason": "length", "logprobs": logprobs}
        return json_answer({"model": "m", "choices": [choice]})

    with Loopback(reply) as server, httpx.HTTPTransport() as transport:
        endpoint = Endpoint("n", server.url, "m", {}, provider=provider)
        answer = ChatModel(endpoint, transport).ask("c", [], params=PARAMS)
    return answer, bodies[0]


def test_the_first_token_that_is_no_white_space_is_read() -> None:
    """Its alternatives come with their log probabilities; a line break before it is passed by."""
    answer, body = asked({"content": [BLANK, {**YES, "top_logprobs": [YES, NO]}]})
    assert answer.first == (("Yes", -0.1), (" no", -2.5))
    assert {name: body[name] for name in PARAMS} == PARAMS


SHAPES: list[Any] = [
    None,
    {},
    {"content": None},
    {"content": []},
    {"content": [BLANK]},
    {"content": [YES]},
    3,
]


@pytest.mark.parametrize("logprobs", SHAPES)
def test_without_them_there_are_none(logprobs: Any) -> None:
    """A reply without log probabilities, in whatever shape, is an answer like any other."""
    answer, _ = asked(logprobs)
    assert (answer.text, answer.first) == ("Yes", ())


def test_anthropic_is_not_asked_for_them() -> None:
    """A provider whose API has no log probabilities is not sent the parameters."""
    answer, body = asked(None, "anthropic")
    assert answer.text == "Yes" and not {"logprobs", "top_logprobs"} & set(body)
