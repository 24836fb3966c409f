"""The figures of a DDFT study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from harness.page.figure import Figure, Guide, PlotAxis, Point, Series, Zone
from harness.protocols.ddft.analysis.schema import Correlation, SubjectProfile
from harness.protocols.ddft.analysis.schema_inference import interval_of_all_sides
from harness.protocols.ddft.page.level_intervals import LevelMean, level_intervals
from harness.results import Interval, Results, SubjectMetrics, Value
from harness.results.digits import between, decimal

TRAP_TURN = 4
LEVEL = PlotAxis("level c (share of the text cut away)", 0, 1)


def figures(results: Results, seed: int) -> list[Figure]:
    """Return every figure, those without a point too; seed: of the resamples of the intervals."""
    arm = results.analysis.arm
    intervals = level_intervals([cell for cell in results.cells if cell.cell.arm == arm], seed)
    return [
        _degradation(results, "far", intervals),
        _degradation(results, "sas", intervals),
        _variance_by_turn(results),
        _danger_zone(results),
        _trap_and_ci(results),
    ]


def analysed(results: Results) -> list[SubjectMetrics]:
    """Return the subjects in the arm that the analysis is about."""
    return [subject for subject in results.subjects if subject.arm == results.analysis.arm]


def _degradation(results: Results, scale: str, intervals: Mapping[LevelMean, Interval]) -> Figure:
    series = [
        Series(
            subject.subject,
            [
                Point(
                    level.level,
                    getattr(level, scale),
                    intervals.get(LevelMean(subject.subject, level.level, scale)),
                )
                for level in subject.levels
            ],
        )
        for subject in analysed(results)
    ]
    theta = results.rules["theta"]
    guides = [Guide(theta, f"theta = {theta:g}")] if scale == "far" else []
    caption = {
        "far": "Mean FAR at each level, over concepts and turns: how accuracy falls as the text is "
        "cut away. HOC is the largest level at or above the dashed line.",
        "sas": "Mean SAS at each level: how form holds. CRI is the area under it.",
    }
    bands = "Bands: pointwise 95% intervals over whole concepts, where there are four or more."
    return Figure(
        f"degradation-{scale}",
        f"{scale.upper()} as the text is cut away",
        f"{caption[scale]} {bands}",
        "curves",
        "subject",
        LEVEL,
        PlotAxis(f"mean {scale.upper()}", 0, 1),
        series,
        guides,
    )


def _variance_by_turn(results: Results) -> Figure:
    turns = results.analysis.turns
    points = [Point(place, turn.far_variance) for place, turn in enumerate(turns)]
    return Figure(
        "far-variance",
        "Variance of FAR by turn",
        "Over all answers of subjects with a complete grid (ddof 1). Turn 4 is the trap.",
        "bars",
        "answers",
        PlotAxis("turn", names=[f"turn {turn.turn}" for turn in turns]),
        PlotAxis("variance of FAR", 0),
        [Series("all subjects", points)],
    )


def _danger_zone(results: Results) -> Figure:
    above, below = results.rules["sas_above"], results.rules["far_below"]
    return Figure(
        "danger-zone",
        "Fluent and wrong: the danger zone",
        "Every judged answer by the jury's means; the larger the area of a dot, the more answers "
        f"(n) lie there. Shaded: SAS > {above:g} and FAR < {below:g}.",
        "cloud",
        "subject",
        PlotAxis("SAS, form", 0, 1),
        PlotAxis("FAR, accuracy", 0, 1),
        [
            Series(subject.subject, list(_answers(results, subject.subject)))
            for subject in analysed(results)
        ],
        zone=Zone(above, 0, 1, below),
    )


def _answers(results: Results, subject: str) -> Iterator[Point]:
    """Yield each place where answers of a subject lie, with how many there are."""
    counts: Counter[tuple[float, float]] = Counter()
    for cell in results.cells:
        if (cell.cell.arm, cell.cell.subject) == (results.analysis.arm, subject):
            counts.update(
                (round(turn.sas, 9), round(turn.far, 9))
                for turn in cell.turns
                if turn.sas is not None and turn.far is not None
            )
    for (sas, far), count in sorted(counts.items()):
        yield Point(sas, Value(far, count))


def _trap_and_ci(results: Results) -> Figure:
    values = {subject.subject: subject.ci_raw for subject in analysed(results)}
    inferred = results.analysis.inference.subjects
    bars = {subject.subject: interval_of_all_sides(subject) for subject in inferred}
    series = [
        Series(profile.subject, list(_at_trap(profile, values[profile.subject], bars)))
        for profile in results.analysis.profiles
    ]
    rho = results.analysis.correlations.turns[TRAP_TURN - 1]
    interval = results.analysis.inference.interval_of(rho.name)
    return Figure(
        "trap-and-ci",
        "Turn-4 FAR against raw CI",
        f"{_correlation(rho, interval)} Bars: 95% intervals of CI.",
        "dots",
        "subject",
        PlotAxis("mean FAR in turn 4, the trap", 0, 1),
        PlotAxis("CI, raw"),
        series,
    )


def _at_trap(profile: SubjectProfile, ci: Value, bars: Mapping[str, Interval]) -> Iterator[Point]:
    far = profile.turns[TRAP_TURN - 1].value if len(profile.turns) >= TRAP_TURN else None
    if far is not None:
        yield Point(far, ci, bars.get(profile.subject))


def _correlation(rho: Correlation, interval: Interval) -> str:
    value = rho.coefficient
    if value.value is None:
        return f"Spearman's rho is undefined: {value.reason}."
    return f"Spearman's rho {decimal(value.value)} {between(interval)} (n={value.n})."
