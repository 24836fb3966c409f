"""Notice a model whose endpoint rejects what it is asked, before a study of rejections is paid for.

A wrong parameter rejects every request: the third in a row is no accident.
"""

from __future__ import annotations

import hashlib
import threading

from harness.asking.models.model import Answer
from harness.errors import Incomplete
from harness.results.answers import FILTERED, NO_REPLY, REJECTED


class RequestsRejected(Incomplete):
    """One model's endpoint rejected several different requests without an answer between."""


class RejectionWatch:
    """Count each model's rejected requests, in the order of completion, since its last answer."""

    def __init__(self, limit: int, study: str) -> None:
        """Begin with no rejected request; study: its name, for the command that goes on."""
        self._limit, self._study = limit, study
        self._rejected: dict[str, set[bytes]] = {}
        self._guard = threading.Lock()

    def noticed(self, model: str, body: bytes, answer: Answer) -> None:
        """Hear of an answer; raises RequestsRejected at the limit, if there is one (0: none)."""
        with self._guard:
            requests = self._rejected.setdefault(model, set())
            if answer.state == REJECTED:
                requests.add(hashlib.sha256(body).digest())
            elif answer.state not in (FILTERED, NO_REPLY):
                requests.clear()
            if 0 < self._limit <= len(requests):
                raise RequestsRejected(self._words(model, len(requests), answer.problem))

    def _words(self, model: str, count: int, problem: str) -> str:
        return (
            f"{model} rejected {count} different requests without an answer between; to the last "
            f"it said: {problem}\nIf it does not take a parameter, name that in `omit` of "
            f"[models.{model}] in study.toml; if it wants another, give that in `params` (as "
            "max_completion_tokens for max_tokens). Then start the open cells anew: `harness "
            f"record {self._study} --restart open`. To go on as it is, with these answers missing: "
            f"`harness record {self._study} --keep-going`, or rejected_limit = 0 in [record]."
        )
