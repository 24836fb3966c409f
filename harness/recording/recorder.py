"""The logic of record and replay, on plain values; transport.py gives it its httpx faces."""

from __future__ import annotations

import copy
import threading
from collections import Counter
from concurrent.futures import Future
from pathlib import Path
from typing import Literal, get_args

from harness.errors import DamagedFile, KeyInRequest, Miss, RunStopped, UsageError
from harness.files import Lock, check_room, move_aside, refused
from harness.recording import cassette as cassettes
from harness.recording import misses
from harness.recording.cassette import Cassette, Written
from harness.recording.exchange import (
    PlainRequest,
    digest_of,
    has_failed,
    is_recorded,
    plain_body,
    request_in,
    searched_body,
    stored_request,
    without_keys,
)
from harness.recording.interaction import Interaction
from harness.recording.journal import ByteSpan, Journal
from harness.recording.pending import Pending
from harness.recording.redaction import SECRET_HEADER, KeyRing, clean_url, secrets_in
from harness.recording.rules import NO_RULES, Rules

RULES = "rules "  # begins a journal's header outside a study, where there are any
Mode = Literal["none", "once", "new_episodes", "all"]


class Recorder:
    """Find what was recorded, keep what is new, and stop at the first difference.

    Raises Miss where a request is not what was recorded; from then on every call raises the same
    again. `matched` counts answers given from the recording, and `endpoints` says whom their
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
        rules: Rules = NO_RULES,
    ) -> None:
        if mode not in get_args(Mode):
            raise UsageError(f"mode {mode!r} is unknown; expected one of {get_args(Mode)}")
        self.path, self.mode = path, mode
        self.keys = keys or KeyRing()
        self.matched = 0
        self.sent = 0
        self.torn = b""
        self.in_study = True
        self.endpoints: dict[tuple[str, int], str] = {}
        self._identity, self._rules = identity, rules
        self._stop: RunStopped | None = None
        self._asked: Counter[str] = Counter()
        self._failures: dict[str, list[str]] = {}  # of earlier sittings, by the call's name
        self._guard = threading.RLock()
        self._journal: Journal | None = None
        self._lock: Lock | None = None
        self.cassette = self._open(restart)

    def _with_rules(self, recorded: Cassette) -> Cassette:
        """Return a cassette whose rules are those that were given; raise UsageError for others."""
        if self._rules and self._rules != recorded.rules:
            raise UsageError(
                f"{self.path}: was recorded with other rules of comparison "
                f"({recorded.rules.words() or 'none'}) than are given now ({self._rules.words()}). "
                'A recording keeps its rules; record anew with mode "all".'
            )
        return recorded

    def _open(self, restart: bool) -> Cassette:
        exists = self.path.exists()
        journal = self._beside(".journal")
        if self.mode == "none" and not exists:
            begun = journal.name if journal.exists() else ""
            raise UsageError(misses.nothing_recorded(self.path, begun))
        self.replays = self.mode == "none" or (self.mode == "once" and exists)
        if self.replays:
            return self._with_rules(cassettes.load(self.path))
        return self._open_journal(journal, restart)

    def _beside(self, suffix: str) -> Path:
        """A dot of the name itself, as in "gpt-4.1", must not make two cassettes share a file."""
        return self.path.with_name(self.path.name.removesuffix(".json") + suffix)

    def _open_journal(self, path: Path, restart: bool) -> Cassette:
        """Lock first and read then: another recorder may just have finished this cell."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(self.path.parent, error) from error
        self._lock = Lock(self._beside(".lock"))
        try:
            kept = self.path.exists() and self.mode != "all"
            empty = Cassette(rules=self._rules)
            recorded = self._with_rules(cassettes.load(self.path) if kept else empty)
            if path.exists() and (restart or self.mode == "all"):
                move_aside(path)
            self._journal = Journal(path, self._identity)
            self._take_journal(self._journal, recorded)
        except BaseException:
            self.release()
            raise
        return recorded

    def _take_journal(self, journal: Journal, recorded: Cassette) -> None:
        entries = journal.entries
        if entries.header != self._identity:
            raise UsageError(
                f"{journal.path}: begun under another study file or other "
                f"materials (then {entries.header}, now {self._identity}). Undo the change, "
                "or start this cell anew with `harness record --restart CELL`."
            )
        self.torn = entries.torn
        for span, line in journal.spans():
            kind, _, text = line.partition(b" ")
            interaction = _journalled(journal.path, text)
            if kind == b"answer":
                self._take_answer(recorded, interaction, _without_kind(span, kind))
            elif interaction.response.error is not None:
                words = interaction.response.error.message
                self._failures.setdefault(interaction.response.call or "", []).append(words)

    def _take_answer(self, recorded: Cassette, interaction: Interaction, span: ByteSpan) -> None:
        label = cassettes.label_of(interaction, recorded.rules)
        response = interaction.response
        earlier = recorded.get(label, response.occurrence)
        if earlier is not None and _may_come_anew(earlier):
            recorded.drop(label, response.occurrence)
        written = Written(span, response.call, response.occurrence)
        recorded.add_written(label, response.occurrence, written)

    def reopen(self) -> None:
        """Go on recording after `save` and `release`: what was saved stays."""
        with self._guard:
            if self._journal is None and not self.replays:
                self._lock = Lock(self._beside(".lock"))
                self._journal = Journal(self._beside(".journal"), self._identity)

    def begin(self, request: PlainRequest) -> Interaction | Pending:
        """Return the recorded interaction of a request, or a Pending one that is to be sent."""
        with self._guard:
            self._raise_stop()
            label = request.call or self._digest(request)
            occurrence = self._asked[label]
            self._asked[label] = occurrence + 1
            recorded = self.cassette.get(label, occurrence)
            if recorded is not None and not self._comes_anew(label, recorded):
                return self._checked(request, recorded)
            if self.replays:
                raise self.stop(self._miss(request, occurrence))
            return self._pending(request, label, occurrence)

    def _digest(self, request: PlainRequest) -> str:
        """Look exact words up first: that is quicker than making the digest."""
        try:
            text = request.body.decode()
        except UnicodeDecodeError:
            return digest_of(self.cassette.rules.compared(request))
        recorded = self.cassette.known_digest(request.method, request.url, text)
        return recorded or digest_of(self.cassette.rules.compared(request))

    def _comes_anew(self, label: str, recorded: Interaction) -> bool:
        """Tell whether an unnamed call is asked again: nothing but failures followed.

        Those are dropped then; else the failures of a client that tried again, with success, stay.
        """
        if self.replays or not _may_come_anew(recorded):
            return False
        first = recorded.response.occurrence
        later = (self.cassette.get(*place) for place in self.cassette.places(label, first))
        if not all(entry is None or _may_come_anew(entry) for entry in later):
            return False
        self.cassette.drop(label, first)
        return True

    def _checked(self, request: PlainRequest, interaction: Interaction) -> Interaction:
        place, response = self._place(request), interaction.response
        if not self._is_recorded(request, interaction):
            words = misses.changed(place, request, interaction, replays=self.replays)
            raise self.stop(Miss(words))
        if not self.replays and not response.endpoint:
            response.endpoint = request.endpoint  # recorded in format 1, which does not say it
        if self._is_elsewhere(request.endpoint, response.endpoint):
            raise self.stop(Miss(misses.elsewhere(place, request, response.endpoint)))
        self.matched += 1
        self.endpoints[request.call or "", response.occurrence] = request.endpoint
        return interaction

    def _is_recorded(self, request: PlainRequest, interaction: Interaction) -> bool:
        rules = self.cassette.rules
        if is_recorded(request, interaction):
            return True
        return bool(rules) and digest_of(rules.compared(request)) == digest_of(
            rules.compared(request_in(interaction))
        )

    def _is_elsewhere(self, endpoint: str, recorded: str) -> bool:
        """Tell whether another endpoint is asked; outside a study, only where both are named."""
        if endpoint == recorded or self.cassette.format == 1:
            return False
        return self.in_study or bool(endpoint and recorded)

    def _pending(self, request: PlainRequest, label: str, occurrence: int) -> Pending:
        if self._journal is None:
            raise UsageError(
                f"{self.path}: was closed, and what comes now could not be kept. Nothing was sent."
            )
        stored = stored_request(request)
        self._learn_keys(request)
        loose = [value for name, value in request.pairs if not SECRET_HEADER.search(name)]
        searched = [stored.uri.encode(), searched_body(request, stored), *map(str.encode, loose)]
        if any(map(self.keys.found_in, searched)):
            raise self.stop(KeyInRequest(misses.key_in_request(self._place(request))))
        self._journal.check()
        check_room(self.path.parent)
        self.sent += 1
        return Pending(self, request, stored, label, occurrence)

    def _learn_keys(self, request: PlainRequest) -> None:
        for name, value in request.pairs:
            if SECRET_HEADER.search(name) and name.lower() != "cookie":
                self.keys.add(value.rpartition(" ")[2], named=False)
        body = plain_body(request).decode("utf-8", "replace")
        for value in secrets_in(request.url, body):
            self.keys.add(value, named=False)

    def keep(self, interaction: Interaction) -> None:
        """Keep an answer; return when it is on the disk."""
        self.wait(self.submit(interaction, cassettes.label_of(interaction, self.cassette.rules)))

    def submit(self, interaction: Interaction, label: str) -> Future[None]:
        """Hand an answer over to the disk, to be waited for with `wait` or `wait_async`."""
        response = interaction.response

        def written(span: ByteSpan) -> None:
            entry = Written(_without_kind(span, b"answer"), response.call, response.occurrence)
            self.cassette.add_written(label, response.occurrence, entry)

        return self._open_file().submit(b"answer " + cassettes.to_line(interaction), written)

    def note_failure(self, interaction: Interaction) -> Future[None]:
        """Keep an infrastructure error as evidence: it is no answer, and resume sends it again."""
        return self._open_file().submit(b"failed " + cassettes.to_line(interaction))

    def _open_file(self) -> Journal:
        if self._journal is None:
            raise UsageError(
                f"{self.path}: was closed while a call was on its way. Its answer is not kept."
            )
        return self._journal

    def wait(self, ticket: Future[None]) -> None:
        """Wait until what was submitted is on the disk."""
        self._open_file().wait(ticket)

    async def wait_async(self, ticket: Future[None]) -> None:
        """Do the same without holding up the event loop."""
        await self._open_file().wait_async(ticket)

    def write_soon(self) -> None:
        """Let what was submitted go to the disk without anybody waiting for it."""
        self._open_file().flush_soon()

    def give_back(self, label: str, occurrence: int) -> None:
        """Free the place of a request without an answer: the next of its name takes it."""
        with self._guard:
            if self._asked[label] == occurrence + 1:
                self._asked[label] = occurrence

    def failures(self, call: str | None) -> list[str]:
        """Return the errors that a call met in earlier sittings, in their words."""
        return self._failures.get(call or "", [])

    def unused(self) -> list[str]:
        """Name what is recorded and was not asked for."""
        return [
            _label(label, number)
            for label, number in self.cassette.calls()
            if number >= self._asked[label]
        ]

    def check(self) -> None:
        """Raise the first miss again, or a Miss that names what nobody asked for."""
        self._raise_stop()
        names = sorted(self.unused())
        if names:
            raise self.stop(Miss(misses.unused(self.path, names, len(self.cassette))))

    def save(self) -> None:
        """Write the cassette whole; the journal has served. Nothing to do in a replay."""
        with self._guard:
            if self._journal is None:
                return
            self._journal.flush()
            self.cassette.save(self.path, self._cleaned)
            self._journal.remove()
            self._journal = None

    def _cleaned(self, interaction: Interaction) -> Interaction:
        """Take out keys that were learned after an answer was kept."""
        if self.keys.found_in(cassettes.to_line(interaction)):
            return without_keys(interaction, self.keys)
        return interaction

    def release(self) -> None:
        """Let go of journal and lock; what was recorded stays in the journal."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def stopped(self) -> RunStopped | None:
        """Return the first reason to stop, new each time: a raised error grows with each raise."""
        return copy.copy(self._stop)

    def stop(self, reason: RunStopped) -> RunStopped:
        """Latch the first reason to stop, and return it: every later call raises it again."""
        self._stop = self._stop or copy.copy(reason)
        return copy.copy(self._stop)

    def _raise_stop(self) -> None:
        if self._stop is not None:
            raise copy.copy(self._stop)

    def _place(self, request: PlainRequest) -> str:
        name = request.call or f"{request.method} {clean_url(request.url)}"
        return f"{self.path.stem}, call {self.keys.clean_text(name)}"

    def _miss(self, request: PlainRequest, occurrence: int) -> Miss:
        place = self._place(request)
        if occurrence:
            return Miss(misses.exhausted(place, occurrence))
        return Miss(misses.not_recorded(place, request, self.cassette))


def _may_come_anew(recorded: Interaction) -> bool:
    """Tell whether an interaction is a failure that another try may not meet."""
    return recorded.response.call is None and has_failed(recorded)


def _without_kind(span: ByteSpan, kind: bytes) -> ByteSpan:
    """Return the place of a journal line's interaction, behind the word for its kind."""
    skipped = len(kind) + 1
    return span._replace(start=span.start + skipped, size=span.size - skipped)


def _journalled(path: Path, text: bytes) -> Interaction:
    try:
        return cassettes.from_line(text)
    except ValueError as error:
        raise DamagedFile(
            f"{path}: holds a line that is no interaction ({error}). "
            "Was it written by another version?"
        ) from error


def _label(label: str, occurrence: int) -> str:
    return label if occurrence == 0 else f"{label} (occurrence {occurrence + 1})"
