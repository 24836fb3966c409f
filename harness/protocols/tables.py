"""All tables of a study: its protocol's own, then what every study has."""

from __future__ import annotations

from typing import Any

from harness.protocols.registry import protocol_of
from harness.results.answers import listed_kinds
from harness.results.coverage_tables import (
    answers_table,
    bounds_table,
    fallback_tables,
    states_table,
)
from harness.results.table import Table
from harness.study.folder import Study


def tables_of(study: Study, results: Any) -> list[Table]:
    """Return a study's results as tables."""
    bounds = protocol_of(study).bounds(study, results)
    return [
        *protocol_of(study).tables(results),
        states_table(results.missing),
        answers_table(results.answers),
        *fallback_tables(results.fallbacks),
        bounds_table(bounds.bounds, bounds.about if bounds.bounds else _unbounded(results)),
    ]


def _unbounded(results: Any) -> str:
    """Say why there is nothing to bound, and what was judged though there was no text in it."""
    if results.missing.missing or results.answers.whole.missing:
        return "What is missing could not be bounded."
    nothing = "No judgement is missing: there is nothing to bound."
    judged = results.answers.whole.judged_kinds
    if not judged:
        return nothing
    return f"{nothing} But what is no answer was judged as one: {listed_kinds(judged)}."
