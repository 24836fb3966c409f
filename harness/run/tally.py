"""How far a recording is: calls, tries, cells, and what is missing of those that are finished."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType


class Tally:
    """How far a recording is; `changed` is called after every change, under the lock."""

    def __init__(self, planned: int, finished: int, calls_a_cell: int) -> None:
        self.planned, self.finished, self.calls_a_cell = planned, finished, calls_a_cell
        self.calls = self.retries = self.missing = 0
        self.missing_answers: Counter[str] = Counter()
        self.judged_answers: Counter[str] = Counter()
        self.began = time.monotonic()
        self.changed: Callable[[Tally], None] = lambda _: None
        self.noted: Callable[[str], None] = lambda _: None
        self._lock = threading.Lock()

    def add(
        self,
        *,
        calls: int = 0,
        retries: int = 0,
        missing: int = 0,
        cells: int = 0,
        missing_answers: Mapping[str, int] = MappingProxyType({}),
        judged_answers: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Count what happened; missing_answers, and judged_answers without a text: by kind."""
        with self._lock:
            self.calls += calls
            self.retries += retries
            self.missing += missing
            self.missing_answers.update(missing_answers)
            self.judged_answers.update(judged_answers)
            self.finished += cells
            with contextlib.suppress(OSError, ValueError):  # nobody looks on any more: no reason
                self.changed(self)  # to lose an answer that is paid for and not yet kept

    def note(self, words: str) -> None:
        """Say something about the recording while it runs."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            self.noted(words)

    @property
    def seconds_left(self) -> float | None:
        """Return the expected time to the end, from the calls of this session; None at first."""
        calls = (self.planned - self.finished) * self.calls_a_cell
        passed = time.monotonic() - self.began
        return passed / self.calls * calls if self.calls else None
