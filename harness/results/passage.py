"""A text that a source found."""

from __future__ import annotations

import msgspec

PAGE_FORM, SNIPPET_FORM = "page", "snippet"  # of passages


class Passage(msgspec.Struct, frozen=True):
    """A text that was found: what it says, and where it stands.

    revision or date, and licence, are "" where the source does not say. form: "page" (of its own
    text), "snippet" (what a search engine shows of it), "" (a wiki's own words, or an older
    recording's).
    """

    title: str
    text: str
    url: str
    revision: str = ""
    date: str = ""
    licence: str = ""
    form: str = ""
