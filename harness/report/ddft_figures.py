"""The figures of a DDFT study, each with the table of the numbers it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from harness.report.digits import Notes, between, decimal
from harness.report.figure import Axis, Figure, Guide, Point, Series, Zone
from harness.report.section import Drawn, Grid, numbers
from harness.results import Results, SubjectMetrics, Value

TRAP_TURN = 4
LEVEL = Axis("level c (share of the text cut away)", 0, 1)


def figures(found: Results) -> list[Drawn]:
    """Give every figure, those without a point too."""
    return [
        _degradation(found, "far"),
        _degradation(found, "sas"),
        _variance_by_turn(found),
        _danger_zone(found),
        _trap_and_ci(found),
    ]


def analysed(found: Results) -> list[SubjectMetrics]:
    """Give the subjects in the arm that the analysis is about."""
    return [part for part in found.subjects if part.arm == found.analysis.arm]


def _degradation(found: Results, scale: str) -> Drawn:
    series = [
        Series(part.subject, [Point(at.level, getattr(at, scale)) for at in part.levels])
        for part in analysed(found)
    ]
    theta = found.rules["theta"]
    guides = [Guide(theta, f"theta = {theta:g}")] if scale == "far" else []
    caption = {
        "far": "Mean FAR at each level, over concepts and turns: how accuracy falls as the text is "
        "cut away. HOC is the largest level at or above the dashed line.",
        "sas": "Mean SAS at each level: how form holds. CRI is the area under it.",
    }
    figure = Figure(
        f"degradation-{scale}",
        f"{scale.upper()} as the text is cut away",
        caption[scale],
        "curves",
        "subject",
        LEVEL,
        Axis(f"mean {scale.upper()}", 0, 1),
        series,
        guides,
    )
    return Drawn(figure, numbers(figure))


def _variance_by_turn(found: Results) -> Drawn:
    turns = found.analysis.turns
    names = [f"turn {part.turn}" for part in turns]
    points = [Point(place, part.far_variance) for place, part in enumerate(turns)]
    figure = Figure(
        "far-variance",
        "Variance of FAR by turn",
        "Over all responses of subjects with a complete grid (ddof 1). Turn 4 is the trap.",
        "bars",
        "responses",
        Axis("turn", names=names),
        Axis("variance of FAR", 0),
        [Series("all subjects", points)],
    )
    notes = Notes()
    rows = [
        [str(part.turn), *map(notes.number, (part.far, part.sas, part.far_variance)),
         notes.bare(part.ratio_to_turn_1)]
        for part in turns
    ]  # fmt: skip
    columns = ("turn", "mean FAR", "mean SAS", "variance of FAR", "its ratio to turn 1's")
    return Drawn(figure, Grid("The numbers", columns, rows, notes=notes.said, folded=True))


def _danger_zone(found: Results) -> Drawn:
    above, below = found.rules["sas_above"], found.rules["far_below"]
    figure = Figure(
        "danger-zone",
        "Fluent and wrong: the danger zone",
        f"Every judged response by the jury's means; the larger the dot, the more responses lie "
        f"there. Shaded: SAS > {above:g} and FAR < {below:g}.",
        "cloud",
        "responses",
        Axis("SAS, form", 0, 1),
        Axis("FAR, accuracy", 0, 1),
        [Series("all subjects", list(_responses(found)))],
        zone=Zone(above, 0, 1, below),
    )
    notes = Notes()
    rows = [[part.subject, notes.number(part.danger_zone)] for part in analysed(found)]
    rows += [
        [f"mean of the {part.phenotype} subjects", notes.number(part.danger_zone)]
        for part in found.analysis.danger_by_phenotype
    ]
    columns = ("subject", "share of responses in the zone")
    return Drawn(figure, Grid("The numbers", columns, rows, notes=notes.said, folded=True))


def _responses(found: Results) -> Iterator[Point]:
    """Give each place where responses lie, with how many there are."""
    lying: Counter[tuple[float, float]] = Counter()
    for cell in found.cells:
        if cell.cell.arm == found.analysis.arm:
            lying.update(
                (round(turn.sas, 9), round(turn.far, 9))
                for turn in cell.turns
                if turn.sas is not None and turn.far is not None
            )
    for (sas, far), count in sorted(lying.items()):
        yield Point(sas, Value(far, count))


def _trap_and_ci(found: Results) -> Drawn:
    profiles = found.analysis.profiles
    values = {part.subject: part.ci_raw for part in analysed(found)}
    series = [Series(part.subject, list(_at_trap(part, values[part.subject]))) for part in profiles]
    rho = found.analysis.correlations.turns[TRAP_TURN - 1]
    figure = Figure(
        "trap-and-ci",
        "Turn-4 FAR against raw CI",
        f"{_correlation(rho)} Bars: 95% intervals of CI.",
        "dots",
        "subject",
        Axis("mean FAR in turn 4, the trap", 0, 1),
        Axis("CI, raw"),
        series,
    )
    return Drawn(figure, _trap_numbers(profiles, values))


def _at_trap(profile: Any, ci: Value) -> Iterator[Point]:
    at = profile.turns[TRAP_TURN - 1].value if len(profile.turns) >= TRAP_TURN else None
    if at is not None:
        yield Point(at, ci, profile.ci_raw.interval)


def _correlation(rho: Any) -> str:
    value = rho.coefficient
    if value.value is None:
        return f"Spearman's rho is undefined: {value.reason}."
    around = between(rho.bootstrap.interval)
    return f"Spearman's rho {decimal(value.value)} {around} (n={value.n})."


def _trap_numbers(profiles: Sequence[Any], values: dict[str, Value]) -> Grid:
    notes, rows = Notes(), []
    for part in profiles:
        turn = part.turns[TRAP_TURN - 1] if len(part.turns) >= TRAP_TURN else None
        shown = notes.number(turn) if turn else notes.null("incomplete")
        ci = values[part.subject]
        rows.append([part.subject, shown, notes.number(ci), notes.bootstrap(part.ci_raw)])
    columns = ("subject", "turn-4 FAR", "CI, raw", "95% interval")
    return Grid("The numbers", columns, rows, notes=notes.said, folded=True)
