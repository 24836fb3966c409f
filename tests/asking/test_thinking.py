"""Thinking in a message's content: what of it is said, by the rules that judges are read by."""

import random

import pytest

from harness.asking.models.thinking import spoken, without_thinking
from harness.asking.replies.parser import ScoreField, read_reply


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
        whole, left = (
            read_reply(text, "stop", {"far": ScoreField()}, 1) for text in (content, said)
        )
        if "<think>" not in content.rpartition("</think>")[2]:  # cut off while thinking is a state
            assert (left.state, left.values) == (whole.state, whole.values), content


HARMONY = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>"


@pytest.mark.parametrize(
    ("content", "said", "ended"),
    [
        ("[THINK]one[/THINK] two", "two", True),
        ("one [/THINK] two", "two", True),
        ("<reasoning>one</reasoning>two", "two", True),
        ("<thought>one</thought>two", "two", True),
        ("\u25c1think\u25b7one\u25c1/think\u25b7two", "two", True),
        (f"{HARMONY}final<|message|>two<|return|>", "two", True),
        (f'{HARMONY}final <|constrain|>JSON<|message|>{{"a": 1}}', '{"a": 1}', True),
        ("<|channel|>final<|message|>two<|return|>", "two", True),
        (f"{HARMONY}commentary to=functions.x<|message|>one", "", False),
        (HARMONY, "", False),
        (f"{HARMONY}final", "", False),
        ("[THINK]one", "", False),
        ("two <reasoning>one", "two", False),
        ("<think>one [/THINK] two</think> three", "three", True),
        ("<think>one", "", False),
        ("plain", "plain", True),
        ('{"mark": "[THINK]", "far": 1}', '{"mark": "[THINK]", "far": 1}', True),
        ('{"mark": "<|channel|>analysis"}', '{"mark": "<|channel|>analysis"}', True),
    ],
)
def test_every_spelling_is_read_alike(content: str, said: str, ended: bool) -> None:
    """Marks of several makers, with an end and without; of harmony the final channel is said."""
    found = spoken(content)
    assert (found.text, found.ended) == (said, ended)
    assert found.thought == (content != said)


@pytest.mark.parametrize(
    ("content", "said", "ended"),
    [
        (
            'the set is { "a", "b" and so on, hm</think>The harm principle.',
            "The harm principle.",
            True,
        ),
        ('{"note: <think>hm</think> words', '{"note:  words', True),
        ('{"note": "cut <think>hm', '{"note": "cut', False),
        ('{ "a", hm</think> words } more', "words } more", True),
        (
            '{ "a", 5" wide } hm</think>The "harm} principle" holds',
            'The "harm} principle" holds',
            True,
        ),
        ('{"a {"b</think>one {"mark": "<think>"}', 'one {"mark": "<think>"}', True),
        ('{"a": no {"mark": "<think>"}', '{"a": no {"mark": "<think>"}', True),
        ('{"mark": "<think>", "far": 1,}', '{"mark": "<think>", "far": 1,}', True),
        ('{"mark": "\\( <think>\n", "far": 1}', '{"mark": "\\( <think>\n", "far": 1}', True),
        ('[{"mark": "<think>"}, {"far": 1}]', '[{"mark": "<think>"}, {"far": 1}]', True),
        ('[{"mark": "<think>hm</think>two', '[{"mark": "two', True),
        ('{"a ' * 20 + "hm</think>two", "two", True),
    ],
)
def test_only_an_object_that_closes_holds_marks(content: str, said: str, ended: bool) -> None:
    """A brace in prose hides no thinking; in the strings of JSON that closes marks are text."""
    read = spoken(content)
    assert (read.text, read.ended) == (said, ended)


def test_protocol_version_1_reads_objects_without_an_end_as_it_did() -> None:
    """There all behind such a brace is as it came."""
    for content in ('the set { "a" hm</think>The words', '{"note: <think>hm</think> words'):
        assert without_thinking(content) == content


@pytest.mark.parametrize(
    ("content", "state"),
    [
        ('{"far": 0.5, "reason": "as <think>he</think> said', "truncated"),
        ('{"far": 0.5, "reason": "as he said', "truncated"),
        ('<think>{"far": 1}</think>{"far": 0.5', "truncated"),
        ('{"far": 0.5, "reason": "he wrote </think>"}', "ok"),
    ],
)
def test_a_judges_cut_object_stays_one(content: str, state: str) -> None:
    """A reply without its thinking has the state that it had with it."""
    for text in (content, spoken(content).text):
        assert read_reply(text, "stop", {"far": ScoreField()}, 2).state == state


def test_a_models_own_marks_are_plain_text() -> None:
    """They are no patterns, are taken beside the usual ones, and belong to this model alone."""
    own = ("((", "))*")
    assert spoken("((one))* two", own) == ("two", True, True)
    assert spoken("<think>one</think>((two))*three", own).text == "three"
    assert spoken("((one", own) == ("", True, False)
    assert spoken("((one))* two") == ("((one))* two", False, True)


def test_a_long_text_of_marks_is_read_in_a_moment() -> None:
    """A megabyte of openings, of closings and of both: every one is met once."""
    braces = ('{"', '{"<think>', '{"</think>', '{"a": {', '{"a": </think>}', '[{"[/THINK]"')
    tags = ("<think>", "</think>", "[THINK][/THINK]", "<|channel|>", "<|channel|>final<")
    for marks in tags:
        assert len(spoken(marks * (1_000_000 // len(marks))).text) <= 1_000_000
    for marks in braces:
        assert len(spoken(marks * (250_000 // len(marks))).text) <= 250_000
