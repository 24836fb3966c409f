"""Show what differs between a recorded request and a new one, and nothing else."""

from __future__ import annotations

import difflib
import re

from harness.recording.exchange import Exchange, stored_request
from harness.recording.interaction import Interaction

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
    old, new = recorded.request_bytes, (now.body or "").encode() or exchange.body
    if old != new:
        lines += _changed_words(shown(old), shown(new))
    return "\n".join(lines) or "(only white space or key order differ)"


def _changed_words(old: str, new: str) -> list[str]:
    before, after = (re.findall(r"\w+|\W", text) for text in (old, new))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=len(before) > 4000)
    lines: list[str] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal" and len(lines) < MOST_LINES:
            around = "".join(before[max(0, i1 - 12) : i1])
            then = "".join(before[i2 : i2 + 8])
            lines += [
                f"- ...{around}[{''.join(before[i1:i2])[:300]}]{then}...",
                f"+ ...{around}[{''.join(after[j1:j2])[:300]}]{then}...",
            ]
    return [line.replace("\n", "\\n") for line in lines]
