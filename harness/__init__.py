"""Record and replay evaluations of language models, offline and to the digit."""

from typing import Any

from harness.version import VERSION as __version__

__all__ = [
    "CognitiveProfiler",
    "DepthCharge",
    "RecordingTransport",
    "__version__",
    "offline",
    "record",
    "replay",
    "score",
    "watch",
]


def __getattr__(name: str) -> Any:
    """Hand on the public names when they are asked for, so that `import harness` stays light."""
    if name in __all__:
        from harness import api

        return getattr(api, name)
    raise AttributeError(f"module 'harness' has no attribute {name!r}")
