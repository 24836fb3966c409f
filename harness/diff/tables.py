"""A comparison as tables for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from harness.diff.schema import Changed, Diff
from harness.results.table import Table, between, number

MOST_ROWS = 20
LONGEST = 60


def tables(diff: Diff) -> list[Table]:
    """Give the tables; what is the same takes no row."""
    found = [
        _changed("Configuration", diff.configuration, diff),
        _changed("Materials", diff.materials, diff),
        _models(diff),
        _kinds(diff),
        _cells(diff),
        _scores(diff),
        _metrics(diff),
    ]
    return [*found, _swaps(diff)] if diff.protocol == "ddft" else found


def _changed(what: str, changes: Sequence[Changed], diff: Diff) -> Table:
    rows = [[one.where, _text(one.before), _text(one.after)] for one in changes]
    return _limited(f"{what}: what differs", ("where", diff.before, diff.after), rows)


def _limited(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Cut a table that would be too long, and say so of one that is empty."""
    if not rows:
        return Table(f"{title}: nothing", columns, rows)
    if len(rows) > MOST_ROWS:
        title += f" (the first {MOST_ROWS} of {len(rows)}; --json has all)"
    return Table(title, columns, rows[:MOST_ROWS])


def _text(value: Any) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 2 * LONGEST else f"{text[: 2 * LONGEST]}..."


def _models(diff: Diff) -> Table:
    rows = [
        [
            model.name,
            model.asked_before or "-",
            model.asked_after or "-",
            ", ".join(model.served_before) or "-",
            ", ".join(model.served_after) or "-",
        ]
        for model in diff.models
    ]
    columns = ("model", f"asked, {diff.before}", f"{diff.after}", "answered as", "and as")
    return Table("Models", columns, rows)


def _kinds(diff: Diff) -> Table:
    same = sum(cell.same_recording for cell in diff.words)
    title = (
        f"Words, call by call ({same} of {diff.cells} recordings are the same but for clock times)"
    )
    rows = [[kind.kind, str(kind.equal), str(kind.compared)] for kind in diff.kinds]
    return Table(title, ("what", "the same", "of"), rows)


def _cells(diff: Diff) -> Table:
    rows = [
        [
            cell.cell,
            f"{cell.equal} of {cell.compared}",
            str(cell.not_in_both),
            cell.first or "-",
            _text(cell.before),
            _text(cell.after),
        ]
        for cell in diff.words
        if cell.first or cell.not_in_both
    ]
    columns = ("cell", "the same", "in one only", "first that differs", diff.before, diff.after)
    return _limited("Cells whose words differ", columns, rows)


def _scores(diff: Diff) -> Table:
    rows = [
        [
            f"{one.score}, {one.model}",
            number(one.before),
            number(one.after),
            number(one.difference),
            between(one.interval),
            f"{one.higher} / {one.lower}",
        ]
        for one in diff.scores
    ]
    columns = ("score", diff.before, diff.after, "change", "95% over cells", "cells up / down")
    return Table("Scores, cell by cell", columns, rows)


def _metrics(diff: Diff) -> Table:
    rows = [
        [
            f"{one.model} ({one.place})",
            one.metric,
            number(one.before),
            number(one.after),
            number(one.difference),
            between(one.interval),
        ]
        for one in diff.metrics
    ]
    columns = ("model", "metric", diff.before, diff.after, "change", "95%")
    return Table("Metrics, each by its own study's rules", columns, rows)


def _swaps(diff: Diff) -> Table:
    rows = [
        [
            f"{swap.subject} ({swap.arm})",
            swap.part,
            swap.before if isinstance(swap.before, str) else number(swap.before),
            swap.after if isinstance(swap.after, str) else number(swap.after),
            number(swap.ci),
            (swap.phenotype or "undefined") + (" *" if swap.changes else ""),
        ]
        for swap in diff.swaps
    ]
    columns = ("subject", "taken over", diff.before, diff.after, "CI then", "phenotype")
    return Table(
        "What changed the phenotype: one part at a time taken over (*: another phenotype)",
        columns,
        rows,
    )
