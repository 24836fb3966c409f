"""The sections of a drill's page, and what such a study does not prove."""

from __future__ import annotations

from collections.abc import Mapping

from harness.page.page import ProtocolPage, Section
from harness.page.replayed_study import ReplayedStudy
from harness.protocols.depthcharge.analysis.glossary import glossary
from harness.protocols.depthcharge.metrics.bands import Band, survival_band
from harness.protocols.depthcharge.page.browser import questions
from harness.protocols.depthcharge.page.figures import figures
from harness.results import DrillResults, DrillTranscript
from harness.results.digits import listed, plural

REFERENCE = "DepthCharge (arXiv 2603.23514)"
SECTIONS = (
    Section(
        "results",
        "Results",
        "The interval of an EVD resamples whole branches, since the questions of a branch hang "
        "together, and is widened for facts that several questions share.",
    ),
    Section("study", "The study as a whole"),
)


def page(study: ReplayedStudy[DrillResults, DrillTranscript]) -> ProtocolPage:
    """Return what is on the page beside the tables."""
    return ProtocolPage(
        browser=questions(study),
        reference=REFERENCE,
        sections=SECTIONS,
        figures=figures(study.results, _bands(study)),
        glossary=glossary(study.results.rules),
        limits=_limits(study),
    )


def _bands(study: ReplayedStudy[DrillResults, DrillTranscript]) -> Mapping[str, Band]:
    """Return the band around each run's survival curve, by the run's name."""
    results = study.results
    return {
        run.cell.name: survival_band(result, run, study.seed)
        for run, result in zip(results.runs, results.cells, strict=True)
    }


def _limits(study: ReplayedStudy[DrillResults, DrillTranscript]) -> list[str]:
    results = study.results
    judging = [model.name for model in study.models if "target" not in model.roles]
    censored = sum(run.evd.censored for run in results.runs)
    return [
        f"Every verdict is relative to these models and sources: {listed(judging)}. An answer is "
        "right where the evaluator says that it entails what a source was found to say.",
        _size(results),
        _power(results),
        f"{plural(censored, 'run')} of {len(results.runs)} ended before knowledge did: their EVD "
        "is a lower bound.",
    ]


def _size(results: DrillResults) -> str:
    questions = sum(depth.asked for run in results.runs for depth in run.depths)
    facts = sum(depth.distinct for run in results.runs for depth in run.depths)
    repeats = len({run.cell.repeat for run in results.runs})
    once = " With one repeat, how another run would differ is not known." if repeats == 1 else ""
    return (
        f"n: {plural(len(results.runs), 'run')}, {plural(questions, 'question')} with a verdict "
        f"(about {plural(facts, 'fact')}, told apart within a depth), {plural(repeats, 'repeat')}."
        f"{once} Each target was asked other questions, since they "
        "follow from its own answers."
    )


def _power(results: DrillResults) -> str:
    differences = results.analysis.differences
    intervals = [pair.two_way for pair in differences if pair.two_way.low is not None]
    crossing = sum(interval.low <= 0 <= interval.high for interval in intervals)
    return (
        f"Power: of {plural(len(differences), 'pair')} of targets {len(intervals)} have "
        f"an interval of their difference, and {crossing} of these include 0: not told apart."
    )
