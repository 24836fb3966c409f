"""What web searches have in common: dates, options and results as passages."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Mapping

from harness.results import Passage
from harness.results.passage import SNIPPET_FORM

_iso = re.compile(r"\d{4}(-\d\d(-\d\d)?)?(?!\d)", re.ASCII)


def snippet(
    title: str | None, text: str | None, url: str | None, date: str | None, licence: str = ""
) -> Passage:
    """Return a search result as a passage; date: in any form that iso_date reads."""
    return Passage(
        title or "", text or "", url or "", "", iso_date(date or ""), licence, SNIPPET_FORM
    )


def iso_date(date: str) -> str:
    """Return the day of an ISO time, or of a date as mails have it; "" of any other."""
    if match := _iso.match(date.strip()):
        return match[0]
    try:
        return email.utils.parsedate_to_datetime(date).date().isoformat()
    except (ValueError, OverflowError):
        return ""


def as_query(options: Mapping[str, object]) -> dict[str, str]:
    """Return options as a query has them: lists by commas, truth in small letters."""
    return {name: _joined(option) for name, option in options.items()}


def _joined(option: object) -> str:
    if isinstance(option, (list, tuple)):
        return ",".join(map(_joined, option))
    return str(option).lower() if isinstance(option, bool) else str(option)
