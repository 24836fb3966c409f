"""Record and replay evaluations of language models, offline and to the digit."""

from typing import TYPE_CHECKING

from harness.errors import (
    Blocked,
    CheckFailed,
    DamagedFile,
    EndpointRefused,
    HarnessError,
    Incomplete,
    KeyInRequest,
    Miss,
    NoRoom,
    RunStopped,
    UsageError,
)
from harness.version import VERSION as __version__

if TYPE_CHECKING:
    from harness.api import OpenStudy, open_study, record, replay, score
    from harness.profilers import CognitiveProfiler, DepthCharge, Drilled, Profile
    from harness.recording.bypass import offline, watch
    from harness.recording.transport import RecordingTransport
    from harness.run.checked import Checked
    from harness.run.record import RecordOutcome
    from harness.run.rescore import Rescored
    from harness.run.verdict import Verdict

__all__ = [
    "Blocked",
    "CheckFailed",
    "Checked",
    "CognitiveProfiler",
    "DamagedFile",
    "DepthCharge",
    "Drilled",
    "EndpointRefused",
    "HarnessError",
    "Incomplete",
    "KeyInRequest",
    "Miss",
    "NoRoom",
    "OpenStudy",
    "Profile",
    "RecordOutcome",
    "RecordingTransport",
    "Rescored",
    "RunStopped",
    "UsageError",
    "Verdict",
    "__version__",
    "offline",
    "open_study",
    "record",
    "replay",
    "score",
    "watch",
]

# Where the names stand whose modules are loaded when they are first used.
_PLACES = {
    "Checked": "run.checked",
    "CognitiveProfiler": "profilers",
    "DepthCharge": "profilers",
    "Drilled": "profilers",
    "OpenStudy": "api",
    "Profile": "profilers",
    "RecordOutcome": "run.record",
    "RecordingTransport": "recording.transport",
    "Rescored": "run.rescore",
    "Verdict": "run.verdict",
    "offline": "recording.bypass",
    "open_study": "api",
    "record": "api",
    "replay": "api",
    "score": "api",
    "watch": "recording.bypass",
}


def __dir__() -> list[str]:
    """Return the public names, for completion."""
    return sorted(__all__)


if not TYPE_CHECKING:  # a type checker would take any name for one that this hands on

    def __getattr__(name):
        """Load a public name when it is first used, so that `import harness` stays light."""
        if name not in _PLACES:
            raise AttributeError(f"module 'harness' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"harness.{_PLACES[name]}"), name)
