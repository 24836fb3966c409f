import json
import random

import pytest

from harness.asking.replies.parser import (
    STATES,
    Fields,
    Flag,
    OneOf,
    ParsedReply,
    ScoreField,
    Text,
    Texts,
    Value,
    read_reply,
)

REASON = Text(remark=True)
JOINT: Fields = {
    "far": ScoreField(),
    "sas": ScoreField(),
    "far_reason": REASON,
    "sas_reason": REASON,
}
CHECK: Fields = {
    "correct": Flag(),
    "confidence": ScoreField(),
    "reason": REASON,
    "error_type": OneOf(("factual", "incomplete")),
}
GOOD = '{"far": 0.8, "sas": 1, "far_reason": "Two small errors.", "sas_reason": "Fluent."}'
GOOD_VALUES: dict[str, Value] = {
    "far": 0.8,
    "sas": 1.0,
    "far_reason": "Two small errors.",
    "sas_reason": "Fluent.",
}
DRAFT = '{"far": 0.1, "sas": 0.2}'
SAME = '{"sas": 1.0, "far": 0.80, "far_reason": "Two errors."}'
MEGABYTE = 1 << 20
OLD, NEW = 1, 2  # protocol versions


def joint(
    content: str | None, finish_reason: str | None = "stop", version: int = NEW
) -> ParsedReply:
    return read_reply(content, finish_reason, JOINT, version)


def check(content: str | None, finish_reason: str | None = "stop") -> ParsedReply:
    return read_reply(content, finish_reason, CHECK, NEW)


@pytest.mark.parametrize(
    ("content", "repaired"),
    [
        pytest.param(GOOD, (), id="bare object"),
        pytest.param(f"\n  {GOOD}\n", (), id="whitespace around"),
        pytest.param(GOOD.replace(", ", ",\n    "), (), id="spread over lines"),
        pytest.param(f"```json\n{GOOD}\n```", ("fence",), id="json fence"),
        pytest.param(f"```\n{GOOD}\n```", ("fence",), id="bare fence"),
        pytest.param(f"```JSON {GOOD}```", ("fence",), id="fence on one line"),
        pytest.param(f"```json\n{GOOD}", ("fence",), id="fence never closed"),
        pytest.param(
            f"Here is my verdict:\n{GOOD}\nI hope it helps.", ("prose",), id="prose around"
        ),
        pytest.param(f"Sure [1] {{see}}: {GOOD}", ("prose",), id="brackets in the prose"),
        pytest.param(
            f"FAR is in [0, 1) here. {GOOD}", ("prose",), id="half-open interval in prose"
        ),
        pytest.param(f"Sure.\n```json\n{GOOD}\n```", ("fence", "prose"), id="fence and prose"),
        pytest.param(f"{GOOD}\n{GOOD}", ("several_objects",), id="the same twice"),
        pytest.param(
            f"Draft: {SAME} Final: {GOOD}",
            ("prose", "several_objects"),
            id="other reasons, same scores",
        ),
        pytest.param(
            GOOD + '\n{"far": 98989, "sas": 1}', ("several_objects",), id="last object out of range"
        ),
        pytest.param(
            f'As {{"far": ..., "sas": ...}}: {GOOD}',
            ("prose", "several_objects"),
            id="an echo of the asked form",
        ),
        pytest.param(
            f"<think>{DRAFT} or so</think> {GOOD}", ("thinking",), id="object in the thinking"
        ),
        pytest.param(f"<THINKING>hm</THINKING>{GOOD}", ("thinking",), id="thinking, upper case"),
        pytest.param(
            f'<think>{{"far": "</think>{GOOD}', ("thinking",), id="cut object in thinking"
        ),
        pytest.param(f"{DRAFT} hm </think> {GOOD}", ("thinking",), id="closing tag on its own"),
        pytest.param(f"{GOOD} <think>{DRAFT}", ("thinking",), id="unclosed thinking behind"),
        pytest.param(GOOD[:-1] + ",}", ("trailing_comma",), id="trailing comma"),
        pytest.param(GOOD[:-1] + ' , "x": [1, 2,\n] }', ("trailing_comma",), id="in a list"),
        pytest.param(
            f"<think>hm</think>Draft {SAME} final\n```json\n{GOOD[:-1]},}}\n```",
            ("thinking", "fence", "prose", "several_objects", "trailing_comma"),
            id="everything at once",
        ),
    ],
)
def test_forgives_the_form(content: str, repaired: tuple[str, ...]) -> None:
    """Form is forgiven, each forgiveness is named, and the values are those of the answer."""
    assert joint(content) == ParsedReply("ok", GOOD_VALUES, repaired, "")


@pytest.mark.parametrize(
    "reason",
    [
        pytest.param("a } and a { inside", id="braces"),
        pytest.param("}}}]]", id="closing ones"),
        pytest.param('it says \\"{\\" here', id="escaped quotes"),
        pytest.param("ends in a backslash \\\\", id="escaped backslash"),
        pytest.param("a comma before ,} and ,]", id="comma before a brace"),
        pytest.param("left <think> open", id="opening tag"),
        pytest.param("left </think> alone", id="closing tag"),
        pytest.param("```json fence", id="fence"),
        pytest.param("I'm sorry, but I cannot evaluate this", id="refusal"),
        pytest.param("NaN and 8/10", id="numbers"),
    ],
)
def test_strings_are_not_structure(reason: str) -> None:
    """What stands inside a string never confuses the reading, and comes back as it was."""
    content = f'{{"far": 0.8, "far_reason": "{reason}", "sas": 1}}'
    assert joint(content).values["far_reason"] == json.loads(f'"{reason}"')
    assert joint(content).repaired == ()
    assert joint(f"<think>hm</think>{content}").state == "ok"


@pytest.mark.parametrize(
    ("content", "state"),
    [
        pytest.param('{"far": "8/10", "sas": 1}', "type_error", id="8/10"),
        pytest.param('{"far": "0.8", "sas": 1}', "type_error", id="number in quotes"),
        pytest.param('{"far": true, "sas": 1}', "type_error", id="true"),
        pytest.param('{"far": null, "sas": 1}', "type_error", id="null"),
        pytest.param('{"far": [0.8], "sas": 1}', "type_error", id="list"),
        pytest.param('{"far": {"score": 0.8}, "sas": 1}', "type_error", id="object"),
        pytest.param('{"far": 1, "sas": 1, "far_reason": 3}', "type_error", id="reason a number"),
        pytest.param('{"far": 98989, "sas": 1}', "out_of_range", id="98989"),
        pytest.param('{"far": -0.01, "sas": 1}', "out_of_range", id="negative"),
        pytest.param(f'{{"far": {"9" * 300}, "sas": 1}}', "out_of_range", id="300 digits"),
        pytest.param(f'{{"far": {"9" * 9000}, "sas": 1}}', "non_finite", id="9000 digits"),
        pytest.param('{"far": NaN, "sas": 1}', "non_finite", id="NaN"),
        pytest.param('{"far": NaN, "sas": 1, "FAR": NaN}', "non_finite", id="NaN twice"),
        pytest.param('{"far": Infinity, "sas": 1}', "non_finite", id="Infinity"),
        pytest.param('{"far": -Infinity, "sas": 1}', "non_finite", id="minus Infinity"),
        pytest.param('{"far": 1e999, "sas": 1}', "non_finite", id="1e999"),
        pytest.param(f"[{GOOD}]", "wrong_shape", id="list around"),
        pytest.param(f"```json\n[{GOOD},\n{DRAFT}]\n```", "wrong_shape", id="list in a fence"),
        pytest.param(f"Verdict: [ [{GOOD}] ]", "wrong_shape", id="list in prose"),
        pytest.param(f"[1, {GOOD}]", "wrong_shape", id="list of other things too"),
        pytest.param("0.8", "wrong_shape", id="bare number"),
        pytest.param("[0.8, 1.0]", "wrong_shape", id="bare list"),
        pytest.param("null", "wrong_shape", id="the word null"),
        pytest.param(json.dumps(GOOD), "wrong_shape", id="object written into a string"),
        pytest.param('{"far": 0.8, "sas": 1, "far": 0.2}', "wrong_shape", id="contradicting key"),
        pytest.param('{"far": 1, "sas": 1, "FAR": true}', "wrong_shape", id="1 is not true"),
        pytest.param(f'{{"result": {GOOD}}}', "missing_field", id="wrapped"),
        pytest.param('{"scores": {"far": 0.8, "sas": 1}}', "missing_field", id="wrapped scores"),
        pytest.param('{"far": 0.8}', "missing_field", id="one score only"),
        pytest.param('{" far": 0.8, "sas": 1}', "missing_field", id="key with a blank"),
        pytest.param("{}", "missing_field", id="empty object"),
        pytest.param('{"far": 0.8, "far_reason": "Two sm', "truncated", id="cut in mid-string"),
        pytest.param('{"far": 0.8, "sas": 1', "truncated", id="never closed"),
        pytest.param("{", "truncated", id="cut after the first brace"),
        pytest.param(f'{{"result": {GOOD}', "truncated", id="whole object in a cut one"),
        pytest.param(f"[{GOOD}", "truncated", id="whole object in a cut list"),
        pytest.param(f"<think>{GOOD}", "truncated", id="thinking never closed"),
        pytest.param("<think>", "truncated", id="nothing but an opening tag"),
        pytest.param("I can't evaluate this.", "refusal", id="can't evaluate"),
        pytest.param(
            "I can\u2019t in good conscience rate this.", "refusal", id="typographic quote"
        ),
        pytest.param("I'm sorry, but I cannot help with that.", "refusal", id="sorry"),
        pytest.param("As an AI language model, I have no view.", "refusal", id="as an AI"),
        pytest.param("<think>no</think>\nI am unable to assess it.", "refusal", id="thought over"),
        pytest.param("", "empty", id="empty"),
        pytest.param(" \n\t ", "empty", id="whitespace"),
        pytest.param(None, "empty", id="null, whatever the reasoning field beside it says"),
        pytest.param("<think>0.9 it is</think>\n", "empty", id="thinking only"),
        pytest.param(f"{GOOD}</think>", "empty", id="object in the thinking only"),
        pytest.param("FAR 0.8, SAS 1.0: a fine answer.", "no_json", id="prose"),
        pytest.param("I can't find any error; both are 1.", "no_json", id="prose, no refusal"),
        pytest.param('{"far": 0.8 "sas": 1}', "no_json", id="malformed"),
        pytest.param("{'far': 0.8, 'sas': 1}", "no_json", id="a Python dict"),
        pytest.param('{"far": .8, "sas": 1}', "no_json", id="number without a zero"),
        pytest.param('{"far": 1, "sas": 1, "far_reason": "a\0b"}', "no_json", id="raw NUL"),
        pytest.param('{"far": 1, \\ "sas": 1}', "no_json", id="backslash outside a string"),
        pytest.param(f"{DRAFT}\n{GOOD}", "ambiguous", id="draft and final"),
        pytest.param(f'{GOOD} It ended in {{"far": 1, "sas": 1}}.', "ambiguous", id="a quote"),
        pytest.param(f"{GOOD}\n{DRAFT}\n{GOOD}", "ambiguous", id="one of three differs"),
    ],
)
def test_names_what_is_wrong(content: str | None, state: str) -> None:
    """A reply that cannot be graded has a state of its own, no value, and a sentence about it."""
    verdict = joint(content)
    assert verdict.state == state
    assert (verdict.values, verdict.repaired) == ({}, ())
    assert verdict.problem.endswith(".")
    assert "\n" not in verdict.problem


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(
            '{"far": "8/10", "sas": 1}',
            'The score for "far" was the text "8/10"; a number between 0 and 1 is needed.',
            id="text for a number",
        ),
        pytest.param(
            '{"far": 98989, "sas": 1}',
            'The score for "far" was 98989; a number between 0 and 1 is needed.',
            id="out of range",
        ),
        pytest.param(
            '{"far": NaN, "sas": 1}',
            'The score for "far" was NaN; a number between 0 and 1 is needed.',
            id="NaN",
        ),
        pytest.param(
            '{"result": {"far": 1}}',
            'The JSON object had no "far" of its own; a number between 0 and 1 is needed.',
            id="wrapped",
        ),
        pytest.param(
            '{"far": 1, "SAS": 1, "sas": 0}',
            'The key "sas" had two values; one is needed.',
            id="contradiction",
        ),
        pytest.param(
            f"[{GOOD}]", "The reply held a list; one complete JSON object is needed.", id="list"
        ),
        pytest.param(
            '{"far": "' + "x" * 999 + '"}',
            f'The score for "far" was the text "{"x" * 57}..."; '
            "a number between 0 and 1 is needed.",
            id="long text is shortened",
        ),
    ],
)
def test_problem_tells_the_judge(content: str, problem: str) -> None:
    """The sentence for the re-ask says which field, what it got and what it needs."""
    assert joint(content).problem == problem


@pytest.mark.parametrize(("version", "state"), [(1, "no_json"), (2, "truncated")])
def test_token_limit_in_capitals_is_truncated(version: int, state: str) -> None:
    """From protocol version 2 on, as endpoints in Gemini's manner name it."""
    assert read_reply("So", "MAX_TOKENS", {"far": ScoreField()}, version).state == state


@pytest.mark.parametrize("content", [None, "", "FAR is", GOOD[:40], "<think>so", f"[{GOOD}]"])
@pytest.mark.parametrize("reason", ["length", "max_tokens", "model_context_window_exceeded"])
def test_token_limit_is_truncated(content: str | None, reason: str) -> None:
    """A token limit is the cause of whatever is wrong: truncated, not "bad JSON"."""
    assert joint(content, reason).state == "truncated"


def test_whole_object_before_the_token_limit_counts() -> None:
    """A valid object that was complete before the cut is graded."""
    assert joint(f"{GOOD}\nTo expl", "length") == ParsedReply("ok", GOOD_VALUES, ("prose",), "")
    assert joint(f'{GOOD} {{"far": 0.', "length").repaired == ("several_objects",)


@pytest.mark.parametrize("content", [None, GOOD, "I can't"])
@pytest.mark.parametrize("reason", ["content_filter", "refusal"])
def test_filtered_is_a_refusal(content: str | None, reason: str) -> None:
    """A filtered reply is a refusal, even if something readable got through."""
    assert joint(content, reason).state == "refusal"


@pytest.mark.parametrize("reason", [None, "stop", "end_turn", "something new"])
def test_other_finish_reasons_change_nothing(reason: str | None) -> None:
    """Any other finish reason, or none, leaves the verdict to the text."""
    assert joint(GOOD, reason).state == "ok"
    assert joint(GOOD[:40], reason).state == "truncated"


def test_last_fault_is_reported() -> None:
    """Where no object is valid, the last one says what is wrong."""
    assert joint('{"far": "a", "sas": 1} {"far": 7, "sas": 1}').state == "out_of_range"
    assert joint('{"far": 7, "sas": 1} {"far": 0.').state == "truncated"


def test_version_1_took_the_last_of_objects_that_differ() -> None:
    """What a study recorded under protocol version 1 stays what it was; from 2 on it is asked."""
    content = f"{GOOD}\n{DRAFT}"
    old = joint(content, version=OLD)
    assert (old.state, old.values["far"], old.repaired) == ("ok", 0.1, ("several_objects",))
    assert joint(content).problem == "The reply held 2 JSON objects that differ; one is needed."
    assert joint(content, "length").state == "truncated"


def test_only_what_decides_makes_a_reply_ambiguous() -> None:
    """Two objects may differ in a remark, and not in a flag, a choice, a list or another text."""
    assert check('{"correct": true, "confidence": 1, "reason": "a"}' * 2).state == "ok"
    first = {"correct": False, "confidence": 1, "error_type": "factual"}
    for change in ({"correct": True}, {"confidence": 0}, {"error_type": "incomplete"}):
        assert check(json.dumps(first) + json.dumps(first | change)).state == "ambiguous"
    several: Fields = {"items": Texts(), "quote": Text()}
    for second in ('{"items": ["b"], "quote": "q"}', '{"items": ["a"], "quote": "r"}'):
        reply = read_reply('{"items": ["a"], "quote": "q"} ' + second, "stop", several, NEW)
        assert reply.state == "ambiguous"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param(r"uses \sigma and \(x\)", r"uses \sigma and \(x\)", id="LaTeX"),
        pytest.param(r"the format \$#,##0", r"the format \$#,##0", id="escaped dollar"),
        pytest.param(r"\underline and \u12", r"\underline and \u12", id="u without four digits"),
        pytest.param(r"\\sigma, \"x\", \u0041 \(", '\\sigma, "x", A \\(', id="legal ones stay"),
        pytest.param("a\nb\r\nc\td", "a\nb\r\nc\td", id="line breaks and tabs"),
        pytest.param("a\\\nb", "a\\\nb", id="backslash before a line break"),
        pytest.param(r"{\(}", r"{\(}", id="brackets beside them"),
    ],
)
def test_strings_are_mended(written: str, meant: str) -> None:
    """Backslashes that JSON has not, raw line breaks and tabs mean what they are; scores stay."""
    content = f'{{"far": 0.8, "far_reason": "{written}", "sas": 1}}'
    reply = joint(content)
    assert (reply.state, reply.repaired) == ("ok", ("mended",))
    assert (reply.values["far"], reply.values["sas"]) == (0.8, 1.0)
    assert reply.values["far_reason"] == meant
    assert joint(content, version=OLD).state == "no_json"


def test_mending_is_named_beside_other_repairs() -> None:
    """Fence, comma and string of one reply are repaired together, each by its name."""
    reply = joint('```json\n{"far": 0.8, "sas": 1, "far_reason": "\\(x",}\n```')
    assert reply.repaired == ("fence", "trailing_comma", "mended")


def test_justification_is_optional() -> None:
    """A missing or null justification is an empty text and no error."""
    content = '{"far": 0, "sas": 1.0, "sas_reason": null}'
    expected: dict[str, Value] = {"far": 0.0, "sas": 1.0, "far_reason": "", "sas_reason": ""}
    assert joint(content) == ParsedReply("ok", expected, (), "")


def test_scores_are_plain_floats() -> None:
    """Scores come back as floats, bounds included, and without a negative zero."""
    values = joint('{"far": -0.0, "sas": 1}').values
    assert [repr(values["far"]), repr(values["sas"])] == ["0.0", "1.0"]
    wide: Fields = {"grade": ScoreField(low=1, high=5)}
    assert read_reply('{"grade": 5}', None, wide, NEW).values == {"grade": 5.0}
    assert read_reply('{"grade": 0}', None, wide, NEW).problem.endswith(
        "a number between 1 and 5 is needed."
    )


def test_keys_ignore_case_and_strangers() -> None:
    """Keys match in any case, under the wanted names; keys nobody asked for are dropped."""
    content = '{"FAR": 0.8, "Sas": 1, "notes": {"far": 0.1}, "far": 0.8}'
    expected: dict[str, Value] = {"far": 0.8, "sas": 1.0, "far_reason": "", "sas_reason": ""}
    assert joint(content) == ParsedReply("ok", expected, (), "")


def test_texts_can_be_written() -> None:
    """Half a surrogate pair becomes U+FFFD, so that a text and a problem fit into UTF-8."""
    content = '{"far": 1, "sas": 1, "far_reason": "\\ud83d \\ud83d\\ude00"}'
    assert joint(content).values["far_reason"] == "\ufffd \U0001f600"
    joint('{"far": "\\ud83d"}').problem.encode()
    joint('{"far": 1, "\\ud83d": 1, "\\ud83d": 2}').problem.encode()


@pytest.mark.parametrize(
    ("content", "state"),
    [
        pytest.param('{"correct": "true", "confidence": 1}', "type_error", id="true in quotes"),
        pytest.param('{"correct": 1, "confidence": 1}', "type_error", id="1 for true"),
        pytest.param('{"correct": null, "confidence": 1}', "type_error", id="null for true"),
        pytest.param('{"confidence": 1}', "missing_field", id="no flag"),
        pytest.param('{"correct": true, "confidence": 95}', "out_of_range", id="percent"),
        pytest.param(
            '{"correct": true, "confidence": 1, "error_type": "other"}', "out_of_range", id="option"
        ),
        pytest.param(
            '{"correct": true, "confidence": 1, "error_type": "Factual"}',
            "out_of_range",
            id="option in another case",
        ),
        pytest.param(
            '{"correct": true, "confidence": 1, "error_type": 2}', "type_error", id="no text"
        ),
    ],
)
def test_flags_and_choices_are_strict(content: str, state: str) -> None:
    """A flag is true or false, a choice one of its options; nothing is guessed."""
    assert check(content).state == state


@pytest.mark.parametrize("choice", ["factual", "incomplete", None])
def test_choice_is_optional(choice: str | None) -> None:
    """A choice is one of its options, or None where it is null or absent."""
    expected: dict[str, Value] = {
        "correct": False,
        "confidence": 0.5,
        "reason": "r",
        "error_type": choice,
    }
    assert check(json.dumps(expected)) == ParsedReply("ok", expected, (), "")
    if choice is None:
        assert check('{"correct": false, "confidence": 0.5, "reason": "r"}').values == expected


def test_choice_names_its_options() -> None:
    """The sentence for the re-ask lists what may be chosen."""
    problem = check('{"correct": true, "confidence": 1, "error_type": "x"}').problem
    assert problem == (
        'The value of "error_type" was the text "x"; '
        'one of "factual", "incomplete" or null is needed.'
    )


@pytest.mark.parametrize(
    ("before", "whole", "after"),
    [
        pytest.param("", GOOD, "", id="bare"),
        pytest.param(
            "", GOOD.replace("small", 'sm\\"}{é€😀'), "", id="escapes and wide characters"
        ),
        pytest.param("", GOOD[:-1] + ', "x": [{"far": 1, "sas": 1}],}', "", id="nested"),
        pytest.param("Sure:\n```json\n", GOOD, "\n```\nDone.", id="fence and prose"),
        pytest.param(f"<think>{DRAFT}</think>", GOOD, " Done.", id="thinking"),
    ],
)
@pytest.mark.parametrize("reason", [None, "stop", "length"])
def test_no_truncation_is_ok(before: str, whole: str, after: str, reason: str | None) -> None:
    """Cut at any byte, a reply is ok if and only if its object is whole."""
    data = (before + whole + after).encode()
    complete = len((before + whole).encode())
    expected = joint(before + whole + after).values
    assert expected
    for length in range(len(data) + 1):
        verdict = joint(data[:length].decode(errors="replace"), reason)
        assert (verdict.state == "ok") == (length >= complete), data[:length]
        assert verdict.values == (expected if length >= complete else {})
        if len(before) < length < complete:
            assert verdict.state == "truncated", data[:length]


def test_garbage_never_raises() -> None:
    """Random shreds of replies, and random characters, get a known state and never raise."""
    rng = random.Random(20240717)
    shreds = [*"{}[]\",:\\ \n\t'0-e.\x00\ud800\ufeff\u2028é😀", '"far"', '"sas":', "0.5", "NaN"]
    shreds += ["<think>", "</think>", "<thinking>", "```json", "```", "true", "null", "1e999"]
    shreds += [GOOD, DRAFT, "I can't ", "As an AI", "\\u", "\\ud800", ",}", '{"', "[{"]
    for _ in range(20_000):
        content = "".join(rng.choices(shreds, k=rng.randrange(12)))
        reason = rng.choice([None, "stop", "length", "content_filter"])
        verdict = read_reply(content, reason, rng.choice([JOINT, CHECK]), rng.choice([OLD, NEW]))
        assert verdict.state in STATES
        assert (verdict.state == "ok") == bool(verdict.values) == (not verdict.problem)
        verdict.problem.encode()


def test_random_characters_never_raise() -> None:
    """Any code point at all, lone surrogates too, gets a known state."""
    rng = random.Random(7)
    for _ in range(2_000):
        content = "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randrange(40)))
        assert joint(content).state in STATES
        assert joint(f'{{"far": "{content}').state in STATES


@pytest.mark.parametrize(
    ("content", "state"),
    [
        pytest.param('{"a":' * 99_999 + "1" + "}" * 99_999, "wrong_shape", id="objects"),
        pytest.param('{"a":' + "[" * 99_999 + "]" * 99_999 + "}", "wrong_shape", id="lists"),
        pytest.param("[" * 99_999 + "]" * 99_999, "no_json", id="nothing but lists"),
        pytest.param("[" * 99_999 + "{}" + "]" * 99_999, "wrong_shape", id="object in lists"),
    ],
)
def test_deep_nesting_never_raises(content: str, state: str) -> None:
    """A reply nested beyond any recursion limit is named, not a RecursionError."""
    assert joint(content).state == state


@pytest.mark.parametrize(
    "unit",
    [
        *["{", '{"a":', "[", '[{"a":', " {", "[ ", " ", '"', '\\"', '"{', ",  ]", "9", "<think>"],
        *["</think>", "<think></think>", "```", "I can't ", "sorry ", '{"far": 0.5, "sas": 1} '],
    ],
)
@pytest.mark.parametrize("start", ["", '{"far": "'], ids=["bare", "in a string"])
def test_a_megabyte_takes_linear_time(start: str, unit: str) -> None:
    """A megabyte of nonsense takes seconds at most; quadratic work on it would take hours."""
    assert joint(start + unit * (MEGABYTE // len(unit))).state in STATES
