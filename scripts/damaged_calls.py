"""Kinds of damage to a cassette's interactions, as one who forges a recording would do it."""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable
from typing import Any

from damage import ODD, Damage, Sound, leaves, put

from harness.recording.digest import digest

Call = dict[str, Any]
CALLS: dict[str, Damage] = {}
LIE = (
    '{"choices": [{"index": 0, "message": {"role": "assistant", "content": "a lie"}, '
    '"finish_reason": "stop"}]}'
)
_score = re.compile(r"\d\.\d+|\d")


def lines_of(data: bytes) -> list[bytes]:
    """Return a cassette's lines between its first and its last, without their commas."""
    return [line.removesuffix(b",") for line in data.split(b"\n")[1:-2]]


def written(file: Sound, lines: list[bytes]) -> bytes:
    """Return a cassette of these lines, with the first and the last line of a file."""
    first, *_, last, end = file.data.split(b"\n")
    return b"\n".join([first, b",\n".join(lines), last, end])


def _encoded(call: Call) -> bytes:
    return json.dumps(call, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def call_kind(name: str) -> Callable[[Callable[[random.Random, Call], Call | bytes | None]], None]:
    """Enter a kind of damage to one call, which gets it as plain data and returns it changed."""

    def enter(change: Callable[[random.Random, Call], Call | bytes | None]) -> None:
        def damage(chance: random.Random, file: Sound) -> bytes | None:
            lines = lines_of(file.data)
            place = chance.randrange(len(lines))
            changed = change(chance, json.loads(lines[place]))
            if changed is None:
                return None
            lines[place] = changed if isinstance(changed, bytes) else _encoded(changed)
            return written(file, lines)

        CALLS[name] = damage

    return enter


def lines_kind(name: str) -> Callable[[Callable[[random.Random, list[Call]], None]], None]:
    """Enter a kind of damage to the calls of a file, which changes their list."""

    def enter(change: Callable[[random.Random, list[Call]], None]) -> None:
        def damage(chance: random.Random, file: Sound) -> bytes | None:
            calls = [json.loads(line) for line in lines_of(file.data)]
            change(chance, calls)
            return written(file, [_encoded(call) for call in calls])

        CALLS[name] = damage

    return enter


@call_kind("line in another form")
def _form(chance: random.Random, call: Call) -> bytes:
    forms = (
        lambda: json.dumps(call, sort_keys=True),
        lambda: json.dumps(call, separators=(" , ", " : ")),
        lambda: json.dumps(dict(reversed(call.items())), ensure_ascii=False),
    )
    return chance.choice(forms)().encode()


@call_kind("value replaced")
def _value(chance: random.Random, call: Call) -> Call:
    path, _ = chance.choice([leaf for leaf in leaves(call) if leaf[0]])
    changed: Call = put(call, path, chance.choice(ODD))
    return changed


@call_kind("value gone")
def _gone(chance: random.Random, call: Call) -> Call:
    path, _ = chance.choice([leaf for leaf in leaves(call) if leaf[0]])
    holder: Any = call
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return call


@call_kind("key added")
def _added(chance: random.Random, call: Call) -> Call:
    names = ("x", "body", "status", "call", "error", "digest", "endpoint", "base64", "code", "")
    holder = chance.choice([value for _, value in leaves(call) if isinstance(value, dict)])
    holder[chance.choice(names)] = chance.choice(ODD)
    return call


@call_kind("key twice in a line")
def _twice(chance: random.Random, call: Call) -> bytes | None:
    text = _encoded(call)
    pairs = (
        (b'"code":', b'"code":500,'),
        (b'"call":"', b'"call":"zzz",'),
        (b'"method":', b'"method":"GET",'),
        (b'"string":"', b'"string":"a lie",'),
        (b'"body":', b'"body":"a lie",'),
    )
    key, lie = chance.choice(pairs)
    place = text.find(key)
    return None if place < 0 else text[:place] + lie + text[place:]


@call_kind("nested deeply")
def _deep(chance: random.Random, call: Call) -> Call | bytes:
    nest = "[" * (depth := chance.choice([50, 500, 5000, 100_000])) + "]" * depth
    how = chance.randrange(3)
    if how == 0:
        return _encoded(call)[:-1] + b',"z":' + nest.encode() + b"}"
    if how == 1:
        call["request"]["body"] = nest
    else:
        call["response"]["body"] = {"string": nest}
    return call


@call_kind("lone surrogate")
def _surrogate(chance: random.Random, call: Call) -> bytes:
    text, escape = _encoded(call), chance.choice([rb"\ud800", rb"\udfff\ud800", rb"\u0000"])
    place = text.find(b'"string":"') + 10
    return text[:place] + escape + text[place:]


@call_kind("question changed")
def _question(chance: random.Random, call: Call) -> Call | None:
    text = call["request"]["body"]
    if not text:
        return None
    place = chance.randrange(len(text))
    insert = chance.choice(["LIE", "x", " ", "9"])
    call["request"]["body"] = text[:place] + insert + text[place:]
    return call


@call_kind("question forged, with its digest")
def _forged(chance: random.Random, call: Call) -> Call | None:
    request = call["request"]
    if not request["body"]:
        return None
    request["body"] = request["body"].replace("the", "a", chance.randrange(1, 4))
    if "digest" in call["response"]:
        form = "application/json"
        body = request["body"].encode()
        call["response"]["digest"] = digest(request["method"], request["uri"], form, body)
    return call


@call_kind("address changed")
def _address(chance: random.Random, call: Call) -> Call:
    uri = call["request"]["uri"]
    others = (f"{uri}x", f"{uri}#x", uri.upper(), "https://example.org/v1/chat", "file:///x", "")
    call["request"]["uri"] = chance.choice(others)
    return call


@call_kind("request's headers changed")
def _request_headers(chance: random.Random, call: Call) -> Call:
    others: list[dict[str, list[str]]] = [
        {},
        {"content-type": ["text/plain"]},
        {"x": ["\x1b[31m"]},
        {"content-encoding": ["gzip"]},
        {"content-type": ["multipart/form-data; boundary=x"]},
    ]
    call["request"]["headers"] = chance.choice(others)
    return call


@call_kind("digest or endpoint changed")
def _marks(chance: random.Random, call: Call) -> Call:
    response = call["response"]
    if "digest" in response:
        true = response["digest"]
        response["digest"] = chance.choice(["1:" + "0" * 32, "", "2:" + true[2:], true.upper()])
    else:
        response["endpoint"] = chance.choice(["", "judge-a", "nobody", "SUBJECT-A"])
    return call


@call_kind("status changed")
def _status(chance: random.Random, call: Call) -> Call:
    codes = (201, 204, 299, 301, 304, 400, 403, 429, 500, 503, 599, 100, 999)
    code = chance.choice([200, *codes])
    call["response"]["status"] = {"code": code, "message": chance.choice(["OK", "", "\x1b[2J"])}
    return call


@call_kind("answer's headers changed")
def _headers(chance: random.Random, call: Call) -> Call:
    names = ("content-encoding", "content-length", "location", "retry-after", "content-type", "x")
    values = ("gzip", "0", "5", "text/event-stream", "identity", "chunked", "9" * 30, "\u00ff")
    call["response"]["headers"][chance.choice(names)] = [chance.choice(values)]
    return call


@call_kind("tries and times changed")
def _tries(chance: random.Random, call: Call) -> Call:
    changes: list[dict[str, Any]] = [
        {"attempts": [{"status": 429, "retry_after": "1e9"}]},
        {"recorded_at": "1999-01-01T00:00:00Z"},
        {"elapsed": 0.001},
        {"http_version": "HTTP/9"},
        {"redacted": True},
    ]
    call["response"].update(chance.choice(changes))
    return call


@call_kind("error added")
def _error(chance: random.Random, call: Call) -> Call:
    names = ("ReadTimeout", "KeyboardInterrupt", "SystemExit", "Client", "__class__", "Response")
    call["response"]["error"] = {"type": chance.choice(names), "message": "m"}
    return call


@call_kind("pieces of a stream")
def _pieces(chance: random.Random, call: Call) -> Call:
    size = len(call["response"]["body"]["string"].encode())
    sizes = ([size], [1] * size, [size + 1, -1], [0, size], [size, 0, 0], [-1, size + 1])
    call["response"]["chunks"] = chance.choice(sizes)
    more: list[dict[str, Any]] = [
        {},
        {"partial": True},
        {"error": {"type": "ReadError", "message": "x"}},
    ]
    call["response"].update(chance.choice(more))
    return call


@call_kind("body in base64")
def _base64(chance: random.Random, call: Call) -> Call:
    text = call["response"]["body"]["string"]
    true, lie = (base64.b64encode(said.encode()).decode() for said in (text, LIE))
    bodies = (("", true), ("a lie", true), (text, ""), (text, lie), ("", lie))
    string, coded = chance.choice(bodies)
    call["response"]["body"] = {"string": string, "base64": coded}
    return call


def _answer(call: Call) -> Any:
    try:
        return json.loads(call["response"]["body"]["string"])
    except ValueError:
        return None


@call_kind("value of an answer changed")
def _answered(chance: random.Random, call: Call) -> Call | None:
    answer = _answer(call)
    values = [leaf for leaf in leaves(answer) if leaf[0] and not isinstance(leaf[1], (dict, list))]
    if not values:
        return None
    path, value = chance.choice(values)
    new: Any = chance.choice(["x", 1, True])
    if isinstance(value, str) and value:
        place = chance.randrange(len(value))
        new = value[:place] + chance.choice("abcxyz019 .,") + value[place + 1 :]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        new = value + chance.choice([1, -1, 1000, 0.5, 10**400 if isinstance(value, int) else -1])
    call["response"]["body"]["string"] = json.dumps(put(answer, path, new))
    return call


@call_kind("answer in another form")
def _answer_form(chance: random.Random, call: Call) -> Call | None:
    answer = _answer(call)
    if answer is None:
        return None
    text = json.dumps(answer)
    forms = (json.dumps(answer, indent=2), json.dumps(answer, sort_keys=True), "\ufeff" + text)
    call["response"]["body"]["string"] = chance.choice([*forms, f" {text}\n"])
    return call


@call_kind("key twice in an answer")
def _answer_twice(chance: random.Random, call: Call) -> Call | None:
    text = call["response"]["body"]["string"]
    if not text.startswith("{"):
        return None
    lie = LIE[1:-1]
    twice = (f"{{{lie}, {text[1:]}", f"{text[:-1]}, {lie}}}")
    call["response"]["body"]["string"] = chance.choice(twice)
    return call


@call_kind("number of an answer changed")
def _scored(chance: random.Random, call: Call) -> Call | None:
    text = call["response"]["body"]["string"]
    numbers = list(_score.finditer(text))
    if not numbers:
        return None
    number = chance.choice(numbers)
    others = ("0.9999999999999", "0.1", "1", "0", "1e-1", "-0", "1e999", "NaN", "9" * 400)
    new = chance.choice(others)
    call["response"]["body"]["string"] = text[: number.start()] + new + text[number.end() :]
    return call


def _order(call: Call) -> tuple[str, int]:
    return call["response"]["call"] or "", call["response"].get("occurrence", 0)


@lines_kind("answers exchanged")
def _exchanged(chance: random.Random, calls: list[Call]) -> None:
    one, two = (chance.choice(calls)["response"] for _ in range(2))
    one["body"], two["body"] = two["body"], one["body"]


@lines_kind("calls exchanged")
def _renamed(chance: random.Random, calls: list[Call]) -> None:
    one, two = (chance.choice(calls) for _ in range(2))
    names = one["response"].get("call"), two["response"].get("call")
    two["response"]["call"], one["response"]["call"] = names
    calls.sort(key=_order)


@lines_kind("call renamed")
def _name(chance: random.Random, calls: list[Call]) -> None:
    chance.choice(calls)["response"]["call"] += chance.choice(["x", " ", "\u200b", "/ask-2"])
    calls.sort(key=_order)


@lines_kind("call a second time")
def _occurrence(chance: random.Random, calls: list[Call]) -> None:
    place = chance.randrange(len(calls))
    again = json.loads(json.dumps(calls[place]))
    again["response"]["occurrence"] = 1
    calls.insert(place + 1, again)


@lines_kind("calls gone at the end")
def _shorter(chance: random.Random, calls: list[Call]) -> None:
    del calls[chance.randrange(1, len(calls)) :]


def _of_another_cell(chance: random.Random, file: Sound) -> bytes | None:
    lines, place = lines_of(file.data), chance.randrange(len(lines_of(file.data)))
    call = json.loads(lines[place])["response"]["call"]
    others = [line for kin in file.kin for line in lines_of(kin)]
    twins = [line for line in others if b'"call":' + json.dumps(call).encode() in line]
    if not twins:
        return None
    lines[place] = chance.choice(twins)
    return written(file, lines)


CALLS["line of another cell"] = _of_another_cell


def _other_format(_chance: random.Random, file: Sound) -> bytes:
    """Claim the other format in the first line, and leave all else."""
    first, _, rest = file.data.partition(b"\n")
    two = b'"format": 2, '
    other = first.replace(two, b"") if two in first else first.replace(b'"inter', two + b'"inter')
    return other + b"\n" + rest


CALLS["format claimed"] = _other_format
