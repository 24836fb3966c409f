"""A cassette: the interactions of one cell, in a file that vcrpy can read too."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from harness.errors import DamagedFile
from harness.files import write_atomic
from harness.recording.interaction import Interaction, flaw

FIRST_LINE = b'{"version": 1, "interactions": ['
LAST_LINE = b"]}"
_decoder = msgspec.json.Decoder(Interaction)
_encoder = msgspec.json.Encoder()
_masks = (
    (re.compile(rb'"recorded_at":"[^"]*"'), b'"recorded_at":""'),
    (re.compile(rb',"elapsed":[0-9.e+-]+'), b""),  # left out where it is 0.0
    (re.compile(rb'(?i)("date":\[?")[^"]*'), rb"\g<1>"),
    (re.compile(rb'(?i)(\["date",")[^"]*'), rb"\g<1>"),
)


class Cassette:
    """Interactions found by name, or by what was asked, and occurrence; every look-up is O(1)."""

    def __init__(self, interactions: Iterable[Interaction] = ()) -> None:
        self._by_key: dict[tuple[str, int], Interaction] = {}
        self._digest_of: dict[tuple[str, str, str | None], str] = {}
        for interaction in interactions:
            self.add(interaction)

    def __len__(self) -> int:
        return len(self._by_key)

    def __iter__(self) -> Iterator[Interaction]:
        return iter(sorted(self._by_key.values(), key=lambda interaction: interaction.key))

    def add(self, interaction: Interaction) -> None:
        """Keep an interaction; one of the same name and occurrence is replaced."""
        response, request = interaction.response, interaction.request
        self._by_key[(response.call or response.digest, response.occurrence)] = interaction
        if response.call is None:
            self._digest_of[(request.method, request.uri, request.body)] = response.digest

    def get(self, key: str, occurrence: int) -> Interaction | None:
        """Give the interaction of a call name (or a digest, for unnamed ones) and occurrence."""
        return self._by_key.get((key, occurrence))

    def known_digest(self, method: str, uri: str, body: str | None) -> str | None:
        """Give the digest of an unnamed request that is recorded in exactly these words."""
        return self._digest_of.get((method, uri, body))

    def recorded(self, key: str) -> int:
        """Count what is recorded under a name or digest."""
        return sum(1 for name, _ in self._by_key if name == key)

    def calls(self) -> list[tuple[str, int]]:
        """Give every name (or digest) and occurrence that is recorded."""
        return list(self._by_key)

    def nearest(self, wanted: str, body: str) -> Interaction | None:
        """Give the recording most like a request: by its name's words, then by its text."""
        scored = [(_likeness(wanted, body, kept), kept.key, kept) for kept in self]
        return max(scored, key=lambda entry: entry[:2])[2] if scored else None

    def save(self, path: Path) -> None:
        """Write the file anew, whole or not at all."""
        write_atomic(path, to_bytes(self))


def _likeness(wanted: str, body: str, kept: Interaction) -> float:
    other = kept.response.call or kept.request.uri
    names = difflib.SequenceMatcher(None, wanted, other, autojunk=False).ratio()
    words, theirs = set(body.split()), set((kept.request.body or "").split())
    shared = len(words & theirs) / max(1, len(words | theirs))
    return names + shared


def to_bytes(interactions: Iterable[Interaction]) -> bytes:
    """Give a cassette's file content: one interaction a line, in the order given, LF."""
    lines = b",\n".join(_encoder.encode(interaction) for interaction in interactions)
    return FIRST_LINE + b"\n" + lines + (b"\n" if lines else b"") + LAST_LINE + b"\n"


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
    return Cassette(_interactions(path, path.read_bytes()))


def _interactions(path: Path, data: bytes) -> Iterator[Interaction]:
    _check_frame(path, data)
    lines = data.split(b"\n")
    del data
    previous: tuple[str, str, int] | None = None
    for number in range(1, len(lines) - 2):
        line = lines[number]
        interaction = _read_line(path, number, line, last=number == len(lines) - 3)
        lines[number] = b""
        if previous is not None and interaction.key <= previous:
            raise _damaged(
                path,
                f"line {number + 1} is out of order or stands twice "
                f"({interaction.response.call or interaction.response.digest})",
            )
        previous = interaction.key
        yield interaction


def _read_line(path: Path, number: int, line: bytes, *, last: bool) -> Interaction:
    if line.endswith(b",") == last:
        raise _damaged(path, f"line {number + 1} has {'a' if last else 'no'} comma at its end")
    try:
        interaction = from_line(line if last else line[:-1])
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"line {number + 1} is damaged ({error})") from error
    wrong = flaw(interaction)
    if wrong is not None:
        raise _damaged(path, f"line {number + 1} is damaged ({wrong})")
    return interaction


def _check_frame(path: Path, data: bytes) -> None:
    if not data:
        raise _damaged(path, "the file is empty")
    if b"\r\n" in data:
        raise _damaged(
            path,
            "line ends were converted to CRLF (by git or an editor); "
            "`git checkout` it again with the .gitattributes of this repository",
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _damaged(path, f"byte {error.start} is not UTF-8") from error
    if not data.startswith(FIRST_LINE + b"\n"):
        if FIRST_LINE.startswith(data[: len(FIRST_LINE)]):
            raise _damaged(path, "the file is cut off in its first line")
        raise _damaged(
            path,
            "the first line is not a cassette's (vcrpy's own files are taken in "
            "by `harness import`)",
        )
    if not data.endswith(b"\n" + LAST_LINE + b"\n"):
        raise _damaged(path, "the file is cut off: its last line is missing")


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
