"""Make a cassette of what a killed program left."""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.errors import UsageError
from harness.recording.journal import read_journal
from harness.recording.recorder import RULES, Recorder
from harness.recording.rules import NO_RULES, Rules


def finish(path: Path) -> int:
    """Make a cassette of a journal that was left, and return how many calls it has.

    Raises UsageError where there is no journal, or where it is of a study's cell.
    """
    journal = path.with_name(path.name.removesuffix(".json") + ".journal")
    if not journal.exists():
        raise UsageError(f"{journal}: there is no journal, so nothing is to be finished.")
    header = read_journal(journal).header
    rules = NO_RULES
    if header.startswith(RULES):
        rules = msgspec.json.decode(header.removeprefix(RULES), type=Rules)
    elif header:
        raise UsageError(
            f"{journal}: belongs to a study, where an unfinished cell would lack calls. "
            "`harness record` goes on with it."
        )
    recorder = Recorder(path, "new_episodes", identity=header, rules=rules)
    try:
        recorder.save()
    finally:
        recorder.release()
    return len(recorder.cassette)
