"""A study's results from its recording, as tables, and the data they rest on."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from harness.files import write_atomic
from harness.recording import guard
from harness.results.table import Table
from harness.run.left_out import require_whole
from harness.run.protocols import protocol_of
from harness.run.replay import replayed_results
from harness.run.wiring import frozen
from harness.study import Study


def offline_results(study: Study) -> Any:
    """Replay a study without a network.

    Raises CheckFailed where a cell does not replay, UsageError where bodies are left out.
    """
    require_whole(study)
    with guard.closed():
        return replayed_results(study)


def tables_of(study: Study, found: Any) -> list[Table]:
    """Give a study's results as tables for people."""
    return protocol_of(study).tables(found)


def write_rows(study: Study, found: Any, path: Path) -> None:
    """Write the finest data as CSV: UTF-8, LF, one row a judgement or probe, empty where null."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(
        protocol_of(study).rows(frozen(study).materials, found)
    )
    write_atomic(path, text.getvalue().encode())
