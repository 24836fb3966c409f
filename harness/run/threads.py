"""Do at once what may be done at once: daemon threads, so that a second Ctrl-C ends them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeVar

from harness.asking.executor import Each
from harness.errors import EndpointRefused, Incomplete, NoRoom
from harness.run.budget import CostLimit
from harness.run.circuit_breaker import JudgeUnusable
from harness.run.reach import EndpointDown
from harness.run.rejections import RequestsRejected

ALL_STOP = (EndpointRefused, EndpointDown, NoRoom, CostLimit, JudgeUnusable, RequestsRejected)
Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def stops_all(error: BaseException) -> bool:
    """Return whether an error would be met by everything else too, or is no bad luck at all."""
    return not isinstance(error, Incomplete) or isinstance(error, ALL_STOP)


def at_once(workers: int, stop: threading.Event) -> Each:
    """Return what does things in so many threads, until one fails for all or `stop` is set.

    Everything that was begun ends, also where one thing failed: its calls are paid for. Raises the
    first error in the items' order, one that stops all before any other, and before its like one
    that was raised from another, for that says more.
    """

    def each(do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        listed = list(items)
        outcomes: dict[int, Outcome] = {}
        errors: dict[int, BaseException] = {}
        waiting = deque(enumerate(listed))

        def work() -> None:
            while waiting and not stop.is_set():
                try:
                    place, item = waiting.popleft()
                except IndexError:  # another thread was quicker
                    return
                try:
                    outcomes[place] = do(item)
                except BaseException as error:  # noqa: BLE001  # raised below
                    errors[place] = error
                    if stops_all(error):
                        stop.set()

        _run(work, min(workers, len(listed)))
        if errors:
            raise min(errors.items(), key=_weight)[1]
        if len(outcomes) < len(listed):
            raise Incomplete("the recording was stopped; nothing is lost.")
        return [outcomes[place] for place in range(len(listed))]

    return each


def _weight(placed: tuple[int, BaseException]) -> tuple[bool, bool, int]:
    place, error = placed
    return not stops_all(error), error.__cause__ is None, place


def _run(work: Callable[[], None], threads: int) -> None:
    crew = started(work, threads)
    if not crew:
        work()
    for thread in crew:
        thread.join()


def started(work: Callable[[], None], threads: int) -> list[threading.Thread]:
    """Start so many daemon threads, or as many as the system allows, and return them."""
    crew: list[threading.Thread] = []
    for _ in range(threads):
        thread = threading.Thread(target=work, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # "can't start new thread": a limit of memory or of processes
            break
        crew.append(thread)
    return crew
