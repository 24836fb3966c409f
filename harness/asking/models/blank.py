"""Texts in which there is nothing to read."""

from __future__ import annotations

import unicodedata

# Unicode's general categories (Unicode Standard, section 4.5) of separators, controls and format
# characters, zero width and byte order marks among them.
UNSEEN = ("Zs", "Zl", "Zp", "Cc", "Cf")
# What has another category and shows nothing: Braille's empty cell, and characters that Unicode
# calls Default_Ignorable_Code_Point (DerivedCoreProperties.txt): fillers, joiner, selectors.
UNSEEN_TOO = "\u2800\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0" + "".join(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)


def is_blank(text: str) -> bool:
    """Tell whether a text is empty to a reader: white space and invisible characters only."""
    return all(
        unicodedata.category(character) in UNSEEN or character in UNSEEN_TOO for character in text
    )
