"""What missing verdicts could change at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.results.shared import Value


class Bound(NamedTuple):
    """A number as found, and its least and greatest value whatever the missing verdicts are."""

    place: str
    measure: str
    found: Value
    low: Value
    high: Value


class Bounds(NamedTuple):
    """The bounds of a study's numbers; about: how they were computed, for people."""

    bounds: Sequence[Bound]
    about: str = ""
