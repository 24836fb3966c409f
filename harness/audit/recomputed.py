"""A figure computed again from the data."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from harness.audit.claims import Value
from harness.audit.dataset import Dataset
from harness.audit.finding import Outcome, Reading, decide, unchecked
from harness.audit.printed import point
from harness.audit.selection import (
    Cell,
    Numbers,
    Statistic,
    correlated,
    needs_data,
    over_rounding,
    selected,
)
from harness.stats.columns import mean, squares
from harness.stats.kendall import kendall


def value(claim: Value, dataset: Dataset | None) -> Outcome:
    """Compute a statistic of the data again, over the rounding of what is itself printed.

    Each by its definition in harness.stats. A variance or SD without a stated ddof is tried with
    both, each a convention.
    """
    if claim.missing:
        return unchecked(f"not printed: {claim.missing}")
    if dataset is None:
        return needs_data(claim) if claim.columns else unchecked("needs a results.json (--data)")
    if claim.at or claim.published is None:
        return _looked_up(claim, dataset)
    columns = selected(dataset, claim)
    n = len(columns[0])
    if claim.n not in (None, n):
        return Outcome("contradicted", f"n = {n}", f"n is {n} and not {claim.n}")
    readings = _readings(claim, columns)
    if not readings:
        return unchecked(f"the {claim.statistic} of these {n} is undefined")
    return decide(claim.published, readings, f"n = {n}")


def _looked_up(claim: Value, dataset: Dataset) -> Outcome:
    found = dataset.at(claim.at)
    if claim.n not in (None, found.n):
        return Outcome("contradicted", f"n = {found.n}", f"n is {found.n} and not {claim.n}")
    if found.value is None:
        words = f"null: {found.reason}"
        return Outcome("contradicted" if claim.published else "reproduced", words, "")
    if claim.published is None:
        return Outcome("contradicted", f"{found.value:.4g}", "it is not null")
    return decide(claim.published, [Reading(point(found.value))])


def _readings(claim: Value, columns: Sequence[Sequence[Cell]]) -> list[Reading]:
    spans = {name: over_rounding(s, columns) for name, s in _statistics(claim).items()}
    return [Reading(span, name) for name, span in spans.items() if span is not None]


def _statistics(claim: Value) -> dict[str, Statistic]:
    """Give the statistics that a claim may mean, by convention; "" where it is clear."""
    if claim.statistic not in ("variance", "sd"):
        return {"": STATISTICS[str(claim.statistic)]}
    if claim.ddof is not None:
        return {"": _spread(claim.statistic, claim.ddof)}
    return {f"ddof {ddof}": _spread(claim.statistic, ddof) for ddof in (0, 1)}


def _spread(name: str, ddof: int) -> Statistic:
    def spread(columns: Numbers) -> float | None:
        values = columns[0]
        if len(values) <= ddof:
            return None
        variance = squares(values) / (len(values) - ddof)
        return variance if name == "variance" else math.sqrt(variance)

    return spread


def _positive(columns: Numbers) -> float:
    """Count the units that are above 0 in every column."""
    return sum(all(value > 0 for value in unit) for unit in zip(*columns, strict=True))


STATISTICS: dict[str, Statistic] = {
    "count": lambda columns: len(columns[0]),
    "count_positive": _positive,
    "mean": lambda columns: mean(columns[0]) if columns[0] else None,
    "median": lambda columns: statistics.median(columns[0]) if columns[0] else None,
    "pearson": lambda columns: correlated(columns, "pearson").coefficient.value,
    "spearman": lambda columns: correlated(columns, "spearman").coefficient.value,
    "kendall": lambda columns: kendall(*columns).coefficient.value,
}
