"""What was to be recorded and judged, what is there, and what the missing could change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.report.digits import Notes, plural
from harness.report.form import Studied
from harness.report.section import Grid, Section
from harness.results import CellResult, DrillResults, Results
from harness.results.depthcharge import ASKED

ABOUT = (
    "A missing judgement is left out of every mean and counted here; it is never a 0 and never a "
    "wrong answer. The bounds say what the numbers could be at most and at least."
)

BOUNDS = {
    "ddft": "Every missing FAR and SAS set to 0, and to 1. Of CI, which does not move one way with "
    "each score, it is the range over the four combinations only.",
    "depthcharge": "Every missing verdict taken for a wrong answer, and for a right one, over the "
    "depths that were asked.",
}


def coverage(studied: Studied) -> Section:
    """Give the section on what is there and what is missing."""
    found = studied.found
    own = _of_dialogues(found) if isinstance(found, Results) else _of_runs(found)
    parts = [*_planned(studied), _states(studied), *own, _bounds(studied)]
    return Section("coverage", "Coverage and missingness", ABOUT, parts)


def _planned(studied: Studied) -> list[Grid]:
    missing = [cell for cell in studied.cells if cell not in studied.cassettes]
    counts = {
        "planned cells": len(studied.cells),
        "recorded to their end": len(studied.cassettes),
        "missing": len(missing),
    }
    rows = [[name, f"{count:,}"] for name, count in counts.items()]
    which = Grid("Missing cells", ("cell",), [[cell] for cell in missing], folded=True)
    return [Grid("Cells", ("what", "count"), rows), *([which] if missing else [])]


def _states(studied: Studied) -> Grid:
    missing = studied.found.missing
    rows = [[state, f"{count:,}"] for state, count in missing.states.items()]
    rows.append(["missing in all", f"{missing.missing:,} of {missing.judgements:,}"])
    rows.append(["share missing", f"{missing.share:.2%} (limit {missing.limit:.2%})"])
    return Grid("What became of the judgements", ("state", "count"), rows)


def _of_dialogues(found: Results) -> list[Grid]:
    turns = [turn for cell in found.cells for turn in cell.turns]
    heard = Counter(turn.n_judges for turn in turns)
    traps = Counter(cell.trap_source for cell in found.cells)
    rows = [
        *_counts("answers judged by", {plural(n, "judge"): heard[n] for n in heard}),
        *_counts("trap questions from", traps),
    ]
    return [_by_subject(found.cells), Grid("Turns", ("what", "which", "count"), rows)]


def _counts(what: str, counts: Mapping[str, int]) -> list[list[str]]:
    return [[what, name, f"{count:,}"] for name, count in sorted(counts.items())]


def _by_subject(cells: Sequence[CellResult]) -> Grid:
    subjects = sorted({cell.cell.subject for cell in cells})
    turns = {name: _turns(cells, name) for name in subjects}
    states = sorted({state for counts in turns.values() for state in counts})
    rows = [[name, *(f"{turns[name][state]:,}" for state in states)] for name in subjects]
    return Grid("Answers by their state", ("subject", *states), rows)


def _turns(cells: Sequence[CellResult], subject: str) -> Counter[str]:
    mine = [cell for cell in cells if cell.cell.subject == subject]
    return Counter(turn.answer_state for cell in mine for turn in cell.turns)


def _of_runs(found: DrillResults) -> list[Grid]:
    return [_slots(found), _lookups(found), _unasked(found)]


def _slots(found: DrillResults) -> Grid:
    rows = []
    for run in found.runs:
        sums = [
            sum(getattr(depth, name) for depth in run.depths)
            for name in ("planned", "asked", "missing", "unverifiable")
        ]
        rows.append([run.cell.name, str(len(run.depths)), *(f"{count:,}" for count in sums)])
    columns = ("run", "depths", "planned", "with a verdict", "verdict missing", "no fact found")
    return Grid("Questions", columns, rows)


def _lookups(found: DrillResults) -> Grid:
    rows = [
        [cell.cell.name, source, *(f"{n:,}" for n in (seen.lookups, seen.found, seen.failed))]
        for cell in found.cells
        for source, seen in cell.lookups.items()
    ]
    columns = ("run", "source", "look-ups", "found", "without an answer")
    return Grid("Look-ups", columns, rows, folded=len(rows) > 12)


def _unasked(found: DrillResults) -> Grid:
    counts = Counter(
        (cell.cell.target, probe.state, str(probe.verdict or probe.reason))
        for cell in found.cells
        for probe in cell.probes
        if probe.state != ASKED
    )
    rows = [[*key, f"{count:,}"] for key, count in sorted(counts.items())]
    columns = ("target", "what became of the slot", "why", "count")
    about = "Every deal of a slot counts: one without a fact is dealt anew."
    return Grid("Slots without a verdict", columns, rows, about)


def _bounds(studied: Studied) -> Grid:
    notes = Notes()
    rows = [
        [part.place, part.measure, *map(notes.number, (part.found, part.low, part.high))]
        for part in studied.bounds
    ]
    columns = ("of", "number", "as found", "at least", "at most")
    about = (
        BOUNDS[studied.found.protocol]
        if rows
        else "No judgement is missing: there is nothing to bound."
    )
    title = "What the missing judgements could change"
    return Grid(title, columns, rows, about, notes.said)
