"""Every metric of every model, as one table and as rows."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results.scored import Scored
from harness.results.shared import Value
from harness.results.table import Table, TableCell, TableColumn, columns

HEADER = ("model", "place", "metric", "value", "n", "reason")


def metrics_table(scoreboard: Sequence[Scored]) -> Table:
    """Return the metrics as a table, a row each."""
    rows: list[list[TableCell]] = [
        [scored.model, scored.place, scored.metric.name, scored.value] for scored in scoreboard
    ]
    return Table("Metrics", columns("model", "place", "metric", TableColumn("value", Value)), rows)


def metric_rows(scoreboard: Sequence[Scored]) -> list[Sequence[object]]:
    """Return the metrics as rows of plain values, the columns' names first."""
    rows = [
        (scored.model, scored.place, scored.metric.id, value.value, value.n, value.reason)
        for scored in scoreboard
        for value in [scored.value]
    ]
    return [HEADER, *rows]
