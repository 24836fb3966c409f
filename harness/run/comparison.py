"""Compare what is computed now with results.json: numbers, and the words they rest on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import msgspec

from harness import results as results_file
from harness.protocols.registry import protocol_of
from harness.results import FirstDifference, GoldKey
from harness.results.growth import VERSIONS, newer_fields
from harness.run.replay import CellReplay
from harness.study.folder import Study

IDENTICAL, EQUAL, DIFFERENT = "identical", "equal", "different"
NOT_BOUND = "not bound"
TRANSCRIPTS = "transcripts"
BINDING_VERSION = 2  # of results, from which on they bind the words; since cassette format 2
FORM_ONLY = "the file's form only"


class ResultsComparison(NamedTuple):
    """How results.json compares with what is computed now.

    numbers: "identical" (every recorded one, to the last digit), "equal" (to 1e-9, or the same in
    another form of the file) or "different". words: of the transcripts, "identical", "different",
    or "not bound" where an older release recorded no hash of them. where: the first difference, ""
    for none. more: how many values are computed now that were not recorded. problem: what a verdict
    says of a difference that is more than rounding, "" for none.
    """

    numbers: str
    words: str
    where: str = ""
    more: int = 0
    problem: str = ""


def compare_results(
    study: Study, results: object, replays: Sequence[CellReplay]
) -> ResultsComparison:
    """Compare a study's results, of all its cells, with its results.json.

    Raises DamagedFile where that cannot be read.
    """
    now = results_file.canonical(results)
    if study.results.read_bytes() == now:
        return ResultsComparison(IDENTICAL, IDENTICAL)
    recorded = results_file.read_results(study.results)
    newer = _newer_fields(study, recorded, replays)
    comparison = _compared(study, recorded, msgspec.json.decode(now), newer)
    if comparison.where or comparison.more or comparison.words == NOT_BOUND:
        return comparison
    return comparison._replace(numbers=EQUAL, where=FORM_ONLY)


def compare_cells(study: Study, replays: Sequence[CellReplay]) -> ResultsComparison:
    """Compare some replayed cells with their places in results.json; raises DamagedFile."""
    recorded = results_file.read_results(study.results)
    now = msgspec.json.decode(
        results_file.canonical(
            {
                "cells": [
                    replay.result for replay in replays if not isinstance(replay.cell, GoldKey)
                ],
                TRANSCRIPTS: {replay.cell.name: replay.transcript_sum for replay in replays},
                "results_version": results_file.RESULTS_VERSION,
            }
        )
    )
    newer = _newer_fields(study, recorded, replays)
    return _compared(study, _part_of(recorded, now), now, newer)


def _part_of(recorded: object, now: dict[str, Any]) -> object:
    """Return what recorded results have of these cells."""
    if not isinstance(recorded, dict):
        return recorded
    selected = {name: recorded[name] for name in now if name in recorded}
    keys = [cell["cell"] for cell in now["cells"]]
    if isinstance(selected.get("cells"), list):
        selected["cells"] = [
            cell
            for cell in selected["cells"]
            if isinstance(cell, dict) and cell.get("cell") in keys
        ]
    if isinstance(sums := selected.get(TRANSCRIPTS), dict):
        selected[TRANSCRIPTS] = {name: sums[name] for name in now[TRANSCRIPTS] if name in sums}
    return selected


def _newer_fields(study: Study, recorded: Any, replays: Sequence[CellReplay]) -> frozenset[str]:
    """Return what recorded results may lack; those of the first form have cassettes of format 1."""
    oldest = 1 if all(replay.file_format == 1 for replay in replays) else BINDING_VERSION
    return newer_fields(recorded, protocol_of(study).ADDED, oldest)


def _compared(
    study: Study, recorded: Any, now: dict[str, Any], newer: frozenset[str]
) -> ResultsComparison:
    """Compare as far as the recorded form goes."""
    apart = {TRANSCRIPTS, *_older_versions(recorded, now)}
    comparison = results_file.compared(
        _without(apart, recorded),
        _without(apart, now),
        newer=newer,
        cell_name=study.file.plan.cell_name,
    )
    first_words = _first_other_words(recorded, now)
    is_bound = TRANSCRIPTS not in newer or TRANSCRIPTS in recorded
    words = NOT_BOUND if not is_bound else DIFFERENT if first_words else IDENTICAL
    if (first := comparison.first) is not None:
        numbers = EQUAL if first.close else DIFFERENT
        problem = "" if first.close else f"numbers: the first that differs is {first.words}"
        if problem or words != DIFFERENT:
            return ResultsComparison(numbers, words, first.words, comparison.more, problem)
    if first_words and is_bound:
        problem = _other_words(first_words)
        return ResultsComparison(IDENTICAL, DIFFERENT, first_words.where, problem=problem)
    return ResultsComparison(IDENTICAL, words, more=comparison.more)


def _older_versions(recorded: Any, now: dict[str, Any]) -> list[str]:
    """Return the versions that are lower in recorded results, as they are in an older study."""
    if not isinstance(recorded, dict):
        return []
    versions = [(name, recorded.get(name), now.get(name)) for name in VERSIONS]
    return [
        name
        for name, old, new in versions
        if type(old) is int and type(new) is int and 1 <= old < new
    ]


def _without(names: Collection[str], results: Any) -> Any:
    if not isinstance(results, dict):
        return results
    return {name: entry for name, entry in results.items() if name not in names}


def _first_other_words(recorded: Any, now: dict[str, Any]) -> FirstDifference | None:
    """Return the first difference between the hashes of transcripts."""
    sums = {TRANSCRIPTS: recorded[TRANSCRIPTS]} if TRANSCRIPTS in recorded else {}
    return results_file.compared(sums, {TRANSCRIPTS: now[TRANSCRIPTS]}).first


def _other_words(first: FirstDifference) -> str:
    cell = first.where.partition(".")[2] or "every cell"
    return (
        f"words: what was asked or answered in {cell} is not what results.json was made from "
        f"(SHA-256 of the transcript: recorded {first.recorded!r}, now {first.now!r})"
    )
