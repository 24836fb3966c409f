"""The logic of record and replay, on plain values; transport.py gives it its httpx faces."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Literal, get_args

from harness.errors import DamagedFile, KeyInRequest, Miss, RunStopped, UsageError
from harness.files import Journal, Lock, check_room, move_aside, refused
from harness.recording import cassette as cassettes
from harness.recording.cassette import Cassette
from harness.recording.difference import difference, shown
from harness.recording.exchange import (
    Exchange,
    digest_of,
    is_recorded,
    plain_body,
    searched_body,
    stored_request,
    without_keys,
)
from harness.recording.interaction import Interaction
from harness.recording.pending import Pending
from harness.recording.redaction import SECRET_HEADER, KeyRing, clean_url, secrets_in

Mode = Literal["none", "once", "new_episodes", "all"]


class Recorder:
    """Find what was recorded, keep what is new, and stop at the first difference.

    Raises Miss where a request is not what was recorded; from then on every call raises the same
    one again. `matched` counts answers given from the recording, and `endpoints` says whom their
    calls were for, by name and occurrence.
    """

    def __init__(
        self,
        path: Path,
        mode: Mode = "none",
        *,
        keys: KeyRing | None = None,
        identity: str = "",
        restart: bool = False,
    ) -> None:
        if mode not in get_args(Mode):
            raise UsageError(f"mode {mode!r} is unknown; expected one of {get_args(Mode)}")
        self.path, self.mode = path, mode
        self.keys = keys or KeyRing()
        self.stopped: RunStopped | None = None
        self.matched = 0
        self.sent = 0
        self.torn = b""
        self.endpoints: dict[tuple[str, int], str] = {}
        self._asked: Counter[str] = Counter()
        self._failures: dict[str, list[str]] = {}  # of earlier sittings, by the call's name
        self._guard = threading.Lock()
        self._journal: Journal | None = None
        self._lock: Lock | None = None
        self.cassette = self._open(identity, restart)

    def _open(self, identity: str, restart: bool) -> Cassette:
        there = self.path.exists()
        journal = self._beside(".journal")
        if self.mode == "none" and not there:
            raise UsageError(self._nothing_recorded(journal))
        self.replays = self.mode == "none" or (self.mode == "once" and there)
        if self.replays:
            return cassettes.load(self.path)
        return self._open_journal(journal, identity, restart)

    def _beside(self, suffix: str) -> Path:
        """A dot of the name itself, as in "gpt-4.1", must not make two cassettes share a file."""
        return self.path.with_name(self.path.name.removesuffix(".json") + suffix)

    def _nothing_recorded(self, journal: Path) -> str:
        if journal.exists():
            return (
                f"{self.path}: the recording was not finished ({journal.name} holds what came "
                'so far). Go on with `harness record`, or with mode "new_episodes".'
            )
        return (
            f"{self.path}: nothing is recorded here. Check the path, or record it first "
            '(mode "once", or `harness record`).'
        )

    def _open_journal(self, path: Path, identity: str, restart: bool) -> Cassette:
        """Lock first and read then: another recorder may just have finished this cell."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(self.path.parent, error) from error
        self._lock = Lock(self._beside(".lock"))
        try:
            kept = self.path.exists() and self.mode != "all"
            recorded = cassettes.load(self.path) if kept else Cassette()
            if path.exists() and (restart or self.mode == "all"):
                move_aside(path)
            self._journal = Journal(path, identity)
            self._take_journal(identity, recorded)
        except BaseException:
            self.release()
            raise
        return recorded

    def _take_journal(self, identity: str, recorded: Cassette) -> None:
        assert self._journal is not None
        entries = self._journal.entries
        if entries.header != identity:
            raise UsageError(
                f"{self._journal.path}: begun under another study file or other "
                f"materials (then {entries.header}, now {identity}). Undo the change, "
                "or start this cell anew with `harness record --restart CELL`."
            )
        self.torn = entries.torn
        for line in entries.lines:
            kind, _, text = line.partition(b" ")
            interaction = _journalled(self._journal.path, text)
            if kind == b"answer":
                recorded.add(interaction)
            elif interaction.response.error is not None:
                words = interaction.response.error.message
                self._failures.setdefault(interaction.response.call or "", []).append(words)

    def begin(self, exchange: Exchange) -> Interaction | Pending:
        """Give the recorded interaction of a request, or a Pending one that is to be sent."""
        with self._guard:
            if self.stopped is not None:
                raise self.stopped
            key = exchange.call or self._digest(exchange)
            occurrence = self._asked[key]
            self._asked[key] = occurrence + 1
            found = self.cassette.get(key, occurrence)
            if found is not None:
                return self._checked(exchange, found)
            if self.replays:
                raise self.stop(self._miss(exchange, occurrence))
            return self._pending(exchange, occurrence)

    def _digest(self, exchange: Exchange) -> str:
        """Look exact words up first: that is quicker than making the digest."""
        try:
            text = exchange.body.decode()
        except UnicodeDecodeError:
            return digest_of(exchange)
        known = self.cassette.known_digest(exchange.method, exchange.url, text)
        return known or digest_of(exchange)

    def _checked(self, exchange: Exchange, interaction: Interaction) -> Interaction:
        if not is_recorded(exchange, interaction):
            raise self.stop(Miss(self._changed(exchange, interaction)))
        response = interaction.response
        if not self.replays and not response.endpoint:
            response.endpoint = exchange.endpoint  # recorded in format 1, which does not say it
        if self.cassette.format > 1 and exchange.endpoint != response.endpoint:
            raise self.stop(Miss(self._elsewhere(exchange, response.endpoint)))
        self.matched += 1
        self.endpoints[exchange.call or "", response.occurrence] = exchange.endpoint
        return interaction

    def _pending(self, exchange: Exchange, occurrence: int) -> Pending:
        if self._journal is None:
            raise UsageError(
                f"{self.path}: was closed, and what comes now could not be kept. Nothing was "
                "sent. Give each client a transport of its own."
            )
        request = stored_request(exchange)
        self._learn_keys(exchange)
        loose = [value for name, value in exchange.pairs if not SECRET_HEADER.search(name)]
        searched = [request.uri.encode(), searched_body(exchange, request), *map(str.encode, loose)]
        if any(map(self.keys.found_in, searched)):
            raise self.stop(
                KeyInRequest(
                    f"{self._where(exchange)}: the request carries a key outside the headers "
                    "made for keys, so it would be stored. It was not sent. Take the key out of "
                    "the prompt, the URL or the study file."
                )
            )
        self._journal.check()
        check_room(self.path.parent)
        self.sent += 1
        return Pending(self, exchange, request, occurrence)

    def _learn_keys(self, exchange: Exchange) -> None:
        for name, value in exchange.pairs:
            if SECRET_HEADER.search(name) and name.lower() != "cookie":
                self.keys.add(value.rpartition(" ")[2])
        body = plain_body(exchange).decode("utf-8", "replace")
        for value in secrets_in(exchange.url, body):
            self.keys.add(value)

    def keep(self, interaction: Interaction) -> None:
        """Keep an answer: on the disk first, then in memory."""
        with self._guard:
            if self._journal is not None:
                self._journal.append(b"answer " + cassettes.to_line(interaction))
            self.cassette.add(interaction)

    def give_back(self, exchange: Exchange, occurrence: int) -> None:
        """Free the place of a request without an answer: the next of its name takes it."""
        with self._guard:
            key = exchange.call or self._digest(exchange)
            if self._asked[key] == occurrence + 1:
                self._asked[key] = occurrence

    def failures(self, call: str | None) -> list[str]:
        """Return the errors that a call met in earlier sittings, in their words."""
        return self._failures.get(call or "", [])

    def note_failure(self, interaction: Interaction) -> None:
        """Keep an infrastructure error as evidence: it is no answer, and resume sends it again."""
        with self._guard:
            if self._journal is not None:
                self._journal.append(b"failed " + cassettes.to_line(interaction))

    def unused(self) -> list[str]:
        """Name what is recorded and was not asked for."""
        return [
            _label(key, number)
            for key, number in self.cassette.calls()
            if number >= self._asked[key]
        ]

    def check(self) -> None:
        """Raise the first miss again, or a Miss that names what nobody asked for."""
        if self.stopped is not None:
            raise self.stopped
        left = sorted(self.unused())
        if left:
            raise self.stop(
                Miss(
                    f"{self.path}: {len(left)} of {len(self.cassette)} recorded calls were not "
                    f"asked for, the first is {left[0]}. The program does less than when it was "
                    "recorded: replay it with the version that recorded it, or record anew."
                )
            )

    def save(self) -> None:
        """Write the cassette whole; the journal has served. Nothing to do in a replay."""
        if self._journal is None:
            return
        for kept in self.cassette:
            if self.keys.found_in(cassettes.to_line(kept)):
                without_keys(kept, self.keys)
        self.cassette.save(self.path)
        self._journal.remove()
        self._journal = None

    def release(self) -> None:
        """Let go of journal and lock; what was recorded stays in the journal."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def stop(self, reason: RunStopped) -> RunStopped:
        """Latch the first reason to stop, and give it: every later call raises it again."""
        self.stopped = self.stopped or reason
        return self.stopped

    def _where(self, exchange: Exchange) -> str:
        asked = exchange.call or f"{exchange.method} {clean_url(exchange.url)}"
        return f"{self.path.stem}, call {self.keys.clean_text(asked)}"

    def _miss(self, exchange: Exchange, occurrence: int) -> Miss:
        if occurrence:
            return Miss(
                f"{self._where(exchange)}: exhausted, {occurrence} of {occurrence} recorded "
                "answers were given and one more was asked for. Nothing was sent."
            )
        near = self.cassette.nearest(exchange.call or exchange.url, shown(exchange.body))
        if near is None:
            return Miss(
                f"{self._where(exchange)}: not recorded, the cassette is empty. Nothing was sent."
            )
        return Miss(
            f"{self._where(exchange)}: not recorded. Nothing was sent.\n"
            f"nearest recording: {near.response.call or near.request.uri}\n"
            f"{difference(near, exchange)}\n{_advice(exchange)}"
        )

    def _elsewhere(self, exchange: Exchange, endpoint: str) -> str:
        return (
            f"{self._where(exchange)}: goes to {exchange.endpoint or 'no endpoint'!r}, but was "
            f"recorded of {endpoint or 'no endpoint'!r}. Nothing was sent.\n{_advice(exchange)}"
        )

    def _changed(self, exchange: Exchange, found: Interaction) -> str:
        verb = (
            "changed since it was recorded"
            if self.replays
            else "differs from what was recorded before the interruption (drift)"
        )
        return (
            f"{self._where(exchange)}: {verb}. Nothing was sent.\n"
            f"{difference(found, exchange)}\n{_advice(exchange)}"
        )


def _advice(exchange: Exchange) -> str:
    if exchange.call is None:
        return (
            'If the change is meant, record it: mode "new_episodes" adds what is new, "all" '
            "records everything anew."
        )
    return (
        "Replay with the study's own materials and harness version, or record the cell anew "
        "(`harness record --restart CELL`)."
    )


def _journalled(path: Path, text: bytes) -> Interaction:
    try:
        return cassettes.from_line(text)
    except ValueError as error:
        raise DamagedFile(
            f"{path}: holds a line that is no interaction ({error}). "
            "Was it written by another version?"
        ) from error


def _label(key: str, occurrence: int) -> str:
    return key if occurrence == 0 else f"{key} (occurrence {occurrence + 1})"
