"""The paragraphs of a long page that fit a direction, within a bounded length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.asking.relevance import content_words, overlap

LONGEST = 1500  # characters
APPENDICES = frozenset(
    {
        "bibliography",
        "citations",
        "external links",
        "footnotes",
        "further reading",
        "notes",
        "references",
        "see also",
        "sources",
    }
)
_heading = re.compile(r"(={2,6})\s*(.*?)\s*\1")
_sentence_end = re.compile(r"[.!?][\"'”’)\]]*(?=\s|$)")


class Paragraph(NamedTuple):
    """A paragraph, its place in the page, and the heading above it ("" before the first)."""

    place: int
    heading: str
    text: str


def excerpt(page: str, direction: str, longest: int = LONGEST) -> str:
    """Return the paragraphs that share most words with a direction, in the order of the page.

    page: plain text, a paragraph a line, sections headed by lines such as == History ==. Where no
    paragraph shares a word, these are the first ones. Of a paragraph that is too long on its own
    the sentences that fit are kept. "" where the page has no text.
    """
    words = content_words(direction)
    ranked = sorted(
        (-overlap(words, f"{paragraph.heading} {paragraph.text}"), paragraph)
        for paragraph in _paragraphs(page)
    )
    fitting = [paragraph for worth, paragraph in ranked if worth < 0 or ranked[0][0] == 0]
    return "\n\n".join(paragraph.text for paragraph in sorted(_bounded(fitting, longest)))


def _paragraphs(page: str) -> Iterator[Paragraph]:
    heading, left_out = "", 0  # the level of an appendix's heading, and of all below it
    for place, line in enumerate(page.splitlines()):
        text = line.strip()
        if head := _heading.fullmatch(text):
            heading, level = head[2], len(head[1])
            if not left_out or level <= left_out:
                left_out = level if heading.casefold() in APPENDICES else 0
        elif text and not left_out:
            yield Paragraph(place, heading, text)


def _bounded(ranked: list[Paragraph], longest: int) -> Iterator[Paragraph]:
    room = longest
    for paragraph in ranked:
        text = paragraph.text if room < longest else _cut(paragraph.text, longest)
        if len(text) <= room:
            yield paragraph._replace(text=text)
            room -= len(text) + 2


def _cut(text: str, longest: int) -> str:
    """Return the sentences that fit, or the words where not even one sentence does."""
    if len(text) <= longest:
        return text
    ends = [end.end() for end in _sentence_end.finditer(text) if end.end() <= longest]
    return text[: ends[-1]] if ends else text[: longest + 1].rpartition(" ")[0] or text[:longest]
