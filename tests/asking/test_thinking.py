"""Thinking in a message's content: what of it is said, by the rules that judges are read by."""

import random

import pytest

from harness.asking.replies import Score, read_reply
from harness.asking.thinking import without_thinking


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", ""),
        (" plain \n", "plain"),
        ("<think>one</think> two ", "two"),
        ("<thinking>one</thinking>\n\ntwo", "two"),
        ("<THINK>one</Think>two", "two"),
        ("<think>one</thinking>two", "two"),
        ("<think>one <think>two</think> three", "three"),
        ("a <think>b</think> c <think>d</think> e", "a  c  e"),
        ("before </think> after", "after"),
        ("one </think> two </thinking> three", "three"),
        ("<think>a</think> b </think> c", "c"),
        ("said <think>never closed", "said"),
        ("<think>", ""),
        ("</think>", ""),
        ("x < y, <b>bold</b> and <thinker>", "x < y, <b>bold</b> and <thinker>"),
        ('so: {"mark": "<think>"} it is', 'so: {"mark": "<think>"} it is'),
        ('{"mark": "</think>", "far": 1}', '{"mark": "</think>", "far": 1}'),
        ('<think>{"far": 0}</think> {"far": 1}', '{"far": 1}'),
    ],
)
def test_only_what_is_said_stays(content: str, said: str) -> None:
    """Thinking is left out with its tags, closed, left open or never opened; the rest stays."""
    assert without_thinking(content) == said


def test_what_is_left_reads_the_same() -> None:
    """A judge's reply without its thinking has the verdict that it had with it."""
    rng = random.Random(11)
    parts = ["<think>", "</think>", '{"far": 0.5}', '{"far": "<think>"}', " so ", "\n"]
    for _ in range(2_000):
        content = "".join(rng.choice(parts) for _ in range(rng.randrange(9)))
        said = without_thinking(content)
        assert without_thinking(said) == said
        whole, left = (read_reply(text, "stop", {"far": Score()}, 1) for text in (content, said))
        if "<think>" not in content.rpartition("</think>")[2]:  # cut off while thinking is a state
            assert (left.state, left.values) == (whole.state, whole.values), content
