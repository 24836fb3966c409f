"""From finished cells to results: which subject scored what, and whether the study is valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.asking.models.usage import spending
from harness.asking.replies.reply_count import faults, shares, summed
from harness.protocols.ddft.metrics import formulas as metrics
from harness.protocols.ddft.metrics.formulas import mean
from harness.results import (
    CellResult,
    Fallbacks,
    Level,
    Missing,
    Prices,
    Results,
    Score,
    SubjectMetrics,
    Turn,
    Value,
)
from harness.results.answers import AnswerCounts, count_answers
from harness.results.ddft import SCRIPTED, TEMPLATE
from harness.results.fallbacks import share_of

OF_A_SUBJECT = 4  # fields of SubjectMetrics that every subject has; the rest are metrics


class MetricRules(NamedTuple):
    """The choices the paper leaves open, and its cuts, as the study file makes them.

    sas_above, far_below: of the danger zone. incoherent_below, factual_above: which answers FAR'
    (by their SAS) and SAS' (by their FAR) are means of. robust_above, competent_above: of CI.
    """

    theta: float
    hoc_rule: str
    empty_far_prime: str
    normalization: str
    aggregation: str
    sas_above: float
    far_below: float
    missing_limit: float
    template_limit: float = 0.20
    incoherent_below: float = metrics.INCOHERENT_BELOW
    factual_above: float = metrics.FACTUAL_ABOVE
    robust_above: float = metrics.ROBUST_ABOVE
    competent_above: float = metrics.COMPETENT_ABOVE

    def phenotype(self, ci: float | None) -> str | None:
        """Return the phenotype of a normalized CI by these cuts; None where CI is undefined."""
        return metrics.phenotype(ci, self.robust_above, self.competent_above)


def score_study(
    name: str,
    version: int,
    cells: Sequence[CellResult],
    planned: int,
    rules: MetricRules,
    prices: Prices | None = None,
) -> Results:
    """Compute all metrics of a study from its cells, in the order of their names."""
    cells = sorted(cells, key=lambda cell: cell.cell)
    missing, answers = count_missing(cells, rules.missing_limit), answers_of(cells)
    settings = rules._asdict()
    if version == 1:  # whose studies were valid whoever wrote their questions
        settings.pop("template_limit")
    fallbacks = _fallbacks(cells, settings.get("template_limit"))
    reasons = [*answers.faults(rules.missing_limit), missing.fault("judgements")]
    reason = "; ".join(filter(None, (*reasons, *faults(fallbacks))))
    return Results(
        study=name,
        protocol="ddft",
        protocol_version=version,
        valid=not reason,
        invalid_reason=reason or None,
        rules=settings,
        missing=missing,
        spending=spending(cells, prices),
        subjects=subject_metrics(cells, planned, rules),
        analysis=None,
        cells=list(cells),
        fallbacks=fallbacks,
        answers=answers,
    )


def answers_of(cells: Sequence[CellResult]) -> AnswerCounts:
    """Count the subjects' answers by kind, those that are missing apart."""
    return count_answers(
        (cell.cell.subject, turn.answer_state, turn.missing)
        for cell in cells
        for turn in cell.turns
    )


def _fallbacks(cells: Sequence[CellResult], template_limit: float | None) -> Fallbacks:
    sources = [turn.question_source for cell in cells for turn in cell.turns]
    unscripted = [source for source in sources if source != SCRIPTED]
    templates = share_of(
        "questions from the template",
        unscripted.count(TEMPLATE),
        len(unscripted),
        "no interviewer: all questions are scripted",
        template_limit,
    )
    replies = summed(cells)
    return Fallbacks([templates, *shares(replies)], replies)


def count_missing(cells: Sequence[CellResult], limit: float) -> Missing:
    """Count the judgements without a score, by what became of them.

    Those of a missing answer are missing too: "no_answer", one for each judge.
    """
    states = Counter(score.state for score in _scores(cells))
    total = sum(states.values())
    missing = total - states["ok"]
    return Missing(
        total, missing, missing / total if total else 0.0, limit, dict(sorted(states.items()))
    )


def _scores(cells: Sequence[CellResult]) -> list[Score]:
    return [score for cell in cells for turn in cell.turns for score in turn.scores.values()]


def subject_metrics(
    cells: Sequence[CellResult], planned: int, rules: MetricRules
) -> list[SubjectMetrics]:
    """Compute every subject's metrics in every arm; planned: how many cells make one complete."""
    groups = sorted({(cell.cell.subject, cell.cell.arm) for cell in cells})
    parts = [
        _subject(subject, arm, _of(cells, subject, arm), planned, rules) for subject, arm in groups
    ]
    for arm in {arm for _, arm in groups}:
        chosen = [part for part in parts if part.arm == arm]
        values = metrics.normalized([part.ci_raw for part in chosen], rules.normalization)
        for part, value in zip(chosen, values, strict=True):
            part.ci, part.phenotype = value, rules.phenotype(value.value)
    return parts


def _of(cells: Sequence[CellResult], subject: str, arm: str) -> list[CellResult]:
    return [cell for cell in cells if (cell.cell.subject, cell.cell.arm) == (subject, arm)]


def _subject(
    subject: str, arm: str, cells: list[CellResult], planned: int, rules: MetricRules
) -> SubjectMetrics:
    levels = [_level(cells, level, rules) for level in sorted({c.cell.level for c in cells})]
    if len(cells) < planned:
        return _incomplete(subject, arm, levels, f"incomplete: {len(cells)} of {planned} cells")
    far = [(level.level, level.far.value) for level in levels]
    sas = [(level.level, level.sas.value) for level in levels]
    pairs = [
        (turn.far, turn.sas)
        for cell in cells
        for turn in cell.turns
        if turn.far is not None and turn.sas is not None
    ]
    hoc = metrics.hoc(far, rules.theta, rules.hoc_rule)
    cri, sas_prime = metrics.cri(sas), metrics.sas_prime(pairs, rules.factual_above)
    far_prime = metrics.far_prime(pairs, rules.empty_far_prime, rules.incoherent_below)
    raw = metrics.ci_raw(hoc, cri, far_prime, sas_prime)
    return SubjectMetrics(
        subject=subject,
        arm=arm,
        complete=True,
        levels=levels,
        hoc=hoc,
        hoc_onset=metrics.hoc(far, rules.theta, "onset"),
        cri=cri,
        far_prime=far_prime,
        sas_prime=sas_prime,
        ci_raw=raw,
        ci=raw,
        phenotype=None,
        danger_zone=metrics.danger_zone(pairs, rules.sas_above, rules.far_below),
    )


def _incomplete(subject: str, arm: str, levels: list[Level], reason: str) -> SubjectMetrics:
    nothing: Any = Value(None, 0, reason)
    undefined = dict.fromkeys(SubjectMetrics.__struct_fields__[OF_A_SUBJECT:], nothing)
    undefined["phenotype"] = None
    return SubjectMetrics(subject, arm, complete=False, levels=levels, **undefined)


def _level(cells: Sequence[CellResult], level: float, rules: MetricRules) -> Level:
    here = [cell for cell in cells if cell.cell.level == level]
    far = _aggregated([(cell.cell.concept, turn.far) for cell, turn in _turns(here)], rules)
    sas = _aggregated([(cell.cell.concept, turn.sas) for cell, turn in _turns(here)], rules)
    return Level(level, far, sas)


def _turns(cells: Sequence[CellResult]) -> list[tuple[CellResult, Turn]]:
    return [(cell, turn) for cell in cells for turn in cell.turns]


def _aggregated(scored: list[tuple[str, float | None]], rules: MetricRules) -> Value:
    """Pool over concepts and turns, or average the concepts' means; n counts turn evaluations."""
    known = [(concept, number) for concept, number in scored if number is not None]
    if rules.aggregation == "pooled":
        return metrics.mean_value([number for _, number in known], "no judgement")
    means = [
        mean([number for name, number in known if name == concept])
        for concept in sorted({concept for concept, _ in known})
    ]
    value = mean([number for number in means if number is not None])
    return Value(value, len(known), None if known else "no judgement")
