"""The sections of a DDFT study's page, and what such a study does not prove."""

from __future__ import annotations

from harness.page.page import ProtocolPage, Section
from harness.page.replayed_study import ReplayedStudy
from harness.protocols.ddft.analysis.glossary import glossary
from harness.protocols.ddft.page.browser import dialogues
from harness.protocols.ddft.page.figures import figures
from harness.results import Results, Transcript
from harness.results.digits import listed, plural

REFERENCE = "DDFT, the Drill-Down and Fabricate Test (arXiv 2512.23850)"
RESULTS = Section(
    "results",
    "Results",
    "By the rules of the study file. Intervals are 95% intervals by t over whole subjects or whole "
    "concepts; a subject's CI has one for every HOC that its levels leave open.",
)
STUDY = Section(
    "study",
    "The study as a whole",
    "Over subjects with a complete grid; undefined below four. A negative coefficient of a turn's "
    "FAR says that being right there goes with a lower CI.",
)
BY_PEOPLE = (
    "How this jury compares with people, harness calibrate tells; what it finds is not on this "
    "page."
)


def page(study: ReplayedStudy[Results, Transcript]) -> ProtocolPage:
    """Return what is on the page beside the tables."""
    results = study.results
    return ProtocolPage(
        browser=dialogues(study),
        reference=REFERENCE,
        sections=[RESULTS, STUDY, _jury(results)],
        figures=figures(results, study.seed),
        glossary=glossary(study.results.rules),
        limits=_limits(results),
    )


def _jury(results: Results) -> Section:
    about = (
        f"Judges: {', '.join(results.analysis.jury.judges)}. Measures of spread and ICC are over "
        "the answers that every judge scored, alpha over all. How far the judges agree with people "
        "is not known from this."
    )
    return Section("jury", "The jury", about)


def _limits(results: Results) -> list[str]:
    cells = results.cells
    kin = sorted({name for cell in cells for name in cell.same_family})
    judged = f" Of these, {listed(kin)} judge a subject of their own family." if kin else ""
    sizes = {
        "subject": len({cell.cell.subject for cell in cells}),
        "concept": len({cell.cell.concept for cell in cells}),
        "dialogue": len(cells),
        "answer": sum(len(cell.turns) for cell in cells),
    }
    return [
        f"Every score is relative to these judges: {listed(results.analysis.jury.judges)}.{judged}",
        f"n: {listed([plural(count, noun) for noun, count in sizes.items()])}. The turns of a "
        "dialogue, and the dialogues of a subject, are not independent, so these are fewer "
        "observations than they look.",
        _power(results),
        BY_PEOPLE,
    ]


def _power(results: Results) -> str:
    detectable = results.analysis.correlations.turn_4_apart.detectable
    if detectable.value is None:
        return f"Power: no correlation between subjects can be shown here ({detectable.reason})."
    return (
        f"Power: with {detectable.n} subjects a correlation must be at least "
        f"{detectable.value:.2f} in size to be found in 80 of 100 such studies; that a smaller one "
        "was not found says little."
    )
