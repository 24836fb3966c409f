"""What was to be recorded and judged, what is there, and what the missing could change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from harness.report.digits import Notes, plural
from harness.report.form import Studied
from harness.report.section import Grid, Section
from harness.results import AnswerCounts, DrillResults, Results
from harness.results.answers import KINDS, listed_kinds, words_of
from harness.results.coverage_tables import fallback_tables
from harness.results.depthcharge import ASKED
from harness.results.table import Table
from harness.results.text_table import text_table

ABOUT = (
    "A missing answer was shown to no judge. A missing judgement is left out of every mean and "
    "counted here; it is never a 0 and never a wrong answer. The bounds say what the numbers could "
    "be at most and at least."
)

BOUNDS = {
    "ddft": "Every missing FAR and SAS set to 0, and to 1, those of missing answers among them. CI "
    "does not move one way with each score, so what stands there is no bound: it is its range over "
    "the four corners only.",
    "depthcharge": "Every missing verdict taken for a wrong answer, and for a right one, over the "
    "depths that were asked.",
}


def coverage(studied: Studied) -> Section:
    """Give the section on what is there and what is missing."""
    found = studied.found
    own = _of_dialogues(found) if isinstance(found, Results) else _of_runs(found)
    parts = [
        *_planned(studied),
        _states(studied),
        _answers(studied.found.answers),
        *own,
        *map(_grid, fallback_tables(found.fallbacks)),
        _bounds(studied),
    ]
    return Section("coverage", "Coverage and missingness", ABOUT, parts)


def _grid(table: Table) -> Grid:
    shown = text_table(table)
    return Grid(shown.title, shown.columns, shown.rows, notes=shown.notes)


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
    return [Grid("Turns", ("what", "which", "count"), rows)]


def _counts(what: str, counts: Mapping[str, int]) -> list[list[str]]:
    return [[what, name, f"{count:,}"] for name, count in sorted(counts.items())]


def _answers(counts: AnswerCounts) -> Grid:
    """Show the answers of each examined model by kind, and how many of them are missing."""
    kinds = [kind for kind in KINDS if kind in counts.whole.kinds]
    kinds += sorted(set(counts.whole.kinds) - set(kinds))
    rows = [
        [
            part.of or "all",
            *(f"{part.kinds.get(kind, 0):,}" for kind in kinds),
            f"{part.missing:,} of {part.answers:,} ({part.share:.1%})",
        ]
        for part in (*counts.models, counts.whole)
    ]
    return Grid("Answers by their kind", ("model", *map(words_of, kinds), "missing"), rows)


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
    about = BOUNDS[studied.found.protocol] if rows else _unbounded(studied.found)
    title = "What the missing judgements could change"
    return Grid(title, columns, rows, about, notes.said)


def _unbounded(found: Results | DrillResults) -> str:
    """Say why there is nothing to bound, and what was judged that is no answer."""
    if found.missing.missing or found.answers.whole.missing:
        return "What is missing could not be bounded."
    judged = found.answers.whole.judged_kinds
    nothing = "No judgement is missing: there is nothing to bound."
    if not judged:
        return nothing
    return f"{nothing} But what is no answer was judged as one: {listed_kinds(judged)}."
