"""Notice a model that has stopped giving usable replies, before a study's worth is paid for."""

from __future__ import annotations

import threading
from collections import Counter

from harness.asking.reply_count import Reply
from harness.errors import Incomplete


class JudgeUnusable(Incomplete):
    """One judge gave nothing usable for a while; somebody should look."""


class JudgeWatch:
    """Count unusable replies in a row, by role and model; raise JudgeUnusable at the limit."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._in_a_row: Counter[tuple[str, str]] = Counter()
        self._guard = threading.Lock()

    def heard(self, reply: Reply) -> None:
        """Hear of a reply; raises JudgeUnusable at the limit, if there is one."""
        name, state, place = reply.model, reply.state, (reply.role, reply.model)
        with self._guard:
            self._in_a_row[place] = 0 if state == "ok" else self._in_a_row[place] + 1
            if self._limit is not None and self._in_a_row[place] >= self._limit:
                raise JudgeUnusable(
                    f"{name} gave {self._limit} unusable replies in a row, the last was "
                    f"{state!r}. Look at them with `harness show`, and at the endpoint with "
                    "`harness check`; go on as it is with `harness record --keep-going`, or mend "
                    "the study and start the open cells anew with --restart open."
                )
