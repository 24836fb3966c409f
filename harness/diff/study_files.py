"""What differs between two studies as they are written: their settings and their frozen texts."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.diff.schema import Changed
from harness.results import Materials
from harness.study.folder import Study

ABSENT = object()
LONG = 60  # characters beyond which only the first words that differ are shown
BEFORE, BEHIND = 4, 8  # words around the first that differs
NAMES = ("id", "domain")


def settings(before: Study, after: Study) -> list[Changed]:
    """Return every setting of study.toml that differs, defaults filled in."""
    old, new = (study.file.model_dump(mode="json") for study in (before, after))
    return list(_changes("", old, new))


def texts(before: Materials, after: Materials) -> list[Changed]:
    """Return every prompt, concept, trap and price that differs, and the versions."""
    return list(_changes("", msgspec.to_builtins(before), msgspec.to_builtins(after)))


def _changes(where: str, old: object, new: object) -> Iterator[Changed]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            place = f"{where}.{key}" if where else str(key)
            yield from _changes(place, old.get(key, ABSENT), new.get(key, ABSENT))
    elif (named := _by_name(old)) and (new_named := _by_name(new)):
        yield from _changes(where, named, new_named)
    elif old != new:
        yield _shown(where, old, new)


def _by_name(value: object) -> dict[str, object] | None:
    """Return a list of named things by their names; None for anything else."""
    if not isinstance(value, list) or not value:
        return None
    for field in NAMES:
        if all(isinstance(item, dict) and field in item for item in value):
            return {str(item[field]): item for item in value}
    return None


def _shown(where: str, old: object, new: object) -> Changed:
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > LONG:
        return Changed(where, *first_difference(old, new))
    return Changed(where, None if old is ABSENT else old, None if new is ABSENT else new)


def first_difference(old: str, new: str) -> tuple[str, str]:
    """Return the first words that differ, with some before and behind; [] marks their beginning."""
    before, after = old.split(), new.split()
    pairs = zip(before, after, strict=False)
    start = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
    if before == after:
        return "(the same words,", "other white space)"
    return _around(before, start), _around(after, start)


def _around(words: list[str], start: int) -> str:
    first = max(0, start - BEFORE)
    lead = " ".join(words[first:start])
    following = " ".join(words[start : start + BEHIND])
    ending = " ..." if len(words) > start + BEHIND else ""
    return f"{'... ' if first else ''}{lead} [{following}{ending}]".strip()
