"""Entries of a corpus: JSON, one a line, each a fact with a citation that a reader can look up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from harness.errors import UsageError

Tier = Literal["COMMON", "TEXTBOOK", "PROFESSIONAL", "SPECIALIST", "CUTTING_EDGE"]
Words = Annotated[str, msgspec.Meta(pattern=r"^\S(?s:.*\S)?\Z")]
Day = Annotated[str, msgspec.Meta(pattern=r"^(\d{4}(-\d\d(-\d\d)?)?)?\Z")]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact: its text, who would know it (tier), and where it stands.

    date: of the work that is cited: YYYY, YYYY-MM or YYYY-MM-DD. url, date and licence are "" where
    there is none.
    """

    title: Words
    text: Words
    domain: Words
    tier: Tier
    citation: Words
    url: str = ""
    date: Day = ""
    licence: str = ""


def read_corpus(paths: Sequence[Path] = ()) -> list[Entry]:
    """Read files, and the *.jsonl of folders; without any, the package's own corpus.

    Raises UsageError with file and line where one cannot be read, is not such an entry, or has a
    title that was there before (case makes no difference), and where there is nothing at all.
    """
    if paths:
        return _checked([file for path in paths for file in _files(path)])
    with as_file(files("harness.corpus") / "data") as packaged:
        return _checked(_files(packaged))


def count(entries: Iterable[Entry]) -> dict[tuple[str, Tier], int]:
    """Count entries by domain and tier, domains by name and tiers from the common one on."""
    tiers = get_args(Tier)
    counts = Counter((entry.domain, entry.tier) for entry in entries)
    return dict(sorted(counts.items(), key=lambda item: (item[0][0], tiers.index(item[0][1]))))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.jsonl"))
    if not files:
        raise UsageError(f"{path}: no *.jsonl file here. Name files, or a folder that holds some.")
    return files


def _checked(paths: Sequence[Path]) -> list[Entry]:
    entries, places = list[Entry](), dict[str, str]()
    for path in paths:
        for place, entry in _entries(path):
            first = places.setdefault(entry.title.casefold(), place)
            if first != place:
                raise UsageError(
                    f"{place}: the title {entry.title!r} is also that of {first}; a page is found "
                    "by its title, so give it another one."
                )
            entries.append(entry)
    if not entries:
        raise UsageError(f"{', '.join(map(str, paths))}: no entry in it.")
    return entries


def _entries(path: Path) -> Iterator[tuple[str, Entry]]:
    try:
        lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}).") from error
    for number, line in enumerate(lines if lines != [b""] else [], 1):
        place = f"{path}, line {number}"
        try:
            yield place, msgspec.json.decode(line, type=Entry)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{place}: {error}. Expected a JSON object a line: title, text, domain, tier, "
                "citation, and url, date, licence where there are such."
            ) from error
