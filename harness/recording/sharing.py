"""Recorders that transports share, and what is left to do when the program ends."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from harness.errors import HarnessError, RunStopped
from harness.recording.recorder import RULES, Mode, Recorder
from harness.recording.redaction import KeyRing
from harness.recording.rules import NO_RULES, Rules

_sessions: dict[tuple[Path, Mode], Session] = {}
_guard = threading.RLock()
_unreported: list[str] = []
_unclosed: list[weakref.finalize[[Callable[[], None]], object]] = []


class Session:
    """One recorder for all transports of this process on one file, open while any of them is."""

    def __init__(self, place: tuple[Path, Mode], recorder: Recorder) -> None:
        self.recorder = recorder
        self.reported = False
        self._place, self._process = place, os.getpid()
        self._transports = 0

    def join(self) -> None:
        """Count one transport more; a session that was over goes on."""
        with _guard:
            if not self._transports and _sessions.get(self._place) is not self:
                self.recorder.reopen()
                _sessions[self._place] = self
            self._transports += 1

    def outlive(
        self, transport: object, end_of_streams: Callable[[], None]
    ) -> weakref.finalize[[Callable[[], None]], object]:
        """Leave for a transport that nobody closes, when it is let go of or the program ends."""
        _unclosed[:] = [finalizer for finalizer in _unclosed if finalizer.alive]
        finalizer = weakref.finalize(transport, self._abandon, end_of_streams)
        _unclosed.append(finalizer)
        return finalizer

    def leave(self) -> None:
        """Count one transport less; with the last one, write the cassette.

        A recording that stopped is not finished: what it has stays in the journal.
        """
        with _guard:
            self._transports -= 1
            if self._transports > 0 or self._process != os.getpid():
                return
            _sessions.pop(self._place, None)
        try:
            if self.recorder.stopped is None:
                self._warn_of_nothing()
                self.recorder.save()
        finally:
            self.recorder.release()

    def _warn_of_nothing(self) -> None:
        if not self.recorder.replays and not self.recorder.sent and not self.recorder.matched:
            warnings.warn(
                f"{self.recorder.path}: 0 calls went through this transport, so nothing is "
                "recorded. Does the client that asks have it?",
                stacklevel=2,
            )

    def _abandon(self, end_of_streams: Callable[[], None]) -> None:
        """Write what can be written, and remember a stop that nobody heard of."""
        if self._process != os.getpid():
            return
        try:
            end_of_streams()
            self.leave()
        except (HarnessError, RunStopped, OSError) as error:
            _unreported.append(str(error))
        stop = self.recorder.stopped
        if stop is not None and not self.reported:
            self.reported = True
            _unreported.append(str(stop))


def session(path: Path, mode: Mode, keys: Iterable[str], rules: Rules = NO_RULES) -> Session:
    """Return the session on a file: the open one where there is one, so that two transports share.

    One that has stopped is not shared: who starts again starts anew.
    """
    place = (path.resolve(), mode)
    with _guard:
        current = _sessions.get(place)
        if current is not None and current.recorder.stopped is None:
            for key in keys:
                current.recorder.keys.add(key)
        else:
            header = RULES + msgspec.json.encode(rules).decode() if rules else ""
            ring = KeyRing(keys, warns=True)
            recorder = Recorder(path, mode, keys=ring, identity=header, rules=rules)
            recorder.in_study = False
            current = _sessions[place] = Session(place, recorder)
        return current


class _ExitCode:
    """End the process with code 1 when the interpreter lets go of this, after all else is done."""

    def __del__(self, leave: Callable[[int], None] = os._exit) -> None:
        leave(1)


_at_the_end: list[_ExitCode] = []


def forget_stops() -> None:
    """Forget the stops that nobody has heard of: somebody has now."""
    _unreported.clear()


def _end() -> None:
    """Leave for all transports, and print the stops that nobody reported.

    Where one of them is what the program ended with, it has been printed.
    """
    for finalizer in list(_unclosed):
        finalizer()
    last = getattr(sys, "last_value", None)
    if not _unreported or (last is not None and _is_stop(last)):
        return
    for words in dict.fromkeys(_unreported):
        print(f"harness: the program went on after this stop:\n{words}", file=sys.stderr)
    sys.stderr.flush()
    _at_the_end.append(_ExitCode())


def _is_stop(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(map(_is_stop, error.exceptions))
    return isinstance(error, RunStopped)


atexit.register(_end)
