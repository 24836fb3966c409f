"""A claims file: what a source prints, where, and how each figure can be checked.

Numbers stand in quotes, as printed, since "0.50" says more than 0.5. A claim never says what the
verdict should be.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PlainValidator

from harness.audit.checks import CHECKS
from harness.audit.claim import Claim
from harness.audit.fields import Text
from harness.forms import Name, Strict, parsed


class CheckName(Strict):
    """The name of a claim's check."""

    check: Literal[tuple(CHECKS)]  # type: ignore[valid-type]


def _claim(entry: object) -> Claim:
    """Read a claim by the form of its check; what is wrong keeps its place in the file."""
    if not isinstance(entry, dict):
        raise ValueError("a claim is a table: [claim.NAME]")
    name = CheckName.model_validate({key: entry[key] for key in entry if key == "check"})
    return CHECKS[name.check].form.model_validate(entry)


class ClaimsFile(Strict):
    """A whole claims file.

    source: what is audited, so that it can be found. data: a CSV beside this file; study: a study
    whose results.json is the data; --data goes before both. other_source: the document that the
    data are from, where that is not the source. rounding: how the source rounds, only where it
    says so. rounded: the columns of the data that are
    themselves printed, and so stand for a range.
    """

    title: Text
    source: Text
    data: str = ""
    study: str = ""
    other_source: str = ""
    rounding: Literal["to the nearest", "cut off"] | None = None
    rounded: list[Text] = []
    claim: dict[Name, Annotated[Claim, PlainValidator(_claim)]] = Field(min_length=1)


def read_claims(path: Path) -> ClaimsFile:
    """Read a claims file; raises UsageError with the file, the line and what is wrong."""
    return parsed(path, ClaimsFile)
