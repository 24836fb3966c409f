"""How far the judges can be relied on: agreement, usable replies, families, each left out.

Every judgement of the arm enters, of subjects with an incomplete grid too, but for `left_out`.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from harness.protocols.ddft.analysis.evaluations import SCALES, rescored, without_judge
from harness.protocols.ddft.analysis.panel import panel
from harness.protocols.ddft.analysis.schema_jury import (
    BinnedAgreement,
    Families,
    JudgeOut,
    Jury,
    Labelled,
    PairAgreement,
    ScaleAgreement,
    SelfConsistency,
    Validity,
)
from harness.protocols.ddft.analysis.stability import tau
from harness.protocols.ddft.dialogue.materials import PROTOCOL_VERSION
from harness.protocols.ddft.metrics.formulas import PLACES, mean, mean_value
from harness.protocols.ddft.metrics.scoring import MetricRules
from harness.results import CellResult, Phrasings, Score, SubjectMetrics, Turn, Value
from harness.stats import agreement, kappa
from harness.stats.kappa import Weights

CLEAR_ABOVE, EDGE_ABOVE, EDGE_BELOW = 0.9, 0.4, 0.6
BINNINGS: dict[str, tuple[Weights, ...]] = {
    "rubric": ("unweighted", "linear", "quadratic"),
    "fifths": ("unweighted",),
}


class Mark(NamedTuple):
    """One item's scores by judges of the subject's family, and by others."""

    own: list[float]
    others: list[float]


def jury(
    cells: Sequence[CellResult],
    whole: Sequence[CellResult],
    subjects: Sequence[SubjectMetrics],
    rules: MetricRules,
    one_model: Sequence[Phrasings] = (),
    version: int = PROTOCOL_VERSION,
) -> Jury:
    """Describe the jury; `whole` are the cells of subjects with a complete grid.

    one_model: judges that are one model, and one judge of an agreement from version 2 on.
    """
    judges = sorted({name for turn in _turns(cells) for name in turn.scores})
    chosen = panel(judges, one_model, version)
    scales = [agreement_between(cells, chosen.raters, scale) for scale in SCALES]
    return Jury(
        judges=judges,
        heading=chosen.heading,
        scales=[undefined(one, chosen.reason) for one in scales] if chosen.reason else scales,
        self_consistency=[self_consistency(cells, group) for group in chosen.groups],
        validity=[validity(cells, judge) for judge in judges],
        families=[families(cells, scale) for scale in SCALES],
        left_out=[left_out(whole, subjects, judge, rules) for judge in judges],
    )


def scale_agreement(
    cells: Sequence[CellResult], judges: Sequence[str], scale: str
) -> ScaleAgreement:
    """Return every measure of agreement of some judges on one scale: see agreement_between."""
    return agreement_between(cells, {judge: [judge] for judge in judges}, scale)


def self_consistency(cells: Sequence[CellResult], group: Phrasings) -> SelfConsistency:
    """Return how far judges that are one model agree with each other."""
    scales = [scale_agreement(cells, group.judges, scale) for scale in SCALES]
    return SelfConsistency(group.words, group.model, group.judges, scales)


def agreement_between(
    cells: Sequence[CellResult], raters: Mapping[str, Sequence[str]], scale: str
) -> ScaleAgreement:
    """Return every measure of agreement on one scale: one row a turn, one column a rater.

    A rater's score is the mean over its judges that gave one.
    Bins: stats.kappa.EDGES, "rubric" being the midpoints between the bands of the rubric. Clear
    and edge items are chosen by consensus FAR on both scales (section 3.3: FAR > 0.9, 0.4 < FAR <
    0.6), among the items that all raters scored.
    """
    turns = list(_turns(cells))
    rows = [[rated(turn, judges, scale) for judges in raters.values()] for turn in turns]
    fars = [None if turn.far is None else round(turn.far, PLACES) for turn in turns]
    clear = [row for row, far in zip(rows, fars, strict=True) if far and far > CLEAR_ABOVE]
    edge = [
        row for row, far in zip(rows, fars, strict=True) if far and EDGE_ABOVE < far < EDGE_BELOW
    ]
    return ScaleAgreement(
        scale=scale,
        agreement=agreement.agreement(rows),
        kappas=_binned(rows, list(raters)),
        clear=agreement.mean_variance(agreement.complete_cases(clear)),
        edge=agreement.mean_variance(agreement.complete_cases(edge)),
    )


def undefined(found: ScaleAgreement, reason: str) -> ScaleAgreement:
    """Return an agreement of one rater with every number null, for a reason."""

    def null(number: Value) -> Value:
        return Value(None, number.n, reason)

    measures = vars(found.agreement)
    nulls: dict[str, Any] = {
        name: null(number) for name, number in measures.items() if isinstance(number, Value)
    }
    nulls["icc"] = {name: null(number) for name, number in found.agreement.icc.items()}
    return ScaleAgreement(
        scale=found.scale,
        agreement=dataclasses.replace(found.agreement, **nulls),
        kappas=[replace(part, mean=null(part.mean)) for part in found.kappas],
        clear=null(found.clear),
        edge=null(found.edge),
    )


def validity(cells: Sequence[CellResult], judge: str) -> Validity:
    """Count what became of one judge's judgements, how often it was asked, what was mended."""
    asked = [turn for turn in _turns(cells) if judge in turn.scores and not turn.missing]
    scores = [turn.scores[judge] for turn in asked]
    states = Counter(score.state for score in scores)
    repaired = Counter(mend for score in scores for mend in score.repaired)
    nothing = "no judgement"
    return Validity(
        judge=judge,
        ok=mean_value([float(score.state == "ok") for score in scores], nothing),
        asks=mean_value([float(score.asks) for score in scores], nothing),
        states=dict(sorted(states.items())),
        repaired=dict(sorted(repaired.items())),
    )


def families(cells: Sequence[CellResult], scale: str) -> Families:
    """Compare what judges of the subject's own family give with what others give (section 3.3).

    The means are over judgements, of different subjects; the difference compares like with like.
    """
    marks = list(_marks(cells, scale))
    own = [score for mark in marks for score in mark.own]
    others = [score for mark in marks for score in mark.others]
    differences = [
        (mean(mark.own) or 0.0) - (mean(mark.others) or 0.0)
        for mark in marks
        if mark.own and mark.others
    ]
    return Families(
        scale=scale,
        own=mean_value(own, "no score by a judge of the subject's family"),
        others=mean_value(others, "no score by a judge of another family"),
        difference=mean_value(differences, "no item scored by both"),
    )


def left_out(
    cells: Sequence[CellResult],
    subjects: Sequence[SubjectMetrics],
    judge: str,
    rules: MetricRules,
) -> JudgeOut:
    """Score complete subjects anew without one judge; changed: the share with another phenotype."""
    found = rescored(without_judge(cells, judge), rules)
    before = {subject.subject: subject.phenotype for subject in subjects}
    changed = [float(subject.phenotype != before.get(subject.subject)) for subject in found]
    return JudgeOut(
        without=judge,
        subjects=[labelled(subject) for subject in found],
        changed=mean_value(changed, "no subject with a complete grid"),
        tau=tau(subjects, [(subject.subject, subject.ci_raw) for subject in found]),
    )


def labelled(subject: SubjectMetrics) -> Labelled:
    """Return a subject's CI and phenotype alone."""
    return Labelled(subject.subject, subject.ci_raw, subject.ci, subject.phenotype)


def _turns(cells: Sequence[CellResult]) -> Iterator[Turn]:
    for cell in cells:
        yield from cell.turns


def rated(turn: Turn, judges: Sequence[str], scale: str) -> float | None:
    """Return the mean score on a scale of the judges that gave one; None where there is none."""
    scores = [_on(turn.scores.get(judge), scale) for judge in judges]
    return mean([score for score in scores if score is not None])


def _on(score: Score | None, scale: str) -> float | None:
    if score is None:
        return None
    return score.far if scale == "far" else score.sas


def _binned(rows: Sequence[Sequence[float | None]], judges: Sequence[str]) -> list[BinnedAgreement]:
    found = []
    for name, weightings in BINNINGS.items():
        edges = kappa.EDGES[name]
        bins = kappa.binned(rows, edges)
        found += [_kappas(bins, name, weights, judges) for weights in weightings]
    return found


def _kappas(
    bins: kappa.Bins, name: str, weights: Weights, judges: Sequence[str]
) -> BinnedAgreement:
    edges = kappa.EDGES[name]
    found = kappa.pairwise_kappa(bins, len(edges) + 1, weights)
    pairs = [PairAgreement(judges[p.first], judges[p.second], p.kappa) for p in found.pairs]
    return BinnedAgreement(name, list(edges), weights, pairs, found.mean)


def _marks(cells: Sequence[CellResult], scale: str) -> Iterator[Mark]:
    for cell in cells:
        for turn in cell.turns:
            known = [(name, _on(score, scale)) for name, score in turn.scores.items()]
            own = [s for name, s in known if s is not None and name in cell.same_family]
            others = [s for name, s in known if s is not None and name not in cell.same_family]
            yield Mark(own, others)
