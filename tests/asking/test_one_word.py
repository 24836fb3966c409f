"""One of two words: what a reply's probabilities count for, and what a lost reply gives."""

from typing import Any

import httpx
import pytest
from loopback import Answer, Loopback, Received, json_answer

from harness.asking.models.chat_model import ChatModel
from harness.asking.models.provider import Endpoint
from harness.asking.replies.one_word import Choice, OneWord, ask_word

CHOICE = Choice("Yes", "No", "One word.", {})
LIKELY_YES = [{"token": "Yes", "logprob": -0.4}, {"token": "No", "logprob": -1.1}]


def asked(message: dict[str, Any], finish: str) -> OneWord:
    """Return what a message comes to whose first token was likely a Yes."""

    def reply(received: Received) -> Answer:
        assert received.json()["logprobs"] is True
        logprobs = {"content": [{**LIKELY_YES[0], "top_logprobs": LIKELY_YES}]}
        choice = {"message": message, "finish_reason": finish, "logprobs": logprobs}
        return json_answer({"model": "m", "choices": [choice]})

    with Loopback(reply) as server, httpx.HTTPTransport() as transport:
        model = ChatModel(Endpoint("n", server.url, "m", {}), transport)
        return ask_word(model, "c", [{"role": "user", "content": "Wet?"}], CHOICE)


@pytest.mark.parametrize(
    ("message", "finish", "state"),
    [
        ({"content": None, "reasoning_content": "Yes"}, "length", "cut_off_thinking"),
        ({"content": "<think>Yes"}, "length", "cut_off_thinking"),
        ({"content": ""}, "stop", "empty"),
    ],
)
def test_a_lost_reply_gives_no_number(message: dict[str, Any], finish: str, state: str) -> None:
    """It is asked again, and then missing with its kind, whatever its first token was."""
    word = asked(message, finish)
    assert (word.share, word.state, len(word.answers)) == (None, state, 2)
    assert all(answer.first == () for answer in word.answers)


@pytest.mark.parametrize(
    ("text", "share", "by_word"),
    [
        ("Yes.", 0.668, False),
        (" yes", 1.0, True),
        ("No", 0.0, True),
        ("<think>Yes?</think>No", 0.0, True),
        ("<think>Yes?</think>Yes", 1.0, True),
    ],
)
def test_probabilities_count_where_they_begin_the_text(
    text: str, share: float, by_word: bool
) -> None:
    """Those of another text, or of a thought, are passed over for the word itself."""
    word = asked({"content": text}, "stop")
    assert (round(word.share or 0.0, 3), word.by_word) == (share, by_word)
