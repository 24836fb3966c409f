"""Count what became of replies that have to have a form, in one cell and over all of a study."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from harness.results.fallbacks import Fallback, Fallbacks, Replies, share_of

OK = "ok"
REPAIRS = {"fence", "prose", "several_objects", "trailing_comma", "mended"}  # of a reply's form


class ReplyOutcome(NamedTuple):
    """What one reply came to, after as many asks as there were.

    state: "ok", or what was wrong. calls: one for each ask, of which second_asks repeated the
    question. flags: of how it was read, repairs among them.
    """

    role: str
    model: str
    state: str
    calls: int = 1
    second_asks: int = 0
    flags: Sequence[str] = ()


class ReplyCount:
    """Count replies by role and model, from any thread."""

    def __init__(self) -> None:
        self._replies: dict[tuple[str, str], Replies] = {}
        self._guard = threading.Lock()

    def add(self, reply: ReplyOutcome) -> None:
        """Count one reply."""
        with self._guard:
            key = reply.role, reply.model
            counted = self._replies.setdefault(key, Replies(*key))
            counted.calls += reply.calls
            counted.second_asks += reply.second_asks
            if reply.state == OK:
                counted.usable += 1
                counted.repaired += not REPAIRS.isdisjoint(reply.flags)
            else:
                counted.unusable[reply.state] = counted.unusable.get(reply.state, 0) + 1

    @property
    def replies(self) -> list[Replies]:
        """Return the counts, sorted by role and model, the unusable ones by state."""
        counts = [self._replies[key] for key in sorted(self._replies)]
        for counted in counts:
            counted.unusable = dict(sorted(counted.unusable.items()))
        return counts


class Counted(Protocol):
    """Whatever holds the counts of one cell."""

    @property
    def replies(self) -> list[Replies]:
        """Return the counts by role and model."""


def summed(cells: Iterable[Counted]) -> list[Replies]:
    """Return the counts of all cells by role and model, sorted."""
    total: dict[tuple[str, str], Replies] = {}
    for cell in cells:
        for counted in cell.replies:
            key = counted.role, counted.model
            _add(total.setdefault(key, Replies(*key)), counted)
    return [total[key] for key in sorted(total)]


def _add(total: Replies, counted: Replies) -> None:
    total.calls += counted.calls
    total.second_asks += counted.second_asks
    total.usable += counted.usable
    total.repaired += counted.repaired
    states = sorted({*total.unusable, *counted.unusable})
    total.unusable = {
        state: total.unusable.get(state, 0) + counted.unusable.get(state, 0) for state in states
    }


def faults(fallbacks: Fallbacks) -> list[str]:
    """Return a sentence for each limit that is passed."""
    return [fallback.fault for fallback in fallbacks.shares if fallback.fault]


def shares(replies: Sequence[Replies]) -> list[Fallback]:
    """Return what every protocol has: the second asks of its calls, the repairs of its replies."""
    calls = sum(counted.calls for counted in replies)
    second_asks = sum(counted.second_asks for counted in replies)
    usable = sum(counted.usable for counted in replies)
    repaired = sum(counted.repaired for counted in replies)
    return [
        share_of("second asks", second_asks, calls, "no reply in a form was asked for"),
        share_of("repaired replies", repaired, usable, "no reply was usable"),
    ]
