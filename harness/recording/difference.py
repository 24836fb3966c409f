"""Show what differs between a recorded request and a new one, and nothing else."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from harness.decoding import decoded
from harness.recording.exchange import PlainRequest, searched_body, stored_request
from harness.recording.interaction import Interaction, encodings

MOST_LINES = 12
LONGEST = 300  # characters of one changed stretch
WINDOW = 256  # words
SURE = 8  # words in common by which two texts are taken to go on together
_words = re.compile(r"\w+|\W")


def shown(body: bytes) -> str:
    """Return a body as text, whatever it is."""
    return body.decode("utf-8", "backslashreplace")


def difference(recorded: Interaction, request: PlainRequest) -> str:
    """Show only what differs between a recorded request and a new one, word by word."""
    stored = stored_request(request)
    lines: list[str] = []
    if (recorded.request.method, recorded.request.uri) != (stored.method, stored.uri):
        lines += [
            f"- {recorded.request.method} {recorded.request.uri}",
            f"+ {stored.method} {stored.uri}",
        ]
    old, new = _plain(recorded), searched_body(request, stored)
    if old != new:
        lines += changed_words(shown(old), shown(new))
    return "\n".join(lines) or "(only white space or key order differ)"


def _plain(recorded: Interaction) -> bytes:
    sent = [(name, value) for name, values in recorded.request.headers.items() for value in values]
    body = decoded(encodings(sent), recorded.request_bytes)
    return recorded.request_bytes if body is None else body


def changed_words(old: str, new: str) -> list[str]:
    """Return the lines that show what differs, a pair for each of the first changes."""
    before, after = (_words.findall(text) for text in (old, new))
    lines: list[str] = []
    for i1, i2, j1, j2 in islice(_changes(before, after), MOST_LINES // 2):
        around = _text(before, max(0, i1 - 12), i1)
        then = _text(before, i2, min(i2, i1 + LONGEST) + 8)
        lines += [
            f"- ...{around}[{_text(before, i1, i2)}]{then}...",
            f"+ ...{around}[{_text(after, j1, j2)}]{then}...",
        ]
    return [line.replace("\n", "\\n") for line in lines]


def _text(words: list[str], start: int, end: int) -> str:
    return "".join(words[start : min(end, start + LONGEST)])[:LONGEST]


def _changes(before: list[str], after: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the stretches of words that differ, as slices (i1, i2, j1, j2), first to last.

    Words are compared one by one while they are equal, from both ends, and by difflib, whose work
    grows with the square, only in a window of WINDOW words from the first one that is not; the
    texts are taken to go on together behind the window's last common stretch of SURE words. Where
    it has none, all that follows differs. So the work for each change is bounded.
    """
    i = j = _common(before, after)
    end = _common(before[i:][::-1], after[j:][::-1])
    old, new = len(before) - end, len(after) - end
    while (i, j) != (old, new):
        blocks = _blocks(before[i : min(i + WINDOW, old)], after[j : min(j + WINDOW, new)])
        if not blocks:
            yield i, old, j, new
            return
        yield from _between(blocks, i, j)
        i, j = i + blocks[-1].a + blocks[-1].size, j + blocks[-1].b + blocks[-1].size
        equal = _common(islice(before, i, old), islice(after, j, new))
        i, j = i + equal, j + equal


def _blocks(old: list[str], new: list[str]) -> list[difflib.Match]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    cut = WINDOW in (len(old), len(new))  # what seems to be in common near the cut may be chance
    while cut and blocks and blocks[-1].size < SURE:
        blocks.pop()
    return blocks


def _between(blocks: list[difflib.Match], i: int, j: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield what lies before each of a window's common stretches, at (i, j) of the texts."""
    end_a = end_b = 0
    for block in blocks:
        if (end_a, end_b) != (block.a, block.b):
            yield i + end_a, i + block.a, j + end_b, j + block.b
        end_a, end_b = block.a + block.size, block.b + block.size


def _common(before: Iterable[str], after: Iterable[str]) -> int:
    """Return how many words two texts have in common from their beginning on."""
    count = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        count += 1
    return count
