"""A cassette: the interactions of one cell, in a file that vcrpy can read too.

Two formats. Format 2 says who was asked and stores no digest, since what can be derived is derived;
everything new is written in it. Format 1 is read for good: its digests are checked where a file is
checked, and never used.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count, takewhile
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.errors import DamagedFile, UsageError
from harness.files import write_atomic
from harness.json_files import flaw_of_keys
from harness.recording.exchange import digest_of, request_in
from harness.recording.files_read import FilesRead
from harness.recording.interaction import Interaction, flaw
from harness.recording.journal import ByteSpan
from harness.recording.rules import NO_RULES, Rules, check

FORMAT = 2
FIRST_LINES = {
    1: b'{"version": 1, "interactions": [',  # the version is vcrpy's, for vcrpy to read
    2: b'{"version": 1, "format": 2, "interactions": [',
}
BEFORE_RULES, AFTER_RULES = b'{"version": 1, "format": 2, "rules": ', b', "interactions": ['
LAST_LINE = b"]}"
LONGEST = 200  # characters of two names that are compared
_decoder = msgspec.json.Decoder(Interaction)
_encoder = msgspec.json.Encoder()
_masks = (
    (re.compile(rb'"recorded_at":"[^"]*"'), b'"recorded_at":""'),
    (re.compile(rb',"elapsed":[0-9.e+-]+'), b""),  # left out where it is 0.0
    (re.compile(rb'(?i)("date":\[?")[^"]*'), rb"\g<1>"),
    (re.compile(rb'(?i)(\["date",")[^"]*'), rb"\g<1>"),
)


_lately: ContextVar[FilesRead[Cassette] | None] = ContextVar("cassettes", default=None)


class Cassette:
    """Interactions found by label and occurrence; every look-up is O(1).

    A label is a call's name, or the digest of a request without one. What a recording has written
    to a file is let go of: of it, only the place is known. format: that of the file it was read
    from.
    """

    def __init__(
        self,
        interactions: Iterable[Interaction] = (),
        file_format: int = FORMAT,
        rules: Rules = NO_RULES,
    ) -> None:
        self.format, self.rules = file_format, rules
        self._entries: dict[tuple[str, int], Interaction | Written] = {}
        self._digest_of: dict[tuple[str, str, str | None], str] = {}
        for interaction in interactions:
            self.add(interaction)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Interaction]:
        return (interaction for _, interaction in self.labelled())

    def labelled(self) -> list[tuple[str, Interaction]]:
        """Return every label and interaction, in the file's order."""
        return [(place[0], _read(self._entries[place])) for place in self._order()]

    def _order(self) -> list[tuple[str, int]]:
        return sorted(self._entries, key=lambda place: _place(place[0], self._entries[place]))

    def add(self, interaction: Interaction, label: str = "") -> None:
        """Keep an interaction; one of the same label and occurrence is replaced."""
        response, request = interaction.response, interaction.request
        label = label or label_of(interaction, self.rules)
        self._entries[label, response.occurrence] = interaction
        if response.call is None:
            self._digest_of[request.method, request.uri, request.body] = label

    def add_written(self, label: str, occurrence: int, written: Written) -> None:
        """Keep the place of an interaction that stands in a file."""
        self._entries[label, occurrence] = written

    def get(self, label: str, occurrence: int) -> Interaction | None:
        """Return the interaction of a label and occurrence."""
        entry = self._entries.get((label, occurrence))
        return None if entry is None else _read(entry)

    def drop(self, label: str, first: int) -> None:
        """Forget a label's interactions from an occurrence on."""
        for place in self.places(label, first):
            del self._entries[place]

    def places(self, label: str, first: int = 0) -> list[tuple[str, int]]:
        """Return a label and its occurrences, from one on, as far as they are recorded."""
        places = takewhile(self._entries.__contains__, ((label, n) for n in count(first)))
        return list(places)

    def known_digest(self, method: str, uri: str, body: str | None) -> str | None:
        """Return the digest of an unnamed request that is recorded in exactly these words."""
        return self._digest_of.get((method, uri, body))

    def calls(self) -> list[tuple[str, int]]:
        """Return every label and occurrence that is recorded."""
        return list(self._entries)

    def nearest(self, label: str, body: str) -> Interaction | None:
        """Return the recording most like a request: by its name's words, then by its text."""
        scored = [
            (_likeness(label, body, interaction), *_place(key, interaction), interaction)
            for key, interaction in self.labelled()
        ]
        return max(scored, key=lambda entry: entry[:-1])[-1] if scored else None

    def false_digests(self) -> list[str]:
        """Return the labels of a format-1 file whose stored digest is not that of the request."""
        return [
            label
            for label, interaction in self.labelled()
            if self.format == 1 and interaction.response.digest != derived_digest(interaction)
        ]

    def save(self, path: Path, cleaned: Callable[[Interaction], Interaction] | None = None) -> None:
        """Write the file anew in the present format, whole or not at all.

        cleaned: what is done to each interaction of a recording first. Then, too, a label's
        occurrences are counted anew: a request that got no answer leaves no hole.
        """
        order = self._order()
        entries: Iterable[Interaction] = (_read(self._entries[place]) for place in order)
        if cleaned is not None:
            entries = map(cleaned, _without_holes(order, entries))
        spans: list[ByteSpan] = []
        write_atomic(path, _blocks(_placed(path, pieces(entries, self.rules), spans)))
        for place, span in zip(order, spans[1:-1], strict=True):
            entry = self._entries[place]
            if isinstance(entry, Written):
                self._entries[place] = entry._replace(span=span)


class FirstLine(NamedTuple):
    """What a file's first line says: its format, and its rules of comparison."""

    file_format: int
    rules: Rules


class Written(NamedTuple):
    """An interaction that stands in a file: its place there, and in the order of a cassette."""

    span: ByteSpan
    call: str | None
    occurrence: int


def _read(entry: Interaction | Written) -> Interaction:
    return from_line(entry.span.read()) if isinstance(entry, Written) else entry


def label_of(interaction: Interaction, rules: Rules = NO_RULES) -> str:
    """Return what an interaction is found by: its call's name, or its request's digest."""
    return interaction.response.call or digest_of(rules.compared(request_in(interaction)))


def derived_digest(interaction: Interaction) -> str:
    """Return the digest of the request that is stored, whatever is said beside it."""
    return digest_of(request_in(interaction))


def _place(label: str, entry: Interaction | Written) -> tuple[str, str, int]:
    """Return the place of an interaction in its file: unnamed ones first, by digest."""
    named = entry if isinstance(entry, Written) else entry.response
    return (named.call or "", "" if named.call else label, named.occurrence)


def _likeness(label: str, body: str, interaction: Interaction) -> float:
    name = interaction.response.call or interaction.request.uri
    names = difflib.SequenceMatcher(None, label[:LONGEST], name[:LONGEST], autojunk=False).ratio()
    words, recorded = set(body.split()), set((interaction.request.body or "").split())
    shared = len(words & recorded) / max(1, len(words | recorded))
    return names + shared


def to_bytes(interactions: Iterable[Interaction]) -> bytes:
    """Return a cassette's file content: one interaction a line, in the order given, LF."""
    return b"".join(pieces(interactions))


def pieces(interactions: Iterable[Interaction], rules: Rules = NO_RULES) -> Iterator[bytes]:
    """Yield the same piece by piece; rules stand in the first line, where there are any."""
    yield BEFORE_RULES + _encoder.encode(rules) + AFTER_RULES if rules else FIRST_LINES[FORMAT]
    separator = b"\n"
    for interaction in interactions:
        yield separator + _encoder.encode(_present(interaction))
        separator = b",\n"
    yield b"\n" + LAST_LINE + b"\n"


def _placed(path: Path, pieces: Iterable[bytes], spans: list[ByteSpan]) -> Iterator[bytes]:
    """Pass pieces on, and note where each will stand in the file, behind its separator."""
    start = 0
    for piece in pieces:
        skipped = len(piece) - len(piece.lstrip(b",\n"))
        spans.append(ByteSpan(path, start + skipped, len(piece) - skipped))
        start += len(piece)
        yield piece


def _without_holes(
    order: list[tuple[str, int]], interactions: Iterable[Interaction]
) -> Iterator[Interaction]:
    """Count the occurrences of each label from 0 on, without holes."""
    counted: Counter[str] = Counter()
    for (label, _), interaction in zip(order, interactions, strict=True):
        interaction.response.occurrence = counted[label]
        counted[label] += 1
        yield interaction


def _blocks(pieces: Iterable[bytes], size: int = 2**20) -> Iterator[bytes]:
    """Put pieces together to blocks of about a size, so that a file takes few writes."""
    block = bytearray()
    for piece in pieces:
        block += piece
        if len(block) >= size:
            yield bytes(block)
            block.clear()
    yield bytes(block)


def _present(interaction: Interaction) -> Interaction:
    """Return an interaction in the present format: without a digest."""
    response = interaction.response
    if not response.digest:
        return interaction
    return Interaction(interaction.request, msgspec.structs.replace(response, digest=""))


def to_line(interaction: Interaction) -> bytes:
    """Return one interaction as JSON in one line."""
    return _encoder.encode(interaction)


def from_line(line: bytes) -> Interaction:
    """Read one interaction; raises msgspec.DecodeError (a ValueError) where it is none."""
    return _decoder.decode(line)


@contextmanager
def read_once() -> Iterator[None]:
    """Keep the cassettes that are read in a block, so that its steps read each once.

    Nobody changes one that another step may read. A block inside another joins it.
    """
    token = _lately.set(_lately.get() or FilesRead())
    try:
        yield
    finally:
        _lately.reset(token)


def load(path: Path) -> Cassette:
    """Read a cassette file, in a block of `read_once` at most once.

    Raises DamagedFile that names the damage (empty, cut off, line ends converted, not UTF-8, a
    damaged line), FileNotFoundError where there is none.
    """
    files = _lately.get()
    return (
        _decoded(path, path.read_bytes()) if files is None else files.read(path, _decoded).content
    )


def content(path: Path) -> bytes:
    """Return the bytes of a cassette file, as `load` reads them; raises as it does."""
    files = _lately.get()
    return path.read_bytes() if files is None else files.read(path, _decoded).data


def _decoded(path: Path, data: bytes) -> Cassette:
    first = _checked_first_line(path, data)
    cassette = Cassette(file_format=first.file_format, rules=first.rules)
    for label, interaction in _interactions(path, data, first.file_format, first.rules):
        cassette.add(interaction, label)
    return cassette


def is_cassette(path: Path) -> bool:
    """Tell whether a file begins as a cassette does."""
    with path.open("rb") as file:
        line = file.readline().rstrip(b"\n")
    return line in FIRST_LINES.values() or line.startswith(BEFORE_RULES)


def _rules(path: Path, line: bytes) -> Rules:
    """Return the rules that a first line holds."""
    text = line[len(BEFORE_RULES) : -len(AFTER_RULES)]
    try:
        rules = msgspec.json.decode(text, type=Rules)
        check(rules)
    except (ValueError, UsageError) as error:
        raise _damaged(path, f"its rules are damaged ({error})") from error
    if not rules or _encoder.encode(rules) != text:
        raise _damaged(path, "its rules are not as they are written")
    return rules


def _interactions(
    path: Path, data: bytes, file_format: int, rules: Rules
) -> Iterator[tuple[str, Interaction]]:
    lines = data.split(b"\n")
    del data
    previous: tuple[str, str, int] | None = None
    for number in range(1, len(lines) - 2):
        line = lines[number]
        interaction = _read_line(path, number, line, file_format, last=number == len(lines) - 3)
        lines[number] = b""
        label = label_of(interaction, rules)
        place = _place(label, interaction)
        if previous is not None and place <= previous:
            raise _damaged(path, f"line {number + 1} is out of order or stands twice ({label})")
        previous = place
        yield label, interaction


def _read_line(
    path: Path, number: int, line: bytes, file_format: int, *, last: bool
) -> Interaction:
    if line.endswith(b",") == last:
        raise _damaged(path, f"line {number + 1} has {'a' if last else 'no'} comma at its end")
    text = line if last else line[:-1]
    try:
        interaction = from_line(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"line {number + 1} is damaged ({error})") from error
    wrong = flaw(interaction, file_format)
    if wrong is not None or to_line(interaction) != text:  # not as we write it: a slower look
        wrong = flaw_of_keys(text) or wrong
    if wrong is not None:
        raise _damaged(path, f"line {number + 1} is damaged ({wrong})")
    return interaction


def _checked_first_line(path: Path, data: bytes) -> FirstLine:
    """Return what a file's first line says, and check its beginning and end."""
    if not data:
        raise _damaged(path, "the file is empty")
    if b"\r" in data and b"\r\n" in data:  # one byte is looked for much faster than two
        raise _damaged(
            path,
            "line ends were converted to CRLF (by git or an editor); "
            "`git checkout` it again with the .gitattributes of this repository",
        )
    first = _first_line(path, data)
    if not data.endswith(b"\n" + LAST_LINE + b"\n"):
        raise _damaged(path, "the file is cut off: its last line is missing")
    return first


def _first_line(path: Path, data: bytes) -> FirstLine:
    end = data.find(b"\n")
    line = data if end < 0 else data[:end]  # partition would copy all the rest
    for file_format, first in FIRST_LINES.items():
        if line == first:
            return FirstLine(file_format, NO_RULES)
    if line.startswith(BEFORE_RULES) and line.endswith(AFTER_RULES):
        return FirstLine(FORMAT, _rules(path, line))
    if any(first.startswith(data) for first in FIRST_LINES.values()):
        raise _damaged(path, "the file is cut off in its first line")
    raise _damaged(
        path,
        "the first line is not a cassette's (vcrpy's own files are taken in by `harness import`)",
    )


def _damaged(path: Path, what: str) -> DamagedFile:
    return DamagedFile(
        f"{path}: {what}. Nothing was changed. Restore the file from where you got "
        "it; `harness verify` tells which other files are affected."
    )


def masked(data: bytes) -> bytes:
    """Blank what differs between two recordings of the same thing: clock times and durations."""
    for pattern, blank in _masks:
        data = pattern.sub(blank, data)
    return data
