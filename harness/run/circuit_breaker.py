"""Notice a model whose replies are unusable, and say why, before a study's worth is paid for."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from harness.asking.replies.reply_count import OK, ReplyOutcome
from harness.errors import Incomplete

FIRST_SAID = 3  # unusable replies of one model; said again each time they have doubled


class JudgeUnusable(Incomplete):
    """One judge gave nothing usable for a while; somebody should look."""


class JudgeWatch:
    """Count unusable replies by role and model: say so from the third on, stop at a row of them.

    study: its name, for the commands that go on. cause: tells why a reply was unusable, and what
    to change. say: is handed what to say.
    """

    def __init__(
        self,
        limit: int | None,
        study: str,
        cause: Callable[[ReplyOutcome], str],
        say: Callable[[str], None],
    ) -> None:
        self._limit, self._study, self._cause, self._say = limit, study, cause, say
        self._in_a_row: Counter[tuple[str, str]] = Counter()
        self._unusable: Counter[tuple[str, str]] = Counter()
        self._next_said: dict[tuple[str, str], int] = {}
        self._guard = threading.Lock()

    def heard(self, reply: ReplyOutcome) -> None:
        """Hear of a reply; raises JudgeUnusable at the limit, if there is one."""
        place = reply.role, reply.model
        with self._guard:
            if reply.state == OK:
                self._in_a_row[place] = 0
                return
            self._in_a_row[place] += 1
            self._unusable[place] += 1
            self._tell(reply)
            self._stop_at_the_limit(reply)

    def _tell(self, reply: ReplyOutcome) -> None:
        place = reply.role, reply.model
        count = self._unusable[place]
        if count == self._next_said.get(place, FIRST_SAID):
            self._next_said[place] = 2 * count
            who = f"{reply.model} ({reply.role})"
            self._say(f"{who}: {count} unusable replies, the last {self._cause(reply)}")

    def _stop_at_the_limit(self, reply: ReplyOutcome) -> None:
        if self._limit is not None and self._in_a_row[reply.role, reply.model] >= self._limit:
            raise JudgeUnusable(
                f"{reply.model} gave {self._limit} unusable replies in a row, the last "
                f"{self._cause(reply)}. Look at them with `harness show {self._study}`, and at the "
                f"endpoint with `harness check {self._study}`; go on as it is with `harness record "
                f"{self._study} --keep-going`, or change the study and start the open cells anew: "
                f"`harness record {self._study} --restart open`."
            )
