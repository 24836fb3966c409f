"""A figure computed again from the data."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import PlainValidator, model_validator

from harness.audit.claim import Claim
from harness.audit.dataset import Dataset, Step
from harness.audit.fields import FromData, number_or_null
from harness.audit.printed import Printed, point
from harness.audit.selection import (
    Numbers,
    RoundedCell,
    Statistic,
    correlated,
    needs_data,
    over_rounding,
    selected,
)
from harness.audit.verdicts import CheckOutcome, Reading, decide, plainly, unchecked
from harness.stats.columns import mean, squares
from harness.stats.kendall import kendall


class ValueClaim(Claim, FromData):
    """A statistic over columns, or the value at a place of a study's results.json.

    missing: what it would take to check it, where the source prints nothing of the kind.
    """

    check: Literal["value"]
    published: Annotated[Printed | None, PlainValidator(number_or_null)]
    statistic: (
        Literal["count", "count_positive", "mean", "median", "sd", "variance"]
        | Literal["pearson", "spearman", "kendall"]
        | None
    ) = None
    ddof: Literal[0, 1] | None = None
    at: list[Step] = []
    missing: str = ""

    @model_validator(mode="after")
    def _one_way(self) -> ValueClaim:
        ways = [bool(self.statistic and self.columns), bool(self.at), bool(self.missing)]
        if sum(ways) != 1:
            raise ValueError("give either statistic and columns, or at, or missing")
        if self.statistic in ("pearson", "spearman", "kendall") and len(self.columns) != 2:
            raise ValueError(f"{self.statistic} takes two columns")
        if self.published is None and not self.at:
            raise ValueError('"null" goes with at')
        return self


def value(claim: ValueClaim, dataset: Dataset | None) -> CheckOutcome:
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
        return CheckOutcome("contradicted", f"n = {n}", f"n is {n} and not {claim.n}")
    readings = _readings(claim, columns)
    if not readings:
        return unchecked(f"the {claim.statistic} of these {n} is undefined")
    return decide(claim.published, plainly(*readings), f"n = {n}")


def _looked_up(claim: ValueClaim, dataset: Dataset) -> CheckOutcome:
    recorded = dataset.at(claim.at)
    if claim.n not in (None, recorded.n):
        reason = f"n is {recorded.n} and not {claim.n}"
        return CheckOutcome("contradicted", f"n = {recorded.n}", reason)
    if recorded.value is None:
        words = f"null: {recorded.reason}"
        return CheckOutcome("contradicted" if claim.published else "reproduced", words, "")
    if claim.published is None:
        return CheckOutcome("contradicted", f"{recorded.value:.4g}", "it is not null")
    return decide(claim.published, plainly(Reading(point(recorded.value))))


def _readings(claim: ValueClaim, columns: Sequence[Sequence[RoundedCell]]) -> list[Reading]:
    spans = {name: over_rounding(s, columns) for name, s in _statistics(claim).items()}
    return [Reading(span, name) for name, span in spans.items() if span is not None]


def _statistics(claim: ValueClaim) -> dict[str, Statistic]:
    """Return the statistics that a claim may mean, by convention; "" where it is clear."""
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
