"""What the finished cells of a pilot show, in its protocol's words."""

from __future__ import annotations

from harness.protocols.registry import protocol_of
from harness.run.replay import sound_replays
from harness.study.folder import Study


def pilot_lines(study: Study) -> list[str]:
    """Return what the cells recorded so far show, a line each.

    Raises CheckFailed for a finished cell that does not replay, UsageError where nothing was ever
    recorded.
    """
    finished = [cell for cell in study.file.plan.cells() if study.cassette(cell).exists()]
    replays = sound_replays(study, finished)
    return protocol_of(study).pilot_lines(study, [replay.result for replay in replays])
