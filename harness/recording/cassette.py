"""A cassette: the interactions of one cell, in a file that vcrpy can read too.

Two formats. Format 2 says who was asked and stores no digest, since what can be derived is derived;
everything new is written in it. Format 1 is read for good: its digests are checked where a file is
checked, and never used.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from harness.errors import DamagedFile
from harness.files import write_atomic
from harness.json_files import flaw_of_keys
from harness.recording.exchange import digest_of, stored_exchange
from harness.recording.interaction import Interaction, flaw

FORMAT = 2
FIRST_LINES = {
    1: b'{"version": 1, "interactions": [',  # the version is vcrpy's, for vcrpy to read
    2: b'{"version": 1, "format": 2, "interactions": [',
}
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


class Cassette:
    """Interactions found by label and occurrence; every look-up is O(1).

    A label is a call's name, or the digest of a request without one. format: that of the file it
    was read from.
    """

    def __init__(self, interactions: Iterable[Interaction] = (), file_format: int = FORMAT) -> None:
        self.format = file_format
        self._entries: dict[tuple[str, int], Interaction] = {}
        self._digest_of: dict[tuple[str, str, str | None], str] = {}
        for interaction in interactions:
            self.add(interaction)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Interaction]:
        return (interaction for _, interaction in self.labelled())

    def labelled(self) -> list[tuple[str, Interaction]]:
        """Return every label and interaction, in the file's order."""
        entries = [(label, interaction) for (label, _), interaction in self._entries.items()]
        return sorted(entries, key=lambda entry: _place(*entry))

    def add(self, interaction: Interaction, label: str = "") -> None:
        """Keep an interaction; one of the same label and occurrence is replaced."""
        response, request = interaction.response, interaction.request
        label = label or label_of(interaction)
        self._entries[label, response.occurrence] = interaction
        if response.call is None:
            self._digest_of[request.method, request.uri, request.body] = label

    def get(self, label: str, occurrence: int) -> Interaction | None:
        """Return the interaction of a label and occurrence."""
        return self._entries.get((label, occurrence))

    def known_digest(self, method: str, uri: str, body: str | None) -> str | None:
        """Return the digest of an unnamed request that is recorded in exactly these words."""
        return self._digest_of.get((method, uri, body))

    def recorded(self, label: str) -> int:
        """Count what is recorded under a label."""
        return sum(1 for name, _ in self._entries if name == label)

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

    def save(self, path: Path) -> None:
        """Write the file anew in the present format, whole or not at all."""
        write_atomic(path, to_bytes(self))


def label_of(interaction: Interaction) -> str:
    """Return what an interaction is found by: its call's name, or its request's digest."""
    return interaction.response.call or derived_digest(interaction)


def derived_digest(interaction: Interaction) -> str:
    """Return the digest of the request that is stored, whatever is said beside it."""
    return digest_of(stored_exchange(interaction))


def _place(label: str, interaction: Interaction) -> tuple[str, str, int]:
    """Return the place of an interaction in its file: unnamed ones first, by digest."""
    response = interaction.response
    return (response.call or "", "" if response.call else label, response.occurrence)


def _likeness(label: str, body: str, interaction: Interaction) -> float:
    name = interaction.response.call or interaction.request.uri
    names = difflib.SequenceMatcher(None, label[:LONGEST], name[:LONGEST], autojunk=False).ratio()
    words, recorded = set(body.split()), set((interaction.request.body or "").split())
    shared = len(words & recorded) / max(1, len(words | recorded))
    return names + shared


def to_bytes(interactions: Iterable[Interaction]) -> bytes:
    """Return a cassette's file content: one interaction a line, in the order given, LF."""
    lines = b",\n".join(_encoder.encode(_present(interaction)) for interaction in interactions)
    return FIRST_LINES[FORMAT] + b"\n" + lines + (b"\n" if lines else b"") + LAST_LINE + b"\n"


def _present(interaction: Interaction) -> Interaction:
    """Return an interaction in the present format: without a digest."""
    response = interaction.response
    if not response.digest:
        return interaction
    return Interaction(interaction.request, msgspec.structs.replace(response, digest=""))


def to_line(interaction: Interaction) -> bytes:
    """Give one interaction as JSON in one line."""
    return _encoder.encode(interaction)


def from_line(line: bytes) -> Interaction:
    """Read one interaction; raises msgspec.DecodeError (a ValueError) where it is none."""
    return _decoder.decode(line)


def load(path: Path) -> Cassette:
    """Read a cassette file.

    Raises DamagedFile that names the damage (empty, cut off, line ends converted, not UTF-8, a
    damaged line), FileNotFoundError where there is none.
    """
    data = path.read_bytes()
    cassette = Cassette(file_format=_checked_format(path, data))
    for label, interaction in _interactions(path, data, cassette.format):
        cassette.add(interaction, label)
    return cassette


def _interactions(path: Path, data: bytes, file_format: int) -> Iterator[tuple[str, Interaction]]:
    lines = data.split(b"\n")
    del data
    previous: tuple[str, str, int] | None = None
    for number in range(1, len(lines) - 2):
        line = lines[number]
        interaction = _read_line(path, number, line, file_format, last=number == len(lines) - 3)
        lines[number] = b""
        label = label_of(interaction)
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
    if wrong is None and to_line(interaction) != text:  # not as we write it: a slower look
        wrong = flaw_of_keys(text)
    if wrong is not None:
        raise _damaged(path, f"line {number + 1} is damaged ({wrong})")
    return interaction


def _checked_format(path: Path, data: bytes) -> int:
    """Return the format that a file's first line names, and check its beginning and end."""
    if not data:
        raise _damaged(path, "the file is empty")
    if b"\r" in data and b"\r\n" in data:  # one byte is looked for much faster than two
        raise _damaged(
            path,
            "line ends were converted to CRLF (by git or an editor); "
            "`git checkout` it again with the .gitattributes of this repository",
        )
    first = data.partition(b"\n")[0]
    file_format = next((n for n, line in FIRST_LINES.items() if line == first), 0)
    if not file_format:
        if any(line.startswith(data) for line in FIRST_LINES.values()):
            raise _damaged(path, "the file is cut off in its first line")
        raise _damaged(
            path,
            "the first line is not a cassette's (vcrpy's own files are taken in "
            "by `harness import`)",
        )
    if not data.endswith(b"\n" + LAST_LINE + b"\n"):
        raise _damaged(path, "the file is cut off: its last line is missing")
    return file_format


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
