"""The figures of a drill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from harness.page.figure import Figure, Guide, PlotAxis, Point, Series
from harness.protocols.depthcharge.metrics.bands import Band
from harness.results import DrillResults, Interval, RunMetrics, Value
from harness.stats.proportions import wilson

NAMES = {
    "COMMON": "common",
    "TEXTBOOK": "textbook",
    "PROFESSIONAL": "professional",
    "SPECIALIST": "specialist",
    "CUTTING_EDGE": "cutting edge",
}


def figures(results: DrillResults, bands: Mapping[str, Band]) -> list[Figure]:
    """Return a survival figure for each domain, then the others, those without a point too."""
    domains = sorted({run.cell.domain for run in results.runs})
    survival = [_survival(results, domain, bands) for domain in domains]
    return [*survival, _evd(results, domains), _tiers(results), _errors(results)]


def _survival(results: DrillResults, domain: str, bands: Mapping[str, Band]) -> Figure:
    runs = [run for run in results.runs if run.cell.domain == domain]
    repeated = len({run.cell.repeat for run in runs}) > 1
    theta = results.rules["theta"]
    return Figure(
        f"survival-{domain.lower().replace(' ', '-')}",
        f"Survival in {domain}",
        "S(d), the share of questions that hold down to depth d, with pointwise 95% bands from "
        "resampled branches: where all answers are right, a resample shows no error. A run ends "
        "with its first S(d) below theta.",
        "curves",
        "run" if repeated else "target",
        PlotAxis("depth d", 0.5, max(len(run.depths) for run in runs) + 0.5, is_whole=True),
        PlotAxis("S(d)", 0, 1),
        [Series(_label(run, repeated), _curve(run, bands.get(run.cell.name))) for run in runs],
        [Guide(theta, f"theta = {theta:g}")],
    )


def _label(run: RunMetrics, repeated: bool) -> str:
    return f"{run.cell.target} (repeat {run.cell.repeat})" if repeated else run.cell.target


def _curve(run: RunMetrics, band: Band | None) -> list[Point]:
    return [
        Point(depth.depth, depth.survival, _around(band, place))
        for place, depth in enumerate(run.depths)
    ]


def _around(band: Band | None, place: int) -> Interval | None:
    if band is None:
        return None
    if place >= len(band.lows):
        return Interval(None, None, reason=band.reason or "S is undefined here")
    return Interval(band.lows[place], band.highs[place])


def _evd(results: DrillResults, domains: list[str]) -> Figure:
    cells = results.analysis.cells
    targets = sorted({cell.target for cell in cells})
    return Figure(
        "evd-by-domain",
        "EVD by domain",
        "Mean over runs, with 95% intervals from resampled branches. A run that ended before its "
        "knowledge did counts as far as it went.",
        "dots",
        "target",
        PlotAxis("domain", names=domains),
        PlotAxis("EVD", 0),
        [
            Series(
                target,
                [
                    Point(domains.index(cell.domain), cell.evd, cell.two_way)
                    for cell in cells
                    if cell.target == target
                ],
            )
            for target in targets
        ],
    )


def _tiers(results: DrillResults) -> Figure:
    targets = results.analysis.targets
    named = [
        name
        for name in NAMES
        if any(name == tier.name for target in targets for tier in target.tiers)
    ]
    return Figure(
        "accuracy-by-tier",
        "Accuracy by tier",
        "Right answers of all that have a verdict, over domains and runs, with Wilson's 95% "
        "intervals. Only paths that held reach the harder tiers.",
        "dots",
        "target",
        PlotAxis("tier", names=[NAMES[name] for name in named]),
        PlotAxis("accuracy", 0, 1),
        [
            Series(
                target.target,
                [
                    Point(named.index(tier.name), tier.share, wilson(tier.count, tier.share.n))
                    for tier in target.tiers
                ],
            )
            for target in targets
        ],
    )


def _errors(results: DrillResults) -> Figure:
    counts: dict[str, Counter[str]] = {}
    for run in results.runs:
        of_target = counts.setdefault(run.cell.target, Counter())
        of_target.update({error.name: error.count for error in run.errors_by_type})
    types = sorted({name for of_target in counts.values() for name in of_target})
    return Figure(
        "errors-by-type",
        "Wrong answers by type",
        "What is wrong with each target's wrong answers, as the evaluator says.",
        "bars",
        "target",
        PlotAxis("type of error", names=types),
        PlotAxis("share of its wrong answers", 0, 1),
        [
            Series(target, [_share(place, of_target, name) for place, name in enumerate(types)])
            for target, of_target in sorted(counts.items())
        ],
    )


def _share(place: int, counts: Counter[str], name: str) -> Point:
    total = counts.total()
    share = counts[name] / total if total else None
    return Point(place, Value(share, total, None if total else "no answer is wrong"))
