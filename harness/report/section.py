"""What a page is put together from: sections of tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.report.digits import Notes
from harness.report.figure import Figure


class Grid(NamedTuple):
    """A table: what it is about, columns, rows, and notes on its cells.

    folded: whether it is shown only when asked for.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    about: str = ""
    notes: Sequence[str] = ()
    folded: bool = False
    kind: str = "grid"


class Drawn(NamedTuple):
    """A figure, and the numbers it shows."""

    figure: Figure
    numbers: Grid
    kind: str = "figure"


class Section(NamedTuple):
    """One part of a study's page; `about` is a sentence or two under its title."""

    slug: str
    title: str
    about: str
    parts: Sequence[Grid | Drawn]


def figures_section(whole: Sequence[Drawn]) -> Section:
    """Give the figures that have a point to show, and name those that have none."""
    empty = [one.figure.title for one in whole if one.figure.is_empty]
    about = f"Not drawn, for want of a value: {'; '.join(empty)}." if empty else ""
    shown = [one for one in whole if not one.figure.is_empty]
    return Section("figures", "Figures", about, shown)


def numbers(figure: Figure, columns: Sequence[str] = ()) -> Grid:
    """Give the table of a figure's points: series, x, y, interval, n."""
    notes, rows = Notes(), []
    for series in figure.series:
        for point in series.points:
            around = point.around
            shown = [series.name, figure.x.shown(point.x), notes.number(point.y)]
            rows.append([*shown, *([notes.interval(around)] if around else [""])])
    heads = columns or (figure.each, figure.x.label, figure.y.label, "95% interval")
    if not any(row[3] for row in rows):
        heads, rows = heads[:3], [row[:3] for row in rows]
    return Grid("The numbers", heads, rows, notes=notes.said, folded=True)
