"""A figure before it is drawn: its points with their n and intervals, its axes, its guides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.results import Interval, Value


class Point(NamedTuple):
    """A point; an undefined y is not drawn. In a cloud, n is how many responses lie there."""

    x: float
    y: Value
    around: Interval | None = None


class Series(NamedTuple):
    """The points of one model, or of all."""

    name: str
    points: Sequence[Point]


class PlotAxis(NamedTuple):
    """An axis: its label, its range (None: as the points have it), names in place of numbers.

    is_whole: whether only whole numbers are marked.
    """

    label: str
    low: float | None = None
    high: float | None = None
    names: Sequence[str] = ()
    is_whole: bool = False

    def words(self, place: float) -> str:
        """Return a place on the axis in words."""
        return self.names[round(place)] if self.names else f"{place:g}"


class Guide(NamedTuple):
    """A line across the figure at y = `at`, and what it means."""

    at: float
    meaning: str


class Zone(NamedTuple):
    """A shaded part of the figure: from x and y to x and y."""

    left: float
    bottom: float
    right: float
    top: float


class Figure(NamedTuple):
    """A figure.

    kind: "curves" (lines, with bands), "dots" (with intervals), "bars" (grouped, with intervals) or
    "cloud" (areas in proportion to n). series_are: what a series is, in
    one word.
    """

    name: str
    title: str
    caption: str
    kind: str
    series_are: str
    x: PlotAxis
    y: PlotAxis
    series: Sequence[Series]
    guides: Sequence[Guide] = ()
    zone: Zone | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether there is no point to draw."""
        return not any(
            point.y.value is not None for series in self.series for point in series.points
        )
