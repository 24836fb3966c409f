"""Asking in a form over real HTTP: what the second request says, and what counts as declined."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer

from harness.asking.models.chat_model import ChatModel
from harness.asking.models.provider import Endpoint
from harness.asking.replies.parser import ScoreField
from harness.asking.replies.structured_output import Filled, Form, ask_form

FORM = Form({"far": ScoreField()}, {"type": "object"}, "Again: {problem}", {}, 2)
QUESTION = [{"role": "user", "content": "Judge."}]
GOOD = '{"far": 0.5}'


def message(text: str | None, provider: str, **more: Any) -> Answer:
    if provider == "anthropic":
        blocks = [{"type": "text", "text": text}] if text else []
        return json_answer({"content": blocks, "stop_reason": "end_turn"})
    said = {"content": text, **more}
    return json_answer({"choices": [{"message": said, "finish_reason": "stop"}]})


def fill(provider: str, *answers: Answer) -> tuple[Filled, list[Received]]:
    def reply(received: Received) -> Answer:
        said = [one["content"] for one in received.json()["messages"]]
        if not all(text.strip() for text in said):  # as Anthropic's API, and it alone, does
            return json_answer({"error": "text content blocks must be non-empty"}, 400)
        return answers[received.number]

    with Loopback(reply) as server, httpx.HTTPTransport() as transport:
        model = ChatModel(Endpoint("m", server.url, "m", {}, provider=provider), transport)
        return ask_form(model, "call", QUESTION, FORM), server.received


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("nothing", ["", " \n", None])
def test_an_empty_reply_is_shown_as_such(provider: str, nothing: str | None) -> None:
    """The second request has no message without a text, which Anthropic's API would reject."""
    filled, received = fill(provider, message(nothing, provider), message(GOOD, provider))
    assert (filled.verdict.state, filled.verdict.values) == ("ok", {"far": 0.5})
    assert [one["content"] for one in received[1].json()["messages"]] == [
        "Judge.",
        "(empty)",
        "Again: The reply was empty; one complete JSON object is needed.",
    ]
    assert filled.answers[0].text.strip() == ""


def test_other_words_are_shown_as_they_are() -> None:
    """A reply with words in it goes back unchanged."""
    _, received = fill("openai", message(" So. ", "openai"), message(GOOD, "openai"))
    assert received[1].json()["messages"][1] == {"role": "assistant", "content": " So. "}


def test_a_refusal_in_its_own_field_is_a_refusal() -> None:
    """Its words need not be known to say no; the judge is asked again as for any other."""
    declined = message(None, "openai", refusal="That is not for me.")
    filled, received = fill("openai", declined, declined)
    assert filled.verdict.state == "refusal"
    assert received[1].json()["messages"][1]["content"] == "That is not for me."
