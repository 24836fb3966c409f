"""A comparison as tables for people."""

from __future__ import annotations

import json
from collections.abc import Sequence

from harness.diff.schema import Changed, Diff
from harness.protocols.registry import protocol_named
from harness.results import Value
from harness.results.table import EstimatedValue, Table, TableCell, TableColumn, columns

MOST_ROWS = 20
LONGEST = 60


def tables(diff: Diff) -> list[Table]:
    """Return the tables; what is the same takes no row."""
    protocol = protocol_named(diff.protocol)
    return [
        _changed("Configuration", diff.configuration, diff),
        _changed("Materials", diff.materials, diff),
        _models(diff),
        _kinds(diff),
        _cells(diff),
        _scores(diff),
        _metrics(diff),
        *protocol.attribution_tables(diff.swaps, diff.before, diff.after),
    ]


def _changed(subject: str, changes: Sequence[Changed], diff: Diff) -> Table:
    rows = [[change.where, _text(change.before), _text(change.after)] for change in changes]
    return _limited(f"{subject}: what differs", columns("where", diff.before, diff.after), rows)


def _limited(
    title: str, names: Sequence[TableColumn], rows: Sequence[Sequence[TableCell]]
) -> Table:
    """Cut a table that would be too long, and say so of one that is empty."""
    if not rows:
        return Table(f"{title}: nothing", names, rows)
    if len(rows) > MOST_ROWS:
        title += f" (the first {MOST_ROWS} of {len(rows)}; --json has all)"
    return Table(title, names, rows[:MOST_ROWS])


def _text(value: object) -> str:
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
    names = columns("model", f"asked, {diff.before}", f"{diff.after}", "answered as", "and as")
    return Table("Models", names, rows)


def _kinds(diff: Diff) -> Table:
    same = sum(cell.same_recording for cell in diff.words)
    title = (
        f"Words, call by call ({same} of {diff.cells} recordings are the same but for clock times)"
    )
    rows: list[list[TableCell]] = [[kind.kind, kind.equal, kind.compared] for kind in diff.kinds]
    return Table(title, columns("what", TableColumn("the same", int), TableColumn("of", int)), rows)


def _cells(diff: Diff) -> Table:
    rows: list[list[TableCell]] = [
        [
            cell.cell,
            f"{cell.equal} of {cell.compared}",
            cell.not_in_both,
            cell.first or "-",
            _text(cell.before),
            _text(cell.after),
        ]
        for cell in diff.words
        if cell.first or cell.not_in_both
    ]
    names = columns(
        "cell",
        "the same",
        TableColumn("in one only", int),
        "first that differs",
        diff.before,
        diff.after,
    )
    return _limited("Cells whose words differ", names, rows)


def _scores(diff: Diff) -> Table:
    rows: list[list[TableCell]] = [
        [
            f"{score.score}, {score.model}",
            score.before,
            score.after,
            EstimatedValue(score.difference, score.interval),
            f"{score.higher} / {score.lower}",
        ]
        for score in diff.scores
    ]
    change = TableColumn("change, 95% over cells", EstimatedValue, key="change")
    names = columns("score", *_before_and_after(diff), change, "cells up / down")
    return Table("Scores, cell by cell", names, rows)


def _before_and_after(diff: Diff) -> list[TableColumn]:
    return [TableColumn(diff.before, Value), TableColumn(diff.after, Value)]


def _metrics(diff: Diff) -> Table:
    rows: list[list[TableCell]] = [
        [
            f"{metric.model} ({metric.place})",
            metric.metric,
            metric.before,
            metric.after,
            EstimatedValue(metric.difference, metric.interval),
        ]
        for metric in diff.metrics
    ]
    change = TableColumn("change, 95%", EstimatedValue, key="change")
    names = columns("model", "metric", *_before_and_after(diff), change)
    return Table("Metrics, each by its own study's rules", names, rows)
