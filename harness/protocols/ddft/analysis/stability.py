"""How stable the ranking by CI is: Kendall's tau between the study's rules and others."""

from __future__ import annotations

from collections.abc import Sequence

from harness.protocols.ddft.analysis.evaluations import rescored
from harness.protocols.ddft.analysis.schema import Stability
from harness.protocols.ddft.metrics import formulas as metrics
from harness.protocols.ddft.metrics.scoring import MetricRules
from harness.results import CellResult, SubjectMetrics, Value
from harness.stats.fewest import too_few
from harness.stats.kendall import Kendall, kendall

NORMALIZATIONS = ("clip", "max", "minmax")
EMPTY_RULES = ("undefined", "zero")
HOC_RULES = ("max", "onset")
THETAS = (0.70, 0.80)
COARSE = (0.0, 0.5, 1.0)

Named = Sequence[tuple[str, Value]]


def stability(
    cells: Sequence[CellResult],
    subjects: Sequence[SubjectMetrics],
    apart: Sequence[SubjectMetrics],
    rules: MetricRules,
) -> list[Stability]:
    """Compare the ranking by raw CI with that of every other rule (section 7.2, tables 4 and 5).

    cells: of complete subjects. apart: the subjects as scored without turn 4.
    """
    found = [(f"normalization = {rule}", _normalized(subjects, rule)) for rule in NORMALIZATIONS]
    for name, other in _alternatives(rules):
        found.append((name, [(s.subject, ci_under(s, other)) for s in subjects]))
    found.append(("without turn 4", [(s.subject, s.ci_raw) for s in apart]))
    taus = [Stability(name, tau(subjects, named)) for name, named in found]
    return [*taus, _coarse(cells, subjects, rules)]


def ci_under(subject: SubjectMetrics, rules: MetricRules) -> Value:
    """Return a subject's raw CI under another theta, hoc_rule or empty rule, from its metrics."""
    if not subject.complete:
        return subject.ci_raw
    curve = [(at.level, at.far.value) for at in subject.levels]
    hoc = metrics.hoc(curve, rules.theta, rules.hoc_rule)
    empty = metrics.far_prime([], rules.empty_far_prime)
    far_prime = subject.far_prime if subject.far_prime.n else empty
    return metrics.ci_raw(hoc, subject.cri, far_prime, subject.sas_prime)


def tau(subjects: Sequence[SubjectMetrics], others: Named) -> Kendall:
    """Return Kendall's tau-b of the subjects' raw CI with other values of theirs, listwise."""
    other = {name: value.value for name, value in others}
    pairs = [
        (subject.ci_raw.value, other.get(subject.subject))
        for subject in sorted(subjects, key=lambda subject: subject.subject)
    ]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if reason := too_few(len(known), "subjects with both"):
        return _undefined(len(known), reason)
    return kendall(
        [round(a, metrics.PLACES) for a, _ in known], [round(b, metrics.PLACES) for _, b in known]
    )


def _undefined(n: int, reason: str) -> Kendall:
    return Kendall(Value(None, n, reason), Value(None, n, reason), "undefined")


def _normalized(subjects: Sequence[SubjectMetrics], rule: str) -> Named:
    values = metrics.normalized([subject.ci_raw for subject in subjects], rule)
    return [(subject.subject, value) for subject, value in zip(subjects, values, strict=True)]


def _alternatives(rules: MetricRules) -> list[tuple[str, MetricRules]]:
    """Return every single change of a rule that CI can be recomputed under from the metrics."""
    empty = [(f"empty_far_prime = {r}", rules._replace(empty_far_prime=r)) for r in EMPTY_RULES]
    hoc = [(f"hoc_rule = {r}", rules._replace(hoc_rule=r)) for r in HOC_RULES]
    theta = [(f"theta = {theta:g}", rules._replace(theta=theta)) for theta in THETAS]
    return [(name, other) for name, other in (*empty, *hoc, *theta) if other != rules]


def _coarse(
    cells: Sequence[CellResult], subjects: Sequence[SubjectMetrics], rules: MetricRules
) -> Stability:
    levels = {cell.cell.level for cell in cells}
    name = "levels 0, 0.5 and 1"
    if not levels > set(COARSE):
        reason = "the grid does not hold levels 0, 0.5, 1 and others"
        return Stability(name, _undefined(len(subjects), reason))
    kept = [cell for cell in cells if cell.cell.level in COARSE]
    found = rescored(kept, rules)
    return Stability(name, tau(subjects, [(s.subject, s.ci_raw) for s in found]))
