"""What a manifest made anew can change in a study without its verdict noticing, and why.

`differing` names the fields in which a damaged file differs from the one recorded; `reason_for`
gives the reason why a field may differ in a study that still replays as recorded, "" where there is
none: then a replay has missed something. docs/trust.md has the same list in words.
"""

from __future__ import annotations

import io
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from damage import leaves

from harness.recording import cassette as cassettes
from harness.recording.interaction import Interaction

SAME = "the same content in another form"
UNSEEN = "about the recording, read by no protocol"
UNBOUND = "an answer's words, which format 1 does not bind"
UNASKED = "a text that no call of this study is made from"
DECIDES_NOTHING = "said to people, or how to record"
UNREACHED = "a setting that no call and no number of this study came to"
SAME_PLACE = "an address in other letters, from which the same requests follow"
ROUNDING = "a number within 1e-9, which another platform may give"


class Rule(NamedTuple):
    """A reason for fields whose names match; formats: of the study's cassettes."""

    pattern: str
    reason: str
    formats: tuple[int, ...] = (1, 2)


RULES = (
    Rule(r"[\w.]+: form", SAME),
    Rule(r"cassette: request\.headers", UNSEEN),
    Rule(r"cassette: request\.(uri|method) \(same request\)", SAME),
    Rule(r"cassette: request\.body \(same request\)", SAME, (1,)),
    Rule(
        r"cassette: response\.(headers|header_list|http_version|attempts|redacted|recorded_at"
        r"|elapsed|chunks|status\.message)",
        UNSEEN,
    ),
    Rule(r"cassette: response\.digest", UNSEEN, (1,)),
    Rule(r"cassette: response\.(status\.code|error|partial|endpoint)", UNBOUND, (1,)),
    Rule(r"cassette: answer.*", UNBOUND, (1,)),
    Rule(r"results\.json: number within 1e-9", ROUNDING),
    Rule(r"study\.toml: (title|about|record\..*|facts\..*)", DECIDES_NOTHING),
    Rule(
        r"study\.toml: (models|sources)\..*\.(concurrency|requests_per_minute|tokens_per_minute"
        r"|timeout|api_key_env|contact|family|served_as)",
        DECIDES_NOTHING,
    ),
    Rule(
        r"study\.toml: (as_of|seed|(ddft|depthcharge)\..*|sources\..*|models\..*\.thinking)",
        UNREACHED,
    ),
    Rule(r"study\.toml: (models|sources)\..*\.base_url", SAME_PLACE),
    Rule(r"materials\.json: harness_version", DECIDES_NOTHING),
    Rule(r"materials\.json: (prompts|concepts|pools)\..*", UNASKED),
)


def reason_for(form: int, name: str) -> str:
    """Return why a field may differ where cassettes are of this format; "" where it may not."""
    for rule in RULES:
        if form in rule.formats and re.fullmatch(rule.pattern, name):
            return rule.reason
    return ""


def in_short(name: str) -> str:
    """Return a field's name as a table has it: an answer as a whole, a text by its kind."""
    file, _, place = name.partition(": ")
    if place.startswith("answer"):
        return f"{file}: answer"
    if file == "materials.json":
        return f"{file}: {place.partition('.')[0]}"
    return re.sub(r"^(study.toml: \w+)\.[^.]+\.(\w+).*", r"\1.NAME.\2", name)


def differing(path: Path, sound: bytes) -> list[str]:
    """Return the names of the fields in which a file differs from its sound content."""
    damaged = path.read_bytes()
    file = path.name if path.name in OF else "cassette"
    names = set(OF.get(file, _of_cassette)(path, sound, damaged))
    return [f"{file}: {name}" for name in sorted(names or {"form"})]


def _of_cassette(path: Path, sound: bytes, damaged: bytes) -> Iterator[str]:
    now = dict(_calls(path))
    path.write_bytes(sound)
    before = dict(_calls(path))
    path.write_bytes(damaged)
    if now.keys() != before.keys():
        yield "calls"
    for key in now.keys() & before.keys():
        yield from _of_call(before[key], now[key])


def _calls(path: Path) -> Iterator[tuple[tuple[str, int], Interaction]]:
    for label, interaction in cassettes.load(path).labelled():
        yield (label, interaction.response.occurrence), interaction


def _of_call(before: Interaction, now: Interaction) -> Iterator[str]:
    if before == now:
        return
    same = cassettes.derived_digest(before) == cassettes.derived_digest(now)
    for side in ("request", "response"):
        old, new = (msgspec.to_builtins(getattr(call, side)) for call in (before, now))
        for name in sorted({*old, *new}):
            if old.get(name) == new.get(name):
                continue
            if (side, name) == ("response", "body"):
                yield from _of_answer(old["body"], new["body"])
            elif (side, name) == ("response", "status"):
                yield from (f"response.status.{key}" for key in _different(old[name], new[name]))
            else:
                is_same = side == "request" and name != "headers" and same
                yield f"{side}.{name}{' (same request)' if is_same else ''}"


def _of_answer(old: dict[str, str], new: dict[str, str]) -> Iterator[str]:
    try:
        before, now = json.loads(old["string"]), json.loads(new["string"])
    except (ValueError, RecursionError):
        yield "answer, not JSON"
        return
    names = list(_different(before, now))
    yield from (f"answer, {name}" for name in names or ["the same JSON"])


def _of_results(_path: Path, sound: bytes, damaged: bytes) -> Iterator[str]:
    before, now = (dict(leaves(json.loads(data))) for data in (sound, damaged))
    for path in before.keys() | now.keys():
        old, new = before.get(path, "(absent)"), now.get(path, "(absent)")
        if isinstance(old, (dict, list)) or old == new:
            continue
        numbers = all(isinstance(value, (int, float)) for value in (old, new))
        near = numbers and abs(old - new) <= max(1e-12, 1e-9 * abs(old))
        yield "number within 1e-9" if near else _named(path)


def _of_materials(_path: Path, sound: bytes, damaged: bytes) -> Iterator[str]:
    yield from _different(json.loads(sound), json.loads(damaged))


def _of_study(_path: Path, sound: bytes, damaged: bytes) -> Iterator[str]:
    texts = (io.TextIOWrapper(io.BytesIO(data), "utf-8").read() for data in (sound, damaged))
    yield from _different(*map(tomllib.loads, texts))  # with line ends as they are read


def _different(before: Any, now: Any) -> Iterator[str]:
    old, new = (dict(leaves(tree)) for tree in (before, now))
    for path in sorted({*old, *new}, key=str):
        one, two = (flat.get(path, "(absent)") for flat in (old, new))
        if (one != two or type(one) is not type(two)) and not isinstance(one, (dict, list)):
            yield _named(path)


def _named(path: tuple[Any, ...]) -> str:
    return ".".join("N" if isinstance(step, int) else str(step) for step in path)


OF = {
    "results.json": _of_results,
    "materials.json": _of_materials,
    "study.toml": _of_study,
}
