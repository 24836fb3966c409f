"""A study's results from its recording, as tables, and the data they rest on."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from harness.files import write_atomic
from harness.protocols.registry import protocol_of
from harness.run.checked import Checked
from harness.run.wiring import frozen


def rows_of(checked: Checked) -> list[list[object]]:
    """Return the finest data, one row a judgement or probe, the columns' names first.

    The last column says how far the study was checked.
    """
    study = checked.study
    header, *rows = protocol_of(study).rows(frozen(study).materials, checked.results)
    return with_verification([header, *rows], checked)


def with_verification(rows: Sequence[Sequence[object]], checked: Checked) -> list[list[object]]:
    """Return rows, the columns' names first, with how far the study was checked beside each."""
    header, *records = rows
    mark = checked.verification.partition(":")[0]
    return [[*header, "verification"], *([*row, mark] for row in records)]


def write_rows(checked: Checked, path: Path) -> None:
    """Write the finest data as CSV: UTF-8, LF, empty where null."""
    write_atomic(path, csv_bytes(rows_of(checked)))


def csv_bytes(rows: Sequence[Sequence[object]]) -> bytes:
    """Return rows as CSV: UTF-8, LF."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
