"""What can go wrong, as one small tree.

`HarnessError` and its children are mistakes, damage and bad luck that a command turns into a
message and an exit code. `RunStopped` and its children stop a program at once: they derive from
BaseException, because client libraries wrap every Exception as a connection error and try again.
"""

from __future__ import annotations

# Statuses of an endpoint that refuses every call; the last two tell of a plan that is used up.
REFUSALS = (401, 402, 403, 404, 432, 433)


class HarnessError(Exception):
    """Say what went wrong, where, and what to do next; `exit_code` is the command's."""

    exit_code = 1


class UsageError(HarnessError):
    """The study file, the arguments or the place the command was run in is wrong."""

    exit_code = 2


class CheckFailed(HarnessError):
    """A check that the user asked for does not hold."""


class DamagedFile(CheckFailed):
    """A file is not what was written; it is never treated as absent and never overwritten."""


class Incomplete(HarnessError):
    """The run could not finish now; nothing is lost and `record` goes on from here."""

    exit_code = 3


class NoRoom(Incomplete):
    """The disk is full: nothing more can be kept, so nothing more may be paid for."""


class EndpointRefused(Incomplete):
    """A model's endpoint refuses every call (key, credit, permission, no such model)."""


class RunStopped(BaseException):
    """The program must end now: going on would give a wrong or an unpaid-for result."""

    exit_code = 1


class Miss(RunStopped):
    """A request is not what was recorded."""


class Blocked(RunStopped):
    """Something tried to reach the network, or to start a program, during a replay."""


class KeyInRequest(RunStopped):
    """A request would have carried a key outside the places where keys belong."""

    exit_code = 2


def is_passing(status: int) -> bool:
    """Tell whether an HTTP status is bad luck that another try may not meet."""
    return status >= 500 or status in (408, 409, 425, 429)
