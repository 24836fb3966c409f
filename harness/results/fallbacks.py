"""How often a role fell back: asked again, read after a repair, or replaced by something else."""

from __future__ import annotations

import msgspec

from harness.results.shared import Value


class Replies(msgspec.Struct):
    """What became of the replies of one model in a role that has to reply in a form.

    second_asks: those of the calls that asked once more, saying what was wrong. usable: replies
    that served, of which `repaired` only after a repair of their form. unusable: the others, by
    state, or by what was wrong with a question.
    """

    role: str
    model: str
    calls: int = 0
    second_asks: int = 0
    usable: int = 0
    repaired: int = 0
    unusable: dict[str, int] = {}


class Fallback(msgspec.Struct):
    """How often one way of falling back was taken; share: of its n.

    limit: the share above which the study is invalid, null where there is none.
    """

    name: str
    count: int
    share: Value
    limit: float | None = None

    @property
    def fault(self) -> str:
        """Return the sentence that the limit is passed; "" where it is not."""
        if self.limit is None or self.share.value is None or self.share.value <= self.limit:
            return ""
        return f"{self.words}, {self.limit:.1%} are allowed"

    @property
    def words(self) -> str:
        """Return name, count and share as a line of text has them."""
        if self.share.value is None:
            return f"{self.name}: {self.share.reason}"
        return f"{self.name}: {self.count} of {self.share.n} ({self.share.value:.1%})"


class Fallbacks(msgspec.Struct):
    """All of a study's fallbacks: each kind with its share, and the replies by role and model."""

    shares: list[Fallback] = []
    replies: list[Replies] = []


def share_of(name: str, count: int, of: int, reason: str, limit: float | None = None) -> Fallback:
    """Return a fallback; its share is null with `reason` where there was nothing to count."""
    share = Value(count / of, of) if of else Value(None, 0, reason)
    return Fallback(name, count, share, limit)
