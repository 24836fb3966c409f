"""What many threads do at once fails as one would."""

import subprocess
import sys
import threading

import pytest

from harness.errors import Miss
from harness.run.threads import at_once


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


NO_MORE = """
import resource, threading
from harness.run.threads import at_once
threading.stack_size(2**29)
resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
print(at_once(6, threading.Event())(lambda item: item * item, range(9)))
"""


@pytest.mark.parametrize("room", [2**28, 2**30, 2**40], ids=["for none", "for some", "for all"])
def test_threads_that_the_system_refuses_are_done_without(room: int) -> None:
    """Under a limit of memory all is done in fewer threads, or in the one that asks."""
    program = NO_MORE.replace("ROOM", str(room))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{[item * item for item in range(9)]}\n"
