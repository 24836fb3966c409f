"""Things that may be done in turn or at once; whoever runs a protocol decides which."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Each(Protocol):
    """Do one thing for each item, in turn or at once, and give the outcomes in their order."""

    def __call__(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        """Do it; raises an error of the items, if there is one."""


def in_turn(do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
    """Do one thing for each item, one after the other."""
    return [do(item) for item in items]
