"""What people write: TOML, checked strictly, every error with its place and its mend."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from harness.errors import UsageError

Share = Annotated[float, Field(ge=0, le=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
MOST_BYTES = 2**24
MOST_CELLS = 1_000_000


def _printable(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("has spaces at its ends, or a character that cannot be seen")
    return text


# Marks a setting that decides no request: results can be computed anew under another value.
METRIC: dict[str, Any] = {"metric": True}
AnyName = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_printable)]
Form = TypeVar("Form", bound=BaseModel)

# What a TOML file may hold that looks like its keys and brackets and is none: texts and comments.
OPAQUE = re.compile(
    r'''"""(?:\\.|[^\\])*?""""{0,2}|"(?:\\.|[^"\\\n])*"|#[^\n]*'''
    r"""|'''.*?''''{0,2}|'[^'\n]*'""",
    re.DOTALL,
)


class Strict(BaseModel):
    """What people write: no unknown key passes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def parsed(path: Path, form: type[Form]) -> Form:
    """Read a TOML file of ours; raises UsageError with the file, the line and the mend."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path}: is larger than {MOST_BYTES} bytes; nobody wrote all of it.")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error})") from error
    try:
        entries = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: is not TOML: {error}") from error
    try:
        return form.model_validate(entries)
    except ValidationError as error:
        raise UsageError(_explained(path, text, error)) from error


def checked(entries: Mapping[str, Any], form: type[Form], source: str) -> Form:
    """Return entries as a form; raises UsageError with `source` before each fault."""
    try:
        return form.model_validate(entries)
    except ValidationError as error:
        faults = [f"{source}: {'.'.join(place)}: {words}" for place, words in _faults(error)]
        raise UsageError("\n".join(faults)) from error


def marked_fields(
    form: type[BaseModel], mark: Mapping[str, object], place: str, *, all_of_it: bool = False
) -> Iterator[str]:
    """Yield the dotted keys of the fields that carry a mark; of a table every key it has.

    mark: a field's json_schema_extra. place: the dotted key of the form.
    """
    for name, field in form.model_fields.items():
        if not all_of_it and field.json_schema_extra != mark:
            continue
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from marked_fields(kind, mark, f"{place}.{name}", all_of_it=True)
        else:
            yield f"{place}.{name}"


def require_grid(*axes: int) -> None:
    """Raise ValueError for a grid that is too large, before anything builds it."""
    cells = math.prod(axes)
    if cells > MOST_CELLS:
        raise ValueError(
            f"the grid has {cells} cells ({' x '.join(map(str, axes))}, the last are repeats); "
            f"expected at most {MOST_CELLS}. Make it several studies."
        )


def require_distinct(field: str, values: Sequence[object]) -> None:
    """Raise ValueError where a value stands twice."""
    if len(set(values)) != len(values):
        raise ValueError(f"{field}: an entry stands twice")


def require_names_apart(field: str, values: Sequence[str], in_names: Callable[[str], str]) -> None:
    """Raise ValueError where two values are the same in the names of cells."""
    seen = dict[str, str]()
    for value in values:
        first = seen.setdefault(in_names(value), value)
        if first != value:
            raise ValueError(
                f"{field}: {first!r} and {value!r} are both {in_names(value)!r} in the names of "
                "cells; rename one"
            )


def at(path: Path, text: str, place: Sequence[str]) -> str:
    """Name a file, and the line of its text that a key stands in, where it can be told."""
    line = _line_of(text, place)
    return f"{path}, line {line}" if line else str(path)


def _explained(path: Path, text: str, error: ValidationError) -> str:
    return "\n".join(
        f"{at(path, text, place)}: {'.'.join(place) or 'file'}: {words}"
        for place, words in _faults(error)
    )


def _faults(error: ValidationError) -> Iterator[tuple[list[str], str]]:
    """Yield the place of each fault, and what is wrong there."""
    for fault in error.errors():
        got = "" if fault["type"] in ("missing", "value_error") else f", got {fault['input']!r}"
        yield [str(key) for key in fault["loc"]], f"{_words(fault['msg'])}{got[:200]}"


def _words(message: str) -> str:
    return message.removeprefix("Value error, ")


def _line_of(text: str, place: Sequence[str]) -> int | None:
    """Find the line that a key stands in, or else the table that lacks it starts in.

    That is the first line of those that share most of the key's place; None where none does.
    """
    best, line = 0, None
    for number, path in _keys(text):
        shared = len(
            list(takewhile(lambda pair: pair[0] == pair[1], zip(path, place, strict=False)))
        )
        if shared > best:
            best, line = shared, number
    return line


def _keys(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the full place of each table and each key of a TOML file, in its order."""
    table, seen, depth = list[str](), dict[tuple[str, ...], int](), 0
    lines = zip(text.split("\n"), OPAQUE.sub(_blank, text).split("\n"), strict=True)
    for number, (line, bare) in enumerate(lines, 1):
        if depth == 0 and bare.lstrip().startswith("["):
            table = _table(line[: bare.rfind("]") + 1].strip(), seen)
            yield number, table
        elif depth == 0 and "=" in bare:
            yield number, table + _key_parts(line[: bare.index("=")])
        depth += len(re.findall(r"[\[{]", bare)) - len(re.findall(r"[\]}]", bare))


def _table(head: str, seen: dict[tuple[str, ...], int]) -> list[str]:
    """Return the place of a table; one of a list, "[[name]]", is numbered from 0 by those seen."""
    place = list[str]()
    keys = _key_parts(head.strip("[] "))
    for number, key_part in enumerate(keys, 1):
        place.append(key_part)
        key = tuple(place)
        if number == len(keys) and head.startswith("[["):
            seen[key] = seen.get(key, -1) + 1
        if key in seen:
            place.append(str(seen[key]))
    return place


def _key_parts(key: str) -> list[str]:
    """Split a dotted TOML key; a quoted part may hold dots."""
    matches = re.findall(r"""\"([^"]*)\"|'([^']*)'|([^.\s"']+)""", key)
    return [double or single or bare for double, single, bare in matches]


def _blank(opaque: re.Match[str]) -> str:
    """Put a letter for each character, so that places stay; lines stay lines."""
    return re.sub(r"[^\n]", "x", opaque[0])
