"""Names of cells, from texts of any script: models' names and domains."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from urllib.parse import quote

LONGEST_WORDS = 40  # characters of a text that cannot stay as it is, before its mark
_plain = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_apostrophes = re.compile(r"['’ʼ`]")


def name_part(text: str) -> str:
    """Return a text as it stands in a cell's name: letters and digits of ASCII, with . _ - between.

    One that is such a name already stays as it is. Of any other, spaces and punctuation go; where
    a letter or a sign is changed or lost, or it is too long, eight hexadecimal digits of the text's
    MD5 follow.
    """
    if _plain.fullmatch(text):
        return text
    bare = _apostrophes.sub("", _without_accents(text))
    words = re.sub(r"[^A-Za-z0-9._]+", "-", bare).strip("-._")
    if words and not _loses(text) and len(words) <= LONGEST_WORDS:
        return words
    composed = unicodedata.normalize("NFC", text)
    mark = hashlib.md5(composed.encode(), usedforsecurity=False).hexdigest()[:8]
    return f"{words[:LONGEST_WORDS].rstrip('-._')}-{mark}".lstrip("-")


def slug(domain: str) -> str:
    """Return a domain as it stands in names: "Ancient Rome" is ancient-rome."""
    return name_part(_hyphenated(domain))


def address_part(domain: str) -> str:
    """Return a domain as it stands in an address, percent-encoded where it is not ASCII."""
    return quote(_hyphenated(domain), safe="")


def _hyphenated(domain: str) -> str:
    return re.sub(r"\s+", "-", domain.strip().lower())


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _loses(text: str) -> bool:
    """Tell whether a sign of a text is more than ASCII, a space or punctuation."""
    return any(
        unicodedata.category(sign)[0] not in "PZ" and not (sign.isascii() and sign.isalnum())
        for sign in unicodedata.normalize("NFC", text)
    )
