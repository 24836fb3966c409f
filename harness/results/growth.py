"""How results may grow: which fields a later form of results.json has that an earlier has not.

A study that was published keeps its results. What they lack because their release did not compute
it is named, and nothing else may be absent: a field that is not listed, here or by the study's
protocol, was taken out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

AddedFields = Mapping[int, frozenset[str]]  # by the first version that has them
VERSIONS = ("results_version", "metrics_version")
FORM = (*VERSIONS, "transcripts")  # say how results were written; no numbers
OF_EVERY_PROTOCOL: AddedFields = {
    2: frozenset({*FORM, "answers", "cells[].replies", "fallbacks", "jury", "notices"})
}
_entry = re.compile(r"\[[^\[\]]*\]")


def newer_fields(recorded: object, of_protocol: AddedFields, oldest: int = 1) -> frozenset[str]:
    """Return the fields that recorded results may lack, since they came after their form.

    of_protocol: by `metrics_version`, which results of version 1 do not have. oldest: the
    results_version that such results have at least. None of theirs may be absent where they say
    they are older, or name no version that there was.
    """
    if not isinstance(recorded, dict):
        return frozenset()
    version = recorded.get("results_version", 1)
    of_metrics = recorded.get("metrics_version", version)
    if type(version) is not int or type(of_metrics) is not int:
        return frozenset()
    if version < oldest or of_metrics < 1:
        return frozenset()
    return _added_since(version, OF_EVERY_PROTOCOL) | _added_since(of_metrics, of_protocol)


def _added_since(version: int, added: AddedFields) -> frozenset[str]:
    return frozenset().union(*(fields for first, fields in added.items() if version < first))


def pattern(where: str) -> str:
    """Return the field that a difference is in, as it is listed: whatever entry of a list it is."""
    return _entry.sub("[]", where)
