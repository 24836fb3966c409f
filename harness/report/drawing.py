"""Figures drawn: SVG that takes its colours from the page, and PNG.

The same figure gives the same bytes: no date, no random ids, no state shared with others.
"""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle
from matplotlib.style import context
from matplotlib.ticker import MaxNLocator

from harness.page.figure import Figure, PlotAxis, Point
from harness.report.palette import FAINT, INK, PAPER, RULE, SERIES, TONES, ZONE, series_tone

INCHES = (5.4, 3.5)
DOTS_PER_INCH = 200
MARKERS = "osD^vPX"
DASHES = ("-", "--", "-.", ":")
GROUP = 0.7  # how much of a named place on the axis its series take
LONGEST_NAME = 30
LEGEND_LETTERS = 52  # that fit into a row of the legend
LARGEST_DOT = 200.0  # points squared
AIR = 0.05  # of an axis' range, beyond each of its ends
UNWANTED = ("metadata", "style")
COLOURS = {tone.light: tone.variable for tone in TONES}
SETTINGS: dict[Any, Any] = {  # on top of matplotlib's own, whatever the user has set
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 11,
    "text.color": INK.light,
    "text.parse_math": False,
    "axes.labelcolor": INK.light,
    "axes.edgecolor": RULE.light,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": FAINT.light,
    "ytick.color": FAINT.light,
    "grid.color": RULE.light,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 10,
}


def svg(figure: Figure) -> str:
    """Draw a figure as an SVG element to be put into a page; its colours are CSS variables."""
    out = io.StringIO()
    with context(["default", SETTINGS, {"svg.hashsalt": figure.name}]):
        canvas = _drawn(figure)
        canvas.savefig(
            out, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None}
        )
    return _embedded(out.getvalue(), figure.title)


def png(figure: Figure) -> bytes:
    """Draw a figure as PNG, with its title, in the light colours."""
    out = io.BytesIO()
    with context(["default", SETTINGS]):
        canvas = _drawn(figure)
        canvas.axes[0].set_title(figure.title, fontsize=12)
        canvas.savefig(
            out,
            format="png",
            dpi=DOTS_PER_INCH,
            facecolor=PAPER.light,
            bbox_inches="tight",
            metadata={"Software": None},
        )
    return out.getvalue()


def _drawn(figure: Figure) -> Canvas:
    canvas = Canvas(figsize=INCHES)
    axes = canvas.add_subplot()
    axes.grid(True, axis="y")
    kinds = {"curves": _curve, "dots": _dots, "bars": _bars, "cloud": _cloud}
    for place in range(len(figure.series)):
        kinds[figure.kind](axes, figure, place)
    _mark_zone(axes, figure)
    _draw_guides(axes, figure)
    _lay_out(axes, figure)
    return canvas


def _defined(figure: Figure, place: int) -> list[tuple[Point, float]]:
    """Return the points of a series that are defined, each with its y."""
    points = figure.series[place].points
    return [(point, point.y.value) for point in points if point.y.value is not None]


def _shift(figure: Figure, place: int) -> float:
    """Return how far a series stands from the middle of a named place, beside the others."""
    count = len(figure.series)
    return (place - (count - 1) / 2) * GROUP / count if figure.x.names else 0.0


def _aside(figure: Figure, place: int) -> float:
    """Return how far a curve stands aside where all have one point: equal ones would be one dot."""
    if any(len(_defined(figure, beside)) > 1 for beside in range(len(figure.series))):
        return 0.0
    return (place - (len(figure.series) - 1) / 2) * 0.04


def _curve(axes: Axes, figure: Figure, place: int) -> None:
    defined, colour = _defined(figure, place), series_tone(place).light
    shift = _aside(figure, place)
    banded = [(p.x, p.around.low, p.around.high) for p, _ in defined if p.around]
    bounded = [(x, low, high) for x, low, high in banded if low is not None and high is not None]
    if len(bounded) == 1:  # a band of one point has no width
        _whiskers(axes, defined, shift, colour)
    elif bounded:
        xs, lows, highs = zip(*bounded, strict=True)
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.13, linewidth=0)
    axes.plot(
        [point.x + shift for point, _ in defined],
        [y for _, y in defined],
        color=colour,
        marker=MARKERS[place % len(MARKERS)],
        markersize=4.5,
        linewidth=1.6,
        linestyle=DASHES[place // len(SERIES) % len(DASHES)],
        label=_short(figure.series[place].name),
    )


def _dots(axes: Axes, figure: Figure, place: int) -> None:
    defined, colour = _defined(figure, place), series_tone(place).light
    shift = _shift(figure, place)
    _whiskers(axes, defined, shift, colour)
    axes.plot(
        [point.x + shift for point, _ in defined],
        [y for _, y in defined],
        color=colour,
        marker=MARKERS[place % len(MARKERS)],
        markersize=6,
        linestyle="none",
        label=_short(figure.series[place].name),
    )


def _bars(axes: Axes, figure: Figure, place: int) -> None:
    defined, colour = _defined(figure, place), series_tone(place).light
    shift = _shift(figure, place)
    axes.bar(
        [point.x + shift for point, _ in defined],
        [y for _, y in defined],
        width=GROUP / len(figure.series) * 0.9,
        color=colour,
        label=_short(figure.series[place].name),
    )
    _whiskers(axes, defined, shift, INK.light)


def _cloud(axes: Axes, figure: Figure, place: int) -> None:
    defined = _defined(figure, place)
    every = (point for place in range(len(figure.series)) for point, _ in _defined(figure, place))
    largest_n = max((point.y.n for point in every), default=1)
    axes.scatter(
        [point.x for point, _ in defined],
        [y for _, y in defined],
        s=[LARGEST_DOT * max(0.04, point.y.n / largest_n) for point, _ in defined],
        facecolors="none" if place else series_tone(place).light,
        edgecolors=series_tone(place).light,
        marker=MARKERS[place % len(MARKERS)],
        alpha=0.7,
        linewidths=1.4 if place else 0,
        clip_on=False,
        label=_short(figure.series[place].name),
    )


def _whiskers(axes: Axes, defined: list[tuple[Point, float]], shift: float, colour: str) -> None:
    for point, _ in defined:
        around = point.around
        if around and around.low is not None and around.high is not None:
            axes.vlines(point.x + shift, around.low, around.high, color=colour, linewidth=1.2)


def _mark_zone(axes: Axes, figure: Figure) -> None:
    if figure.zone:
        left, bottom, right, top = figure.zone
        size = (right - left, top - bottom)
        axes.add_patch(Rectangle((left, bottom), *size, color=ZONE.light, zorder=0.1))


def _draw_guides(axes: Axes, figure: Figure) -> None:
    for guide in figure.guides:
        axes.axhline(guide.at, color=FAINT.light, linewidth=1, linestyle=(0, (4, 3)))
        axes.annotate(
            guide.meaning,
            (1, guide.at),
            xycoords=("axes fraction", "data"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="right",
            color=FAINT.light,
            fontsize=9,
        )


def _lay_out(axes: Axes, figure: Figure) -> None:
    axes.set_xlabel(figure.x.label)
    axes.set_ylabel(figure.y.label)
    _scale(axes, figure.x)
    axes.set_ylim(*_padded(figure.y))
    if len(figure.series) > 1:
        longest = max(len(_short(series.name)) for series in figure.series) + 6
        axes.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, -0.19),
            ncols=max(1, min(len(figure.series), LEGEND_LETTERS // longest)),
            handlelength=2.6,
            columnspacing=1.2,
        )


def _scale(axes: Axes, x: PlotAxis) -> None:
    if x.names:
        axes.set_xticks(range(len(x.names)), [_short(name, 16) for name in x.names])
        axes.set_xlim(-0.5, len(x.names) - 0.5)
    else:
        axes.set_xlim(*_padded(x))
    if x.is_whole:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _padded(axis: PlotAxis) -> tuple[float | None, float | None]:
    """Return an axis' range with a little air, so that what lies on its ends is seen whole."""
    if axis.low is None or axis.high is None:
        return axis.low, axis.high
    air = (axis.high - axis.low) * AIR
    return axis.low - air, axis.high + air


def _short(name: str, longest: int = LONGEST_NAME) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _embedded(file: str, title: str) -> str:
    """Make an SVG file a part of a page: presentation attributes, no style, no metadata."""
    root = ElementTree.fromstring(file)
    for parent in list(root.iter()):
        for child in [element for element in parent if _local(element.tag) in UNWANTED]:
            parent.remove(child)
    referred = set(re.findall(r"#(\w+)", file))
    for element in root.iter():
        element.tag, attributes = _local(element.tag), element.attrib
        element.attrib = {
            name: COLOURS.get(value, value)
            for name, value in _attributes(attributes).items()
            if name != "id" or value in referred
        }
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": title}
    return ElementTree.tostring(root, encoding="unicode")


def _attributes(attributes: dict[str, str]) -> dict[str, str]:
    """Say a style as presentation attributes, which a strict page allows; fonts are the page's."""
    plain = {_local(name): value for name, value in attributes.items()}
    declarations = (
        declaration.partition(":")
        for declaration in plain.pop("style", "").split(";")
        if declaration.strip()
    )
    styled = {name.strip(): value.strip() for name, _, value in declarations}
    if font := styled.pop("font", ""):
        styled["font-size"] = font.split()[0]
    if plain.get("transform", "").startswith("rotate(-0 "):
        del plain["transform"]
    return {**plain, **styled}


def _local(name: str) -> str:
    return name.rpartition("}")[2]
