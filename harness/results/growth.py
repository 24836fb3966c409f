"""How results may grow: which fields a later form of results.json has that an earlier has not.

A study that was published keeps its results. What they lack because their release did not compute
it is named, and nothing else may be absent: a field that is not listed, here or by the study's
protocol, was taken out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.results.shared import RESULTS_VERSION

AddedFields = Mapping[int, frozenset[str]]  # by the first RESULTS_VERSION that has them
FORM = ("results_version", "transcripts")  # say how results were written; no numbers
OF_EVERY_PROTOCOL: AddedFields = {
    2: frozenset({*FORM, "answers", "cells[].replies", "fallbacks", "jury", "notices"})
}
_entry = re.compile(r"\[[^\[\]]*\]")


def newer_fields(recorded: Any, of_protocol: AddedFields, oldest: int = 1) -> frozenset[str]:
    """Return the fields that recorded results may lack, since they came after their form.

    oldest: the form that such results have at least. None of theirs may be absent where they say
    they are older, or name no form that there was.
    """
    version = recorded.get("results_version", 1) if isinstance(recorded, dict) else RESULTS_VERSION
    if not isinstance(version, int) or version < oldest:
        return frozenset()
    added = [*OF_EVERY_PROTOCOL.items(), *of_protocol.items()]
    return frozenset().union(*(fields for first, fields in added if version < first))


def pattern(where: str) -> str:
    """Return the field that a difference is in, as it is listed: whatever entry of a list it is."""
    return _entry.sub("[]", where)
