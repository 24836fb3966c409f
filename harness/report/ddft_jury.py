"""The judges of a DDFT study: are they usable, do they agree, what changes without each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.report.digits import Notes
from harness.report.section import Grid, Section
from harness.results import Results

SPREADS = (
    ("mean variance (ddof 0)", "variance"),
    ("mean variance (ddof 1)", "variance_ddof1"),
    ("mean SD (ddof 0)", "sd"),
    ("mean absolute deviation", "mean_absolute_deviation"),
    ("Krippendorff's alpha, interval", "alpha"),
)


def jury(found: Results) -> Section:
    """Give the jury's page."""
    about = (
        f"Judges: {', '.join(found.analysis.jury.judges)}. An item is one answer; measures of "
        "spread and ICC are over the items that every judge scored, alpha over all. How far the "
        "judges agree with people is not known from this."
    )
    parts = [
        _validity(found),
        *_agreements(found),
        _families(found),
        _left_out(found),
    ]
    return Section("jury", "The jury", about, parts)


def _validity(found: Results) -> Grid:
    notes = Notes()
    rows = [
        [
            part.judge,
            notes.number(part.ok),
            notes.bare(part.asks, 2),
            counted(part.states),
            counted(part.repaired),
        ]
        for part in found.analysis.jury.validity
    ]
    columns = ("judge", "share usable", "mean asks", "what became of its judgements", "mended")
    about = "A reply that stays unusable after a second ask is missing, never a 0."
    return Grid("Is each judge usable?", columns, rows, about, notes.said)


def counted(states: Mapping[str, int]) -> str:
    """Give counts by name in a row."""
    return ", ".join(f"{name} {count:,}" for name, count in states.items()) or "none"


def _agreements(found: Results) -> list[Grid]:
    """Give the agreement between models, and how far the phrasings of one model agree."""
    return [
        grid
        for part in found.analysis.jury.agreements
        for grid in (
            _agreement(found, part.heading, part.scales),
            _kappas(part.heading, part.scales),
        )
    ]


def _agreement(found: Results, heading: str, scales: Sequence[Any]) -> Grid:
    notes = Notes()
    rows = [
        [name, *(notes.number(getattr(part.agreement, field)) for part in scales)]
        for name, field in SPREADS
    ]
    kinds = sorted({kind for part in scales for kind in part.agreement.icc})
    rows += [[kind, *(notes.number(part.agreement.icc[kind]) for part in scales)] for kind in kinds]
    rows += [
        [f"mean variance of {name} items", *(notes.number(getattr(part, name)) for part in scales)]
        for name in ("clear", "edge")
    ]
    at = found.analysis.thresholds
    about = (
        f"Clear items: consensus FAR > {at.clear_above:g}; edge items: between {at.edge_above:g} "
        f"and {at.edge_below:g}."
    )
    columns = ("measure", *(part.scale.upper() for part in scales))
    return Grid(heading, columns, rows, about, notes.said)


def _kappas(heading: str, scales: Sequence[Any]) -> Grid:
    notes, rows = Notes(), []
    for part in scales:
        for binned in part.kappas:
            bins = f"{binned.bins}, cut at {', '.join(f'{edge:g}' for edge in binned.edges)}"
            head = [part.scale.upper(), bins, binned.weights]
            rows.append([*head, "mean of the pairs", notes.number(binned.mean)])
            rows += [
                [*head, f"{pair.first} and {pair.second}", notes.number(pair.kappa)]
                for pair in binned.pairs
            ]
    columns = ("scale", "bins", "weights", "judges", "kappa")
    return Grid(f"{heading}: Cohen's kappa over bins", columns, rows, notes=notes.said, folded=True)


def _families(found: Results) -> Grid:
    notes = Notes()
    rows = [
        [part.scale.upper(), *map(notes.number, (part.own, part.others, part.difference))]
        for part in found.analysis.jury.families
    ]
    columns = ("scale", "judges of the subject's family", "others", "difference on the same item")
    return Grid("Do judges favour their own family?", columns, rows, notes=notes.said)


def _left_out(found: Results) -> Grid:
    notes, rows = Notes(), []
    for part in found.analysis.jury.left_out:
        rows.append(
            [
                part.without,
                ", ".join(
                    f"{one.subject}: {one.phenotype or 'undefined'}" for one in part.subjects
                ),
                notes.number(part.changed),
                notes.number(part.tau.coefficient),
            ]
        )
    columns = ("without", "phenotypes", "share that changes", "tau of raw CI with all judges")
    return Grid("Each judge left out", columns, rows, notes=notes.said)
