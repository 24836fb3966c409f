"""What a study does not prove, with its own numbers."""

from __future__ import annotations

from harness.report.digits import listed, plural
from harness.report.form import Studied
from harness.report.overview import period
from harness.results import DrillResults, Results

DAY = 10  # letters of an ISO date
NOBODY = (
    "No person has checked these verdicts: there is no human validation in a recording. How a DDFT "
    "jury compares with people, harness calibrate tells; what it finds is not on this page."
)


def limits(studied: Studied) -> list[str]:
    """Give the sentences of the box."""
    found = studied.found
    own = _of_dialogues(found) if isinstance(found, Results) else _of_runs(studied, found)
    dates = (
        f"Everything holds for these models as they were served then ({period(studied, DAY)}); a "
        "model of the same name may answer otherwise today."
    )
    unfinished = len(studied.cells) - len(studied.cassettes)
    unfit = found.jury.words if found.jury else ""
    parts = [*found.notices, dates, *own, NOBODY, studied.checked.limits]
    if unfit:
        parts.insert(0, f"The jury, by its gold set and its habits: {unfit}.")
    if unfinished:
        parts.insert(0, f"{plural(unfinished, 'cell')} of {len(studied.cells)} are not recorded.")
    return parts


def _of_dialogues(found: Results) -> list[str]:
    cells = found.cells
    kin = sorted({name for cell in cells for name in cell.same_family})
    own = f" Of these, {listed(kin)} judge a subject of their own family." if kin else ""
    sizes = {
        "subject": len({cell.cell.subject for cell in cells}),
        "concept": len({cell.cell.concept for cell in cells}),
        "dialogue": len(cells),
        "answer": sum(len(cell.turns) for cell in cells),
    }
    return [
        f"Every score is relative to these judges: {listed(found.analysis.jury.judges)}.{own}",
        f"n: {listed([plural(count, noun) for noun, count in sizes.items()])}. The turns of a "
        "dialogue, and the dialogues of a subject, are not independent, so these are fewer "
        "observations than they look.",
        _power(found),
    ]


def _power(found: Results) -> str:
    detectable = found.analysis.correlations.turn_4_apart.detectable
    if detectable.value is None:
        return f"Power: no correlation between subjects can be shown here ({detectable.reason})."
    return (
        f"Power: with {detectable.n} subjects a correlation must be at least "
        f"{detectable.value:.2f} in size to be found in 80 of 100 such studies; that a smaller one "
        "was not found says little."
    )


def _of_runs(studied: Studied, found: DrillResults) -> list[str]:
    people = [model.name for model in studied.models if "target" not in model.roles]
    censored = sum(run.evd.censored for run in found.runs)
    return [
        f"Every verdict is relative to these models and sources: {listed(people)}. An answer is "
        "right where the evaluator says that it entails what a source was found to say.",
        _size(found),
        _apart(found),
        f"{plural(censored, 'run')} of {len(found.runs)} ended before knowledge did: their EVD is "
        "a lower bound.",
    ]


def _size(found: DrillResults) -> str:
    questions = sum(depth.asked for run in found.runs for depth in run.depths)
    facts = sum(depth.distinct for run in found.runs for depth in run.depths)
    repeats = len({run.cell.repeat for run in found.runs})
    once = " With one repeat, how another run would differ is not known." if repeats == 1 else ""
    return (
        f"n: {plural(len(found.runs), 'run')}, {plural(questions, 'question')} with a verdict "
        f"(about {plural(facts, 'fact')}, told apart within a depth), {plural(repeats, 'repeat')}."
        f"{once} Each target was asked other questions, since they "
        "follow from its own answers."
    )


def _apart(found: DrillResults) -> str:
    known = [one.two_way for one in found.analysis.differences if one.two_way.low is not None]
    crossing = sum(one.low <= 0 <= one.high for one in known)
    return (
        f"Power: of {plural(len(found.analysis.differences), 'pair')} of targets {len(known)} have "
        f"an interval of their difference, and {crossing} of these include 0: not told apart."
    )
