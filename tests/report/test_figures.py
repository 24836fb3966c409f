"""Figures show the results' own numbers, and are drawn where the numbers say."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

import pytest
import synthetic
from depthcharge import finished_runs
from depthcharge.simulated_runs import independent

from harness.page.figure import Figure, Guide, PlotAxis, Point, Series, Zone
from harness.page.page import figure_table
from harness.protocols.ddft.analysis.schema_inference import interval_of_all_sides
from harness.protocols.ddft.metrics.scoring import score_study
from harness.protocols.ddft.page.figures import figures as figures_of_dialogues
from harness.protocols.ddft.page.level_intervals import UNEVEN, LevelMean, level_intervals
from harness.protocols.depthcharge.metrics.bands import Band
from harness.protocols.depthcharge.page.figures import figures as figures_of_runs
from harness.report.drawing import png, svg
from harness.report.page import FigureWithNumbers, drawn_figures
from harness.report.palette import TONES
from harness.results import DrillResults, Interval, Results, Value
from harness.results.text_table import text_table

XY = re.compile(r"[ML] ([\d.]+) ([\d.]+)")


@pytest.fixture(scope="module")
def results() -> Results:
    study = synthetic.study(subjects=5, concepts=3)
    results = score_study("made", 1, study.cells, study.planned, study.rules)
    results.analysis = study.analysis()
    return results


def named(results: Results, name: str) -> Figure:
    (figure,) = [figure for figure in figures_of_dialogues(results, 42) if figure.name == name]
    return figure


@pytest.mark.parametrize("scale", ["far", "sas"])
def test_degradation_is_the_levels(results: Results, scale: str) -> None:
    """A curve a subject, a point a level, each the results' own value with its n."""
    figure = named(results, f"degradation-{scale}")
    for series, subject in zip(figure.series, results.subjects, strict=True):
        assert series.name == subject.subject
        points_drawn = [(point.x, point.y) for point in series.points]
        assert points_drawn == [(level.level, getattr(level, scale)) for level in subject.levels]
    assert len(figure_table(figure).rows) == sum(
        len(subject.levels) for subject in results.subjects
    )


def test_variance_is_the_turns(results: Results) -> None:
    """A bar a turn."""
    points = named(results, "far-variance").series[0].points
    assert [point.y for point in points] == [turn.far_variance for turn in results.analysis.turns]


def test_the_danger_zone_counts_every_response_once(results: Results) -> None:
    """All judged responses lie somewhere, and those in the zone are the subjects' shares."""
    figure = named(results, "danger-zone")
    points = [point for series in figure.series for point in series.points]
    zone = figure.zone
    assert zone is not None
    responses = sum(len(cell.turns) for cell in results.cells)
    assert sum(point.y.n for point in points) == responses
    inside = sum(
        point.y.n
        for point in points
        if point.x > zone.left and point.y.value is not None and point.y.value < zone.top
    )
    shares = [subject.danger_zone for subject in results.subjects]
    assert inside == round(math.fsum((share.value or 0) * share.n for share in shares))


def test_trap_and_ci_are_the_profiles(results: Results) -> None:
    """A point a subject: its turn-4 FAR, its raw CI with the interval over all its sides."""
    inferred = {subject.subject: subject for subject in results.analysis.inference.subjects}
    series = named(results, "trap-and-ci").series
    for series_of_subject, profile, subject in zip(
        series, results.analysis.profiles, results.subjects, strict=True
    ):
        (point,) = series_of_subject.points
        assert point.x == profile.turns[3].value
        assert point.y == subject.ci_raw
        assert point.around == interval_of_all_sides(inferred[profile.subject])


@pytest.fixture(scope="module")
def drilled() -> DrillResults:
    worlds = {"good": independent([0.9] * 15), "weak": independent([0.6] * 15)}
    return finished_runs.study(worlds, repeats=1)


def of_drill(results: DrillResults, name: str, bands: dict[str, Band] | None = None) -> Figure:
    (figure,) = [figure for figure in figures_of_runs(results, bands or {}) if figure.name == name]
    return figure


def test_survival_is_the_depths_with_their_bands(drilled: DrillResults) -> None:
    """A curve a target, a point a depth: S(d) as it is in the results, the band around it."""
    runs = [run for run in drilled.runs if run.cell.domain == "Medicine"]
    wide = {
        run.cell.name: Band([0.1] * len(run.depths), [0.9] * len(run.depths), None) for run in runs
    }
    figure = of_drill(drilled, "survival-medicine", wide)
    for series, run in zip(figure.series, runs, strict=True):
        assert series.name == run.cell.target
        points_drawn = [(point.x, point.y) for point in series.points]
        assert points_drawn == [(depth.depth, depth.survival) for depth in run.depths]
        assert {point.around for point in series.points} == {Interval(0.1, 0.9)}


def test_a_band_that_is_not_there_has_its_reason(drilled: DrillResults) -> None:
    """The numbers say why."""
    names = [run.cell.name for run in drilled.runs]
    none = {name: Band((), (), "fewer than 4 branches") for name in names}
    numbers = text_table(figure_table(of_drill(drilled, "survival-law", none)))
    assert list(numbers.notes) == ["fewer than 4 branches"]


def test_evd_by_domain_is_the_cells(drilled: DrillResults) -> None:
    """A point a cell, its interval the cell's."""
    figure = of_drill(drilled, "evd-by-domain")
    for cell in drilled.analysis.cells:
        (series,) = [candidate for candidate in figure.series if candidate.name == cell.target]
        (point,) = [p for p in series.points if figure.x.words(p.x) == cell.domain]
        assert (point.y, point.around) == (cell.evd, cell.two_way)


def test_accuracy_by_tier_is_the_targets(drilled: DrillResults) -> None:
    """A point a target and tier, the count over n as its share."""
    figure = of_drill(drilled, "accuracy-by-tier")
    for series, target in zip(figure.series, drilled.analysis.targets, strict=True):
        assert [point.y for point in series.points] == [tier.share for tier in target.tiers]
        assert all(
            p.around and p.around.low is not None and p.around.low <= (p.y.value or 0)
            for p in series.points
        )


def test_errors_by_type_are_shares_of_a_target_s_wrong_answers(drilled: DrillResults) -> None:
    """They sum to 1, and n is how many wrong answers the target has."""
    figure = of_drill(drilled, "errors-by-type")
    for series in figure.series:
        runs = [run for run in drilled.runs if run.cell.target == series.name]
        wrong = sum(depth.asked - depth.correct for run in runs for depth in run.depths)
        assert {point.y.n for point in series.points} == {wrong}
        assert math.isclose(math.fsum(point.y.value or 0 for point in series.points), 1)


def test_points_are_drawn_where_they_are() -> None:
    """On the page a point's place is a straight line's function of its numbers, on both axes."""
    xs, ys = (0.0, 0.25, 0.5, 1.0), (0.9, 0.4, 0.7, 0.1)
    points = [Point(x, Value(y, 5)) for x, y in zip(xs, ys, strict=True)]
    root = ElementTree.fromstring(svg(figure([Series("a", points)])))
    places = [
        [float(number) for number in pair]
        for path in root.iter("path")
        if path.get("stroke") == "var(--series-1)" and path.get("fill") == "none"
        for pair in XY.findall(path.get("d") or "")
    ]
    assert_straight(xs, [x for x, _ in places])
    assert_straight(ys, [y for _, y in places])
    assert places[0][1] < places[1][1]  # down is less


def assert_straight(numbers: Sequence[float], places: Sequence[float]) -> None:
    scale = (places[1] - places[0]) / (numbers[1] - numbers[0])
    assert len(places) == len(numbers)
    for number, place in zip(numbers, places, strict=True):
        assert math.isclose(place, places[0] + scale * (number - numbers[0]), abs_tol=1e-3)


def test_colours_are_the_page_s_and_names_are_text() -> None:
    """No colour of its own, no style, nothing outside; a name that looks like markup is a name."""
    wicked = "</text><script>x</script> $\\frac$ & \u202e"
    points = [Point(0.5, Value(0.5, 3), Interval(0.2, 0.8))]
    for kind in ("curves", "dots", "bars", "cloud"):
        curves = figure([Series(wicked, points), Series("b", points)], kind)
        text = svg(curves)
        root = ElementTree.fromstring(text)
        assert not [element for element in root.iter() if element.tag in ("style", "script")]
        assert not [element for element in root.iter() if "style" in element.attrib]
        assert not re.search(r'(fill|stroke)="#', text)
        assert not [tone for tone in TONES if tone.light in text]
        assert "http" not in text
        assert any("<script>x</script>"[:8] in (element.text or "") for element in root.iter())


def test_a_figure_is_always_the_same() -> None:
    """Drawn twice, both ways, with another figure between: the same bytes."""
    points = [Point(x / 4, Value(x / 5, 3), Interval(0, 1)) for x in range(5)]
    curves, bars = figure([Series("a", points)]), figure([Series("b", points)], "bars")
    first = svg(curves), png(curves)
    svg(bars)
    assert (svg(curves), png(curves)) == first


def test_an_undefined_point_is_in_the_numbers_and_not_drawn() -> None:
    """Its reason stands where its number would."""
    nothing = Value(None, 0, "no judgement")
    undefined_only = figure([Series("a", [Point(0.5, nothing)])])
    assert undefined_only.is_empty
    svg(undefined_only)
    defined = figure([Series("a", [Point(0.5, Value(1.0, 3))])])
    section = drawn_figures([undefined_only, defined])
    drawn = [
        content.figure for content in section.contents if isinstance(content, FigureWithNumbers)
    ]
    assert drawn == [defined]
    assert section.about == "Not drawn, for want of a value: A made-up figure."


def test_equal_single_points_stand_beside_each_other() -> None:
    """Runs that end at depth 1 with one S(1) are two dots, each with its interval, at depth 1."""
    point = Point(1.0, Value(0.1, 9), Interval(0.0, 0.4))
    side_by_side_figure = figure([Series(name, [point]) for name in "ab"])._replace(
        x=PlotAxis("depth d", 0.5, 1.5, is_whole=True)
    )
    root = ElementTree.fromstring(svg(side_by_side_figure))
    uses = [element for element in root.iter() if element.tag.endswith("use")]
    places = {(element.get("x"), element.get("y")) for element in uses}
    side_by_side = Counter(y for _, y in places)
    words = [(element.text or "").strip() for element in root.iter()]
    assert list(side_by_side.values()).count(2) == 2  # the dots, and their signs in the legend
    assert "1" in words
    assert not [word for word in words if word.startswith("0.9")]


def figure(series: Sequence[Series], kind: str = "curves") -> Figure:
    return Figure(
        "made",
        "A made-up figure",
        "",
        kind,
        "model",
        PlotAxis("x", 0, 1),
        PlotAxis("y", 0, 1),
        series,
        [Guide(0.7, "theta")],
        Zone(0.5, 0, 1, 0.5),
    )


def test_a_level_s_interval_resamples_whole_concepts() -> None:
    """Around the mean of five concepts; none of three; none where concepts count unlike."""
    study = synthetic.study(subjects=2, concepts=5)
    intervals = level_intervals(study.cells, 42)
    results = score_study("made", 1, study.cells, study.planned, study.rules)
    for subject in results.subjects:
        for level in subject.levels:
            interval = intervals[LevelMean(subject.subject, level.level, "far")]
            assert interval.low is not None
            assert interval.high is not None
            assert interval.low <= (level.far.value or 0) <= interval.high
    assert intervals == level_intervals(list(reversed(study.cells)), 42)
    few = level_intervals(synthetic.study(subjects=1, concepts=3).cells, 42)
    assert {interval.reason for interval in few.values()} == {"3 concepts, at least 4 are needed"}
    uneven = synthetic.study(subjects=1, concepts=5, missing=0.5, judges=1)
    assert UNEVEN in {interval.reason for interval in level_intervals(uneven.cells, 42).values()}
