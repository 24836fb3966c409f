"""A claims file: what a source prints, where, and how each figure can be checked.

Numbers stand in quotes, as printed, since "0.50" says more than 0.5. A claim never says what the
verdict should be.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, model_validator

from harness.audit.expression import Expression, expression
from harness.audit.fields import (
    UNIT_SCALE,
    Coefficient,
    ColumnField,
    Count,
    Figure,
    FromData,
    Number,
    Pair,
    Scale,
    Several,
    Text,
    number_or_null,
    number_or_pair,
)
from harness.audit.printed import Printed
from harness.forms import Name, Strict, parsed


class Claim(Strict):
    """What every claim has: its place in the source, and what it says, in words.

    assuming: what the check takes for granted and the source does not state.
    """

    check: str
    place: Text
    says: Text
    published: Any
    assuming: str = ""

    @property
    def printed(self) -> str:
        """Give what is printed, as text."""
        if self.published is None:
            return "null"
        if isinstance(self.published, list):
            return f"[{', '.join(end.text for end in self.published)}]"
        return self.published.text if isinstance(self.published, Printed) else str(self.published)


class Value(Claim, FromData):
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
    at: list[str | dict[str, Any]] = []
    missing: str = ""

    @model_validator(mode="after")
    def _one_way(self) -> Value:
        ways = [bool(self.statistic and self.columns), bool(self.at), bool(self.missing)]
        if sum(ways) != 1:
            raise ValueError("give either statistic and columns, or at, or missing")
        if self.statistic in ("pearson", "spearman", "kendall") and len(self.columns) != 2:
            raise ValueError(f"{self.statistic} takes two columns")
        if self.published is None and not self.at:
            raise ValueError('"null" goes with at')
        return self


class PValue(Claim, FromData):
    """The p of a correlation, of its printed coefficient and n or of two columns.

    family: the printed coefficients of all tests made together, this one among them.
    """

    check: Literal["p_value"]
    published: Number
    method: Literal["pearson", "spearman", "kendall"]
    coefficient: Coefficient | None = None
    family: list[Coefficient] = []

    @model_validator(mode="after")
    def _one_way(self) -> PValue:
        of_print = self.coefficient is not None and self.n is not None and not self.columns
        if not of_print and (self.coefficient is not None or len(self.columns) != 2):
            raise ValueError("give either coefficient and n, or two columns")
        if self.n == 1 and self.method != "pearson":
            raise ValueError(f"n: {self.method} ranks at least 2 items, got 1")
        if self.family and self.coefficient not in self.family:
            raise ValueError("family: the coefficient is not among them")
        return self


class Attainable(Claim):
    """A rank coefficient of n items. ties: whether the source rules them out."""

    check: Literal["attainable"]
    published: Number
    method: Literal["spearman", "kendall"]
    n: Several
    ties: Literal["possible", "none"] = "possible"


class PartialP(Claim):
    """The p of a partial correlation with so many covariates."""

    check: Literal["partial_p"]
    published: Number
    coefficient: Coefficient
    n: Count
    covariates: Count


class EffectSize(Claim):
    """Eta squared or p of an F."""

    check: Literal["effect_size"]
    published: Number
    gives: Literal["eta_squared", "p"]
    f: Figure
    df1: Count
    df2: Count


class MeanOf(Claim):
    """The mean of printed parts. shares_of: the parts are percentages of so many."""

    check: Literal["mean_of"]
    published: Number
    parts: list[Figure] = Field(min_length=1)
    shares_of: Count | None = None


class IntervalResampled(Claim, FromData):
    """A percentile bootstrap interval of a correlation. seed: only where the source states it."""

    check: Literal["interval_resampled"]
    published: Pair
    method: Literal["pearson", "spearman"]
    columns: list[ColumnField] = Field(min_length=2, max_length=2)
    level: float = Field(default=0.95, gt=0, lt=1)
    resamples: int = Field(default=10_000, ge=100, le=1_000_000, strict=True)
    seed: int | None = Field(default=None, ge=0, strict=True)


class Granularity(Claim):
    """A percentage, or a mean of whole numbers, of n."""

    check: Literal["granularity"]
    published: Figure
    n: Count
    percent: bool = False


class MomentBound(Claim):
    """A variance of ratings. raters: how many, if stated; mean: the range of their means."""

    check: Literal["moment_bound"]
    published: Number
    raters: Several | None = None
    scale: Scale = UNIT_SCALE
    mean: Pair | None = None

    @model_validator(mode="after")
    def _means_are_on_the_scale(self) -> MomentBound:
        ends = [end.value for end in (*self.scale, *(self.mean or []))]
        if min(ends) < self.scale[0].value or max(ends) > self.scale[1].value:
            raise ValueError("mean: it is outside the scale")
        return self


class DispersionPair(Claim):
    """A mean variance of three ratings beside their mean absolute deviation."""

    check: Literal["dispersion_pair"]
    published: Number
    deviation: Figure
    scale: Scale = UNIT_SCALE


class LabelRule(Claim):
    """A label of a value. above: what each label's value exceeds; otherwise: the label below."""

    check: Literal["label_rule"]
    published: Text
    value: Figure
    above: dict[Text, Figure] = {}
    otherwise: str = ""

    @model_validator(mode="after")
    def _every_value_has_a_label(self) -> LabelRule:
        if bool(self.above) != bool(self.otherwise):
            raise ValueError("above and otherwise go together")
        return self


class Interval(Claim):
    """The interval of k of n, or its half-width. method: only where the source states it."""

    check: Literal["interval"]
    published: Annotated[Printed | list[Printed], PlainValidator(number_or_pair)]
    k: Annotated[int, Field(ge=0, strict=True)]
    n: Count
    level: float = Field(default=0.95, gt=0, lt=1)
    method: Literal["Wilson", "Wald", "Clopper-Pearson"] | None = None
    percent: bool = False

    @model_validator(mode="after")
    def _is_a_share(self) -> Interval:
        if self.k > self.n:
            raise ValueError(f"{self.k} of {self.n} is no share")
        return self


class Arithmetic(Claim):
    """What an expression of printed counts comes to: + - * / and brackets."""

    check: Literal["arithmetic"]
    published: Number
    expression: Annotated[Expression, PlainValidator(expression)]


class Direction(Claim):
    """A sentence that more of x goes with more ("positive") or less ("negative") of y.

    x, y: what the sentence names. higher_x, higher_y: whether a higher value of the variable that
    was correlated means more of it, or less.
    """

    check: Literal["direction"]
    published: Literal["positive", "negative"]
    coefficient: Coefficient
    x: Text
    y: Text
    higher_x: Literal["more", "less"] = "more"
    higher_y: Literal["more", "less"] = "more"


class DispersionLabel(Claim, FromData):
    """A mean variance or SD, to be told from the other, by the ratings or by their scale.

    columns: the one with the ratings; per: what names an item. raters: how many rate an item.
    """

    check: Literal["dispersion_label"]
    published: Number
    label: Literal["variance", "sd"]
    raters: Several | None = None
    scale: Scale = UNIT_SCALE
    ddof: Literal[0, 1] | None = None

    @model_validator(mode="after")
    def _ratings_have_items(self) -> DispersionLabel:
        if self.columns and not (len(self.columns) == 1 and self.per):
            raise ValueError("give one column of ratings, and per: which columns name an item")
        return self


class Restated(Claim):
    """A figure that is printed elsewhere too. elsewhere: by place."""

    check: Literal["restated"]
    published: Text
    elsewhere: dict[Text, Text] = Field(min_length=1)


KINDS: dict[str, type[Claim]] = {
    "value": Value,
    "p_value": PValue,
    "attainable": Attainable,
    "partial_p": PartialP,
    "effect_size": EffectSize,
    "mean_of": MeanOf,
    "interval_resampled": IntervalResampled,
    "granularity": Granularity,
    "moment_bound": MomentBound,
    "dispersion_pair": DispersionPair,
    "label_rule": LabelRule,
    "interval": Interval,
    "arithmetic": Arithmetic,
    "direction": Direction,
    "dispersion_label": DispersionLabel,
    "restated": Restated,
}


class Kind(Strict):
    """The name of a claim's check."""

    check: Literal[tuple(KINDS)]  # type: ignore[valid-type]


def _claim(entry: Any) -> Claim:
    """Read a claim by the form of its check; what is wrong keeps its place in the file."""
    if not isinstance(entry, dict):
        raise ValueError("a claim is a table: [claim.NAME]")
    kind = Kind.model_validate({key: entry[key] for key in entry if key == "check"})
    return KINDS[kind.check].model_validate(entry)


class ClaimsFile(Strict):
    """A whole claims file.

    source: what is audited, so that it can be found. data: a CSV beside this file; study: a study
    whose results.json is the data; --data goes before both. rounded: the columns of the data that
    are themselves printed, and so stand for a range.
    """

    title: Text
    source: Text
    data: str = ""
    study: str = ""
    rounded: list[Text] = []
    claim: dict[Name, Annotated[Claim, PlainValidator(_claim)]] = Field(min_length=1)


def read_claims(path: Path) -> ClaimsFile:
    """Read a claims file; raises UsageError with the file, the line and what is wrong."""
    return parsed(path, ClaimsFile)
