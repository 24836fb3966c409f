"""Transcripts for the page's browser: what is listed, what can be filtered, what is shown.

Everything a model said is in here as plain strings, and reaches the page as JSON that can end no
script and hold no markup; the page's script writes it as text only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from harness.page.replayed_study import RecordedCall


class Block(NamedTuple):
    """A text with its label; kind is "context", "trap", "question", "answer", "judge" or "fact"."""

    kind: str
    label: str
    text: str


class Facet(msgspec.Struct):
    """Something to filter by: its name, and its values in the order they are offered."""

    name: str
    values: Sequence[str]


class EntryStep(msgspec.Struct):
    """What a filter finds: a turn, or a question.

    anchor: its place in links, after the entry's; "" where the entry's says it. chip: its outcome
    in a word or two; tone: "good", "bad" or "". facets: its values by the facet's name, several
    where several hold. scores: by name. marks: words to be marked in its texts.
    """

    name: str
    chip: str
    tone: str
    facets: Mapping[str, Sequence[str]]
    scores: Mapping[str, float | None]
    blocks: Sequence[Block]
    calls: Sequence[RecordedCall]
    marks: Sequence[str] = ()
    anchor: str = ""


class BrowserEntry(msgspec.Struct):
    """An entry of the list: a dialogue, or a question; it has a step at least.

    cell, file: of its calls. blocks: of the entry as such, before its steps. anchor: its place in
    links to it, another for each entry of a study.
    """

    name: Sequence[str]
    cell: str
    file: str
    facets: Mapping[str, str]
    blocks: Sequence[Block]
    steps: Sequence[EntryStep]
    anchor: str


class Browser(msgspec.Struct):
    """All entries of a study; entries_are, steps_are: what they are called, in the plural.

    legend: what the chips of an entry say, and their colours.
    """

    study: str
    entries_are: str
    steps_are: str
    facets: Sequence[Facet]
    scores: Sequence[str]
    entries: Sequence[BrowserEntry]
    legend: str = ""


def safe_json(browser: Browser) -> str:
    """Return a browser as JSON for a script element: ASCII only, and no character of markup."""
    text = json.dumps(msgspec.to_builtins(browser), separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def facet(name: str, values: Iterable[str]) -> Facet:
    """Make a facet of the values that occur, each once, in the order of their first appearance."""
    return Facet(name, list(dict.fromkeys(values)))
