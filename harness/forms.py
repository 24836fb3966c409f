"""What people write: TOML, checked strictly, every error with its place and its mend."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import UsageError

Share = Annotated[float, Field(ge=0, le=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
Form = TypeVar("Form", bound=BaseModel)


class Strict(BaseModel):
    """What people write: no unknown key passes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def parsed(path: Path, form: type[Form]) -> Form:
    """Read a TOML file of ours; raises UsageError with the file, the line and the mend."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error})") from error
    try:
        return form.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: is not TOML: {error}") from error
    except ValidationError as error:
        raise UsageError(_explained(path, text, error)) from error


def _explained(path: Path, text: str, error: ValidationError) -> str:
    lines = []
    for fault in error.errors():
        place = [str(part) for part in fault["loc"]]
        got = "" if fault["type"] in ("missing", "value_error") else f", got {fault['input']!r}"
        line = _line_of(text, place)
        at = f"{path}, line {line}" if line else str(path)
        lines.append(f"{at}: {'.'.join(place) or 'file'}: {fault['msg']}{got[:200]}")
    return "\n".join(lines)


def _line_of(text: str, place: list[str]) -> int | None:
    """Find the line that a key stands in; None where it stands nowhere (a missing key)."""
    table: list[str] = []
    keys = [part for part in place if not part.isdigit()]
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            table = _key_parts(stripped.strip("[]"))
            if table == keys:
                return number
        elif "=" in stripped and keys:
            found = table + _key_parts(stripped.partition("=")[0])
            if found == keys[: len(found)] and len(found) >= len(keys) - 1:
                return number
    return None


def _key_parts(key: str) -> list[str]:
    """Split a dotted TOML key; a quoted part may hold dots."""
    return [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|([^.\s"]+)', key)]
