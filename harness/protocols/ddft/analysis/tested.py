"""The paper's predictions in three words: supported, contradicted, not shown."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from harness.protocols.ddft.analysis.predictions import ALPHA
from harness.protocols.ddft.analysis.schema import Correlation
from harness.protocols.ddft.analysis.schema_inference import Tested
from harness.results import Interval, SubjectMetrics, Value
from harness.stats.columns import mean
from harness.stats.fewest import too_few, where_enough
from harness.stats.means import crossed_mean, mean_of, welch
from harness.stats.permutation import LARGEST

SUPPORTED, CONTRADICTED, NOT_SHOWN = "supported", "contradicted", "not shown"
BOUND = 0.05  # of equivalence, on the scale of FAR


def dissociation(subjects: Sequence[SubjectMetrics]) -> Tested:
    """Return P1: the danger zone of Robust subjects is above that of Brittle ones."""
    groups = {
        name: [
            subject.danger_zone.value
            for subject in subjects
            if subject.phenotype == name and subject.danger_zone.value is not None
        ]
        for name in ("Robust", "Brittle")
    }
    difference = welch(groups["Robust"], groups["Brittle"])
    rule = "Welch's 95% interval of Robust less Brittle subjects' danger zone lies above 0"
    return _by_sign("P1 dissociation", difference.mean, difference.interval, rule)


def cognitive_load(falls: Sequence[Sequence[float]]) -> Tested:
    """Return P2: FAR falls further than SAS; one row a subject, one column a concept."""
    difference = crossed_mean(falls)
    fewest = min(len(falls), len(falls[0]) if falls else 0)
    interval = where_enough(difference.interval, fewest, "subjects or concepts")
    rule = "the 95% interval of the fall of FAR less that of SAS, over subjects and concepts, "
    return _by_sign("P2 cognitive load", difference.mean, interval, f"{rule}lies above 0")


def bottleneck(turn_4: Correlation, interval: Interval, family: int) -> Tested:
    """Return P3: turn-4 FAR goes with higher CI, Holm over `family` turns."""
    rho, p = turn_4.coefficient, turn_4.holm
    verdict, n = NOT_SHOWN, rho.n
    if rho.value is not None and p.value is not None and p.value < ALPHA:
        verdict = SUPPORTED if rho.value > 0 else CONTRADICTED
    least = min(1.0, family * 2 / math.factorial(n)) if 1 < n <= LARGEST else 0.0
    could = f"{n} subjects cannot show it: the smallest p by Holm is {least:.3f}"
    if n <= 1 or rho.value is None:
        could = f"nothing: {rho.reason or p.reason}"
    elif least < ALPHA:
        could = (
            f"|rho| of {turn_4.detectable.value or 1:.2f} with {n} subjects, in 80 of 100 studies"
        )
    rule = f"Spearman's rho of turn-4 FAR with raw CI is positive, Holm p < {ALPHA}"
    return Tested("P3 error detection bottleneck", rho, interval, verdict, rule, could)


def domain_general(rows: Sequence[Sequence[float]]) -> Tested:
    """Return P4: all domains are equivalent; one row a subject, one column a domain.

    Supported where the simultaneous 90% intervals of all paired differences lie within the bound:
    two one-sided tests each (Schuirmann 1987), Bonferroni over the pairs (as Lauzon and Caffo, The
    American Statistician 63, 2009, 147-154, discuss; theirs is less strict).
    """
    domains = range(len(rows[0]) if rows else 0)
    pairs = list(itertools.combinations(domains, 2))
    rule = f"the simultaneous 90% intervals of all domain differences lie within {BOUND:g}"
    name, n = "P4 domain-general", len(rows)
    if reason := too_few(n, "subjects with every domain") or (None if pairs else "one domain"):
        nothing = Value(None, n, reason)
        no_interval = Interval(None, None, reason=reason)
        return Tested(name, nothing, no_interval, NOT_SHOWN, rule, f"nothing: {reason}")
    level = 1 - 0.1 / len(pairs)
    differences = [mean_of([row[a] - row[b] for row in rows], level) for a, b in pairs]
    largest = max(differences, key=lambda difference: abs(difference.mean.value or 0.0))
    bounds = [
        (difference.interval.low or 0.0, difference.interval.high or 0.0)
        for difference in differences
    ]
    verdict = NOT_SHOWN
    if all(low > -BOUND and high < BOUND for low, high in bounds):
        verdict = SUPPORTED
    elif any(low > BOUND or high < -BOUND for low, high in bounds):
        verdict = CONTRADICTED
    reach = mean([(high - low) / 2 for low, high in bounds])
    could = f"with {n} subjects a difference is known to +-{reach:.2f}"
    estimate = Value(largest.mean.value, n)
    return Tested(name, estimate, largest.interval, verdict, rule, could)


def _by_sign(name: str, difference: Value, interval: Interval, rule: str) -> Tested:
    low, high = interval.low, interval.high
    if low is None or high is None:
        could = f"nothing: {interval.reason}"
        return Tested(name, difference, interval, NOT_SHOWN, rule, could)
    verdict = SUPPORTED if low > 0 else CONTRADICTED if high < 0 else NOT_SHOWN
    could = f"a difference beyond {(high - low) / 2:.2f}, half its interval"
    return Tested(name, difference, interval, verdict, rule, could)
