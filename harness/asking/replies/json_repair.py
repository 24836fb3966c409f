"""Repair what models often get wrong in JSON without touching a number: commas and strings.

RFC 8259, section 7: in a string a backslash begins one of nine escapes, and control characters are
escaped. Models write LaTeX (`\\(x\\)`, `\\sigma`), `\\$`, and raw line breaks and tabs.
"""

from __future__ import annotations

import re

# Possessive quantifiers keep a megabyte of nonsense linear.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING.pattern})|,(?=\s*+[}}\]])", re.DOTALL)
_ESCAPE = re.compile(r'(?P<legal>\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))|\\|[\n\r\t]')
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def without_trailing_commas(text: str) -> str:
    """Return JSON without the commas before a closing bracket; strings stay as they are."""
    return _TRAILING_COMMA.sub(lambda match: match[1] or "", text)


def with_legal_strings(text: str) -> str:
    """Return JSON whose strings mean their backslashes, line breaks and tabs as written."""
    return _STRING.sub(lambda string: _ESCAPE.sub(_legal, string[0]), text)


def _legal(match: re.Match[str]) -> str:
    return match["legal"] or _ESCAPED[match[0]]
