"""Show what differs between a recorded request and a new one, and nothing else."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from harness.recording.exchange import Exchange, searched_body, stored_request
from harness.recording.interaction import Interaction, decoded, encodings

MOST_LINES = 12


def shown(body: bytes) -> str:
    """Give a body as text, whatever it is."""
    return body.decode("utf-8", "backslashreplace")


def difference(recorded: Interaction, exchange: Exchange) -> str:
    """Show only what differs between a recorded request and a new one, word by word."""
    now = stored_request(exchange)
    lines: list[str] = []
    if (recorded.request.method, recorded.request.uri) != (now.method, now.uri):
        lines += [
            f"- {recorded.request.method} {recorded.request.uri}",
            f"+ {now.method} {now.uri}",
        ]
    old, new = _plain(recorded), searched_body(exchange, now)
    if old != new:
        lines += _changed_words(shown(old), shown(new))
    return "\n".join(lines) or "(only white space or key order differ)"


def _plain(recorded: Interaction) -> bytes:
    sent = [(name, value) for name, values in recorded.request.headers.items() for value in values]
    body = decoded(encodings(sent), recorded.request_bytes)
    return recorded.request_bytes if body is None else body


def _changed_words(old: str, new: str) -> list[str]:
    before, after = (re.findall(r"\w+|\W", text) for text in (old, new))
    lines: list[str] = []
    for i1, i2, j1, j2 in _changes(before, after):
        if len(lines) < MOST_LINES:
            around = "".join(before[max(0, i1 - 12) : i1])
            then = "".join(before[i2 : i2 + 8])
            lines += [
                f"- ...{around}[{''.join(before[i1:i2])[:300]}]{then}...",
                f"+ ...{around}[{''.join(after[j1:j2])[:300]}]{then}...",
            ]
    return [line.replace("\n", "\\n") for line in lines]


def _changes(before: list[str], after: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Compare only what lies between the common beginning and the common end."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(old) > 1000)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield i1 + start, i2 + start, j1 + start, j2 + start


def _common(before: list[str], after: list[str]) -> int:
    pairs = zip(before, after, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
