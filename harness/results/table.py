"""A table as a protocol hands it over, for whoever shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Table(NamedTuple):
    """A title, the columns' names, and rows of as many texts."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
