"""{placeholders} in what people write: which ones would stay as they are, and reach a model so."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

PLACEHOLDER = re.compile(r"\{(\w+)\}")
TEX = re.compile(r"(?:\\[A-Za-z]+|[\\^_}])$")  # before braces: x^{n}, \frac{a}{b}, \{x}


def unfilled(text: str, filled: Collection[str] = ()) -> str:
    """Return the first placeholder of a text that is not filled in, "" where there is none.

    Braces of TeX, which follow a command, ^, _ or other braces, are no placeholders.
    """
    for match in PLACEHOLDER.finditer(text):
        if match[1] not in filled and not TEX.search(text[: match.start()]):
            return match[1]
    return ""


def advice(placeholder: str, filled: Collection[str]) -> str:
    """Return which placeholder may be meant; without any near one, how to write plain braces."""
    near = difflib.get_close_matches(placeholder, filled, 1)
    if near:
        return f"did you mean {{{near[0]}}}?"
    plain = f"write {{ {placeholder} }} for plain braces"
    if not filled:
        return plain
    *names, last = [f"{{{name}}}" for name in filled]
    listed = f"{', '.join(names)} and {last} are" if names else f"{last} is"
    return f"only {listed} filled in here; {plain}"
