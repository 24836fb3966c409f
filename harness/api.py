"""The same from Python as from the command line."""

from __future__ import annotations

from pathlib import Path

from harness.recording.transport import RecordingTransport
from harness.run.record import Recording, RecordOutcome
from harness.run.verdict import Verdict
from harness.run.verdict import replay as _replay
from harness.study import find_study

__all__ = ["RecordingTransport", "record", "replay"]


def record(study: str, *, root: Path | None = None, workers: int | None = None) -> RecordOutcome:
    """Record what is not yet recorded of a study, by name or by its folder's path."""
    return Recording(find_study(study, root)).run(workers)


def replay(
    study: str,
    *,
    root: Path | None = None,
    verify_checksums: bool = True,
    expect: str = "",
    workers: int | None = None,
) -> Verdict:
    """Replay a study without a network and recompute its numbers; see Verdict for what it says."""
    return _replay(
        find_study(study, root), verify_checksums=verify_checksums, expect=expect, workers=workers
    )
