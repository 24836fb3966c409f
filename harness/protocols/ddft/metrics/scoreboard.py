"""A study's metrics one by one, each with what it means."""

from __future__ import annotations

from harness.protocols.ddft.analysis.evaluations import PAPER
from harness.protocols.ddft.analysis.schema import Analysis
from harness.protocols.ddft.metrics.formulas import mean_value
from harness.results import Results, SubjectMetrics, Value
from harness.results.scored import Metric, Scored, Spread

SHARE = "proportion"
FAR = Metric("ddft.far", "FAR", "mean factual accuracy of all answers, by the jury", SHARE)
SAS = Metric("ddft.sas", "SAS", "mean semantic adherence of all answers, by the jury", SHARE)
HOC = Metric("ddft.hoc", "HOC", "largest compression at which mean FAR reaches theta", SHARE)
CRI = Metric("ddft.cri", "CRI", "area under SAS over compression, divided by its span", SHARE)
INCOHERENT = "mean FAR of answers with SAS < 0.5, or below the study's cut"
FACTUAL = "mean SAS of answers with FAR > 0.2, or above the study's cut"
FAR_PRIME = Metric("ddft.far_prime", "FAR'", INCOHERENT, SHARE)
SAS_PRIME = Metric("ddft.sas_prime", "SAS'", FACTUAL, SHARE)
CI_RAW = Metric(
    "ddft.ci_raw", "CI raw", "HOC x CRI / (FAR' + 1 - SAS'), not normalized", "index", high=None
)
CI = Metric("ddft.ci", "CI", "comprehension integrity index, by the study's normalization", "index")
DANGER = Metric("ddft.danger_zone", "danger zone", "share of answers fluent and wrong", SHARE, True)


def scoreboard(found: Results) -> list[Scored]:
    """Return every subject's metrics in every arm; raw CI with its bootstrap, if there is one."""
    return [scored for part in found.subjects for scored in _of_subject(found, part)]


def _of_subject(found: Results, part: SubjectMetrics) -> list[Scored]:
    listed = [
        (FAR, _mean(found, part, "far")),
        (SAS, _mean(found, part, "sas")),
        (HOC, part.hoc),
        (CRI, part.cri),
        (FAR_PRIME, part.far_prime),
        (SAS_PRIME, part.sas_prime),
        (CI_RAW, part.ci_raw),
        (CI, part.ci),
        (DANGER, part.danger_zone),
    ]
    spreads = {CI_RAW: _spread(found.analysis, part)}
    return [
        Scored(part.subject, part.arm, metric, value, spreads.get(metric))
        for metric, value in listed
    ]


def _mean(found: Results, part: SubjectMetrics, scale: str) -> Value:
    cells = [
        cell
        for cell in found.cells
        if (cell.cell.subject, cell.cell.arm) == (part.subject, part.arm)
    ]
    scores = [getattr(turn, scale) for cell in cells for turn in cell.turns]
    return mean_value([score for score in scores if score is not None], "no judgement")


def _spread(analysis: Analysis | None, part: SubjectMetrics) -> Spread | None:
    profiles = analysis.profiles if analysis is not None and part.arm == PAPER else []
    for profile in profiles:
        if profile.subject == part.subject:
            found = profile.ci_raw
            method = "percentile bootstrap over blocks of concept x turn"
            return Spread(found.interval, found.se, method, found.resamples)
    return None
