"""The parts that claims are written of: numbers as printed, scales, columns of the data."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from harness.audit.printed import Printed, coefficient, figure, printed
from harness.forms import Strict

Number = Annotated[Printed, PlainValidator(printed)]
Figure = Annotated[Printed, PlainValidator(figure)]
Coefficient = Annotated[Printed, PlainValidator(coefficient)]
MOST = 10**12  # no study counts more, and a float holds it exactly
Count = Annotated[int, Field(ge=1, le=MOST, strict=True)]
Several = Annotated[int, Field(ge=2, le=MOST, strict=True)]
Text = Annotated[str, Field(min_length=1)]
Where = dict[str, str]


def _ordered(pair: list[Printed]) -> list[Printed]:
    if pair[0].value > pair[1].value:
        raise ValueError("the lower end comes first")
    return pair


def _wide(scale: list[Printed]) -> list[Printed]:
    if scale[0].value >= scale[1].value:
        raise ValueError("the lower end of the scale comes first")
    return scale


Pair = Annotated[list[Figure], Field(min_length=2, max_length=2), AfterValidator(_ordered)]
Scale = Annotated[Pair, AfterValidator(_wide)]
UNIT_SCALE = [printed("0"), printed("1")]


def number_or_null(text: object) -> Printed | None:
    """Read a number as printed, or the word null."""
    return None if text == "null" else printed(text)


def number_or_pair(entry: object) -> Printed | list[Printed]:
    """Read a number as printed, or the two ends of an interval."""
    if not isinstance(entry, list):
        return printed(entry)
    if len(entry) != 2:
        raise ValueError("an interval has two ends")
    return _ordered([figure(end) for end in entry])


class Column(Strict):
    """A column of the data: its numbers, where some other columns have these texts.

    minus: take off the number of the same unit where the other columns have these texts instead.
    """

    of: Text
    where: Where = {}
    minus: Where = {}
    log10: bool = False


def _column(entry: object) -> Column:
    return Column.model_validate({"of": entry} if isinstance(entry, str) else entry)


ColumnField = Annotated[Column, PlainValidator(_column)]


class FromData(Strict):
    """Which numbers of the data a claim is about: one for each unit in each column.

    where, without: keep the rows that have, and leave out those that have, these texts. per: the
    columns that name a unit, whose rows are averaged; without it each row is a unit. n: how many
    units the source says there are.
    """

    columns: list[ColumnField] = []
    where: Where = {}
    without: Where = {}
    per: list[Text] = []
    n: Count | None = None

    @model_validator(mode="after")
    def _a_difference_has_units(self) -> FromData:
        if any(column.minus for column in self.columns) and not self.per:
            raise ValueError("minus needs per: which columns name a unit")
        return self
