"""What a protocol brings to a study's page beside its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.page.browser import Browser
from harness.page.figure import Figure
from harness.results import Interval, Value
from harness.results.glossary import Term
from harness.results.table import EstimatedValue, Table, TableCell, TableColumn, columns


class Section(NamedTuple):
    """A section of a page: tables name it by its slug; about: a sentence or two below the title."""

    slug: str
    title: str
    about: str = ""


class ProtocolPage(NamedTuple):
    """What a protocol brings.

    reference: its name, and where it was published. sections: in their order; a table that names
    none of them is in the first; the figures follow that. limits: what a study by this protocol
    does not prove, a sentence or two each. glossary: its words.
    """

    browser: Browser
    reference: str
    sections: Sequence[Section] = (Section("results", "Results"),)
    figures: Sequence[Figure] = ()
    limits: Sequence[str] = ()
    glossary: Sequence[Term] = ()


def figure_table(figure: Figure) -> Table:
    """Return the points of a figure: series, x, y, and the interval around y where any has one."""
    has_intervals = any(point.around for series in figure.series for point in series.points)
    y = TableColumn(figure.y.label, EstimatedValue if has_intervals else Value, key="y")
    rows: list[list[TableCell]] = [
        [series.name, figure.x.words(point.x), _estimate(point.y, point.around)]
        for series in figure.series
        for point in series.points
    ]
    names = columns(figure.series_are, TableColumn(figure.x.label, key="x"), y)
    return Table("The numbers", names, rows, is_folded=True)


def _estimate(y: Value, interval: Interval | None) -> Value | EstimatedValue:
    return EstimatedValue(y, interval) if interval else y
