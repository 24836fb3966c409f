"""A study's results from its recording, and the data they rest on."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from harness.ddft.judgements import HEADER, rows
from harness.files import write_atomic
from harness.recording import guard
from harness.results import Results
from harness.run.replay import replayed_results
from harness.run.wiring import frozen
from harness.study import Study


def offline_results(study: Study) -> Results:
    """Replay a study without a network; raises CheckFailed where a cell does not replay."""
    with guard.closed():
        return replayed_results(study)


def write_judgements(study: Study, found: Results, path: Path) -> None:
    """Write the turn-level data as CSV: UTF-8, LF, one row a judgement, empty where null."""
    domains = {concept.id: concept.domain for concept in frozen(study).materials.concepts}
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(rows(found.cells, domains))
    write_atomic(path, text.getvalue().encode())
