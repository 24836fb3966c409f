"""What many threads do at once fails as one would."""

import threading

import pytest

from harness.errors import Miss
from harness.run.crew import at_once


def test_of_two_misses_the_one_that_says_more_is_raised() -> None:
    """All threads meet one miss; the path that it is about adds the answer it follows from."""
    both = threading.Barrier(2)

    def do(item: int) -> int:
        both.wait(5)
        try:
            raise Miss("not recorded")
        except Miss as miss:
            if item == 2:
                raise Miss("not recorded, it follows from an answer") from miss
            raise

    with pytest.raises(Miss, match="it follows from an answer"):
        at_once(2, threading.Event())(do, [1, 2])
